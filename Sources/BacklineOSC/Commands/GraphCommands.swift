import BacklineDSP
import BacklineEngine

/// `/graph/…` and `/mute`.
extension CommandRouter {
  func registerGraph() {
    on("/graph/add") { [self] request, _ throws(EngineError) in try add(request) }
    on("/graph/remove") { request, _ throws(EngineError) in
      try request.expect(1...1, "NAME")
      return .change([.remove(try request.text(0, "the name"))], reply: [], feedback: [])
    }
    on("/graph/rename") { request, _ throws(EngineError) in
      try request.expect(2...2, "NAME NEW")
      let command = Command.rename(try request.text(0, "the name"), to: try request.text(1, "the new name"))
      return .change([command], reply: [], feedback: [])
    }
    on("/graph/connect") { [self] request, _ throws(EngineError) in try connect(request) }
    on("/graph/disconnect") { [self] request, _ throws(EngineError) in
      try request.expect(2...2, "FROM TO")
      return .change([.disconnect(try end(request, 0), try end(request, 1))], reply: [], feedback: [])
    }
    on("/graph/insert") { [self] request, _ throws(EngineError) in
      try request.expect(4...4, "KIND NAME FROM TO")
      let command = Command.insert(
        kind: try request.text(0, "the kind"), name: try request.text(1, "the name"), from: try end(request, 2),
        to: try end(request, 3))
      return .change([command], reply: [], feedback: [])
    }
    on("/graph/move") { [self] request, _ throws(EngineError) in
      try request.expect(3...3, "NAME FROM TO")
      let command = Command.move(
        try request.text(0, "the name"), from: try end(request, 1), to: try end(request, 2))
      return .change([command], reply: [], feedback: [])
    }
    on("/graph/replace") { request, _ throws(EngineError) in
      try request.expect(2...2, "NAME KIND")
      let command = Command.replace(try request.text(0, "the name"), kind: try request.text(1, "the kind"))
      return .change([command], reply: [], feedback: [])
    }
    on("/mute") { [engine] request, _ throws(EngineError) in
      if request.arguments.isEmpty {
        return .answer { () throws(EngineError) in [.int32(engine.here { $0.isMuted } ? 1 : 0)] }
      }
      try request.expect(1...1, "0 or 1")
      let isMuted = try request.toggle(0, "mute")
      let feedback = CommandAction.Feedback(address: "/mute", value: .int32(isMuted ? 1 : 0), changedOnTheWay: false)
      return .change([.mute(isMuted)], reply: nil, feedback: [feedback])
    }
    registerLists()
    registerTransactions()
  }

  private func end(_ request: OSCRequest, _ index: Int) throws(EngineError) -> Endpoint {
    try Endpoint(parsing: try request.text(index, index == 0 ? "the source" : "the destination"))
  }

  private func add(_ request: OSCRequest) throws(EngineError) -> CommandAction {
    if request.arguments.count < 2 || request.arguments.count % 2 != 0 {
      throw EngineError(.wrongType, "/graph/add takes KIND NAME and pairs of PARAM VALUE")
    }
    let kind = try request.text(0, "the kind")
    let name = try request.text(1, "the name")
    guard let unit = engine.catalog[kind] else {
      let near = nearestName(kind, in: engine.catalog.descriptions.map(\.kind)).map { ": did you mean '\($0)'?" } ?? ""
      throw EngineError(.unknownKind, "there is no unit '\(kind)'" + near)
    }
    var values: [(index: Int, value: Float)] = []
    for at in stride(from: 2, to: request.arguments.count, by: 2) {
      let parameterName = try request.text(at, "a parameter's name")
      guard let index = unit.parameterIndex(named: parameterName), let parameter = unit.parameter(at: index) else {
        let near = unit.nearestParameterName(parameterName).map { ": did you mean '\($0)'?" } ?? ""
        throw EngineError(.unknownParameter, "'\(kind)' has no parameter '\(parameterName)'" + near)
      }
      guard let input = request.arguments[at + 1].parameterInput else {
        throw EngineError(.wrongType, "'\(parameterName)' \(parameter.expectation)")
      }
      values.append((index, try parameter.resolve(input)))
    }
    return .change([.add(kind: kind, name: name, values: values)], reply: [], feedback: [])
  }

  private func connect(_ request: OSCRequest) throws(EngineError) -> CommandAction {
    try request.expect(2...3, "FROM TO, and 'feedback' to close a loop")
    var isFeedback = false
    if request.arguments.count == 3 {
      let word = try request.text(2, "the third argument")
      if word != "feedback" {
        throw EngineError(.wrongType, "/graph/connect: after FROM TO comes 'feedback' or nothing, not '\(word)'")
      }
      isFeedback = true
    }
    let command = Command.connect(try end(request, 0), try end(request, 1), isFeedback: isFeedback)
    return .change([command], reply: [], feedback: [])
  }

  // MARK: Lists

  private func registerLists() {
    on("/graph/list") { [self] request, _ throws(EngineError) in
      try page(request) { engine in
        engine.nodes.map { [.string($0.name), .string($0.description.kind)] }
      }
    }
    on("/graph/load") { [self] request, _ throws(EngineError) in
      try page(request) { engine in
        engine.nodeLoads.map { [.string($0.name), .float(100 * $0.mean), .float(100 * $0.largest)] }
      }
    }
    on("/graph/connections") { [self] request, _ throws(EngineError) in
      try page(request) { engine in
        engine.connections.map { [.string("\($0.from)"), .string("\($0.to)")] }
      }
    }
  }

  /// A list, or the COUNT entries of it from FIRST on.
  private func page(
    _ request: OSCRequest, _ list: @escaping @Sendable (isolated Engine) -> [[OSCArgument]]
  ) throws(EngineError) -> CommandAction {
    var first = 0
    var count = Int.max
    if !request.arguments.isEmpty {
      try request.expect(2...2, "nothing, or FIRST COUNT")
      first = try request.integer(0, "FIRST")
      count = try request.integer(1, "COUNT")
      if first < 0 || count < 0 {
        throw EngineError(.outOfRange, "\(request.address): FIRST and COUNT are not negative")
      }
    }
    return .answer { [engine] () throws(EngineError) in
      let all = engine.here { list($0) }
      let page = all.dropFirst(first).prefix(count)
      let values = page.flatMap { $0 }
      let size = values.reduce(64) { size, value in
        if case .string(let text) = value { size + text.utf8.count + 5 } else { size + 5 }
      }
      if size > request.peer.packetLimit - 1024 {
        throw EngineError(
          .limitReached, "\(page.count) entries do not fit into one packet: ask for them in pages, FIRST COUNT")
      }
      return values
    }
  }
}
