import BacklineDSP
import BacklineEngine

/// `/subscribe` and what subscribers hear.
extension CommandRouter {
  func registerSubscriptions() {
    on("/subscribe") { [self] request, _ throws(EngineError) in
      try request.expect(1...2, "PATTERN, and milliseconds")
      let pattern = try self.pattern(request)
      var milliseconds = 50
      if request.arguments.count == 2 {
        milliseconds = try request.integer(1, "the interval")
        if !OSCLimits.feedbackMilliseconds.contains(milliseconds) {
          throw EngineError(.outOfRange, "/subscribe: the interval is 5 to 60000 ms, not \(milliseconds)")
        }
      }
      return .special { [self] () throws(EngineError) in
        let peer = destination(request.peer)
        try subscriptions.subscribe(peer, to: pattern, milliseconds: milliseconds)
        readNow()
        answer(request, [.string(pattern.text), .int32(Int32(milliseconds))])
        tellValues(matching: pattern, to: peer)
      }
    }
    on("/unsubscribe") { [self] request, _ throws(EngineError) in
      try request.expect(1...1, "PATTERN")
      let pattern = try self.pattern(request)
      return .special { [self] () throws(EngineError) in
        guard subscriptions.unsubscribe(destination(request.peer), from: pattern) else {
          throw EngineError(.notFound, "there is no subscription to '\(pattern.text)'")
        }
        answer(request, [.string(pattern.text)])
      }
    }
  }

  private func pattern(_ request: OSCRequest) throws(EngineError) -> OSCPattern {
    let text = try request.text(0, "the pattern")
    guard text.hasPrefix("/") else {
      throw EngineError(.unknownAddress, "\(request.address): a pattern begins with '/', '\(text)' does not")
    }
    do {
      return try OSCPattern(text)
    } catch {
      throw EngineError(.unknownAddress, "\(request.address): '\(text)' is no pattern: \(error)")
    }
  }

  /// Sends the present values under a pattern, once.
  private func tellValues(matching pattern: OSCPattern, to peer: OSCPeer) {
    for address in valueAddresses() where pattern.matches(address) {
      guard let values = currentValues(address) else { continue }
      server.sendDirectly(OSCMessage(address, values), to: peer)
      subscriptions.told(values, at: address, to: peer)
    }
    let state = engine.here { $0.state }
    if pattern.matches("/engine/state") {
      server.sendDirectly(OSCMessage("/engine/state", .string(state.name), .string(state.cause)), to: peer)
    }
  }

  /// All addresses that have a value.
  private func valueAddresses() -> [String] {
    let ofNodes = engine.here { engine in
      engine.nodes.flatMap { node in
        (0..<engine.valueCount(of: node)).compactMap { index in
          node.description.parameter(at: index).map { "/node/\(node.name)/\($0.name)" }
        } + ["/node/\(node.name)/bypass"]
      }
    }
    return ofNodes + ["/mute", "/tempo"]
  }

  /// The present values of an address.
  func currentValues(_ address: String) -> [OSCArgument]? {
    if address == "/tempo" { return [.double(tempo.beatsPerMinute)] }
    let parts = address.split(separator: "/").map(String.init)
    return engine.here { engine -> [OSCArgument]? in
      if address == "/mute" { return [.int32(engine.isMuted ? 1 : 0)] }
      guard parts.count == 3, parts[0] == "node", let node = try? engine.node(parts[1]) else { return nil }
      if parts[2] == "bypass" { return [.int32(node.isBypassed ? 1 : 0)] }
      guard let index = node.description.parameterIndex(named: parts[2]),
        let description = node.description.parameter(at: index), let value = try? engine.value(parts[1], index)
      else { return nil }
      return [valueArgument(value, description)]
    }
  }

  /// Has the list of addresses that change by themselves follow the graph, once for all changes of one turn.
  private func followReadings() {
    if subscriptions.table.isEmpty || isReadingPlanned { return }
    isReadingPlanned = true
    engine.executor.schedule(after: 0) { [weak self] in
      guard let self else { return }
      isReadingPlanned = false
      readNow()
    }
  }

  /// Lists the addresses that change by themselves.
  private func readNow() {
    let readings = engine.here { engine in
      engine.nodes.flatMap { node in
        node.description.parameters.filter(\.isReadOnly).map { "/node/\(node.name)/\($0.name)" }
      }
    }
    if readings.isEmpty && !hasReadings { return }
    hasReadings = !readings.isEmpty
    subscriptions.setReadings(readings)
  }

  // MARK: Telling

  /// Values that a command has set.
  func tell(_ feedback: [CommandAction.Feedback], by peer: OSCPeer) {
    for item in feedback {
      subscriptions.changed(
        item.address, to: [item.value], by: destination(peer), changedOnTheWay: item.changedOnTheWay)
    }
  }

  /// What the engine has told.
  func tell(_ event: EngineEvent) {
    switch event {
    case .graphChanged(let change, let name):
      subscriptions.event(OSCMessage("/graph/changed", .string(change.rawValue), .string(name)))
      followReadings()
      if change == .preset || change == .replaced { tellAllValues() }
    case .valuesChanged:
      followReadings()
      tellAllValues()
    case .stateChanged(let state):
      subscriptions.event(OSCMessage("/engine/state", .string(state.name), .string(state.cause)))
    case .configurationChanged(let cause, let old, let new, let epoch):
      subscriptions.event(
        OSCMessage(
          "/engine/configuration", .string(cause), .int32(Int32(old)), .int32(Int32(new)), .int32(Int32(epoch))))
    case .taken(let wanted, let late):
      tellTaken(wanted: wanted, late: late)
    case .nonFinite, .retrying:
      break
    }
  }

  private func tellAllValues() {
    if subscriptions.table.isEmpty { return }
    for address in valueAddresses() {
      guard let values = currentValues(address) else { continue }
      subscriptions.changed(address, to: values)
    }
  }
}
