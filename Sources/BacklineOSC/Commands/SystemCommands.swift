import BacklineDSP
import BacklineEngine
import CBackline

/// `/ping`, `/version`, `/status`, `/sync`, `/engine/…`, `/tempo`, `/reply/port`, `/quit`.
extension CommandRouter {
  func registerSystem() {
    on("/ping") { request, _ throws(EngineError) in
      try request.expect(0...1, "a token or nothing")
      let values = request.arguments
      return .answer { () throws(EngineError) in values }
    }
    on("/version") { [version] request, _ throws(EngineError) in
      try request.expect(0...0, "nothing")
      return .answer { () throws(EngineError) in [.string(version)] }
    }
    on("/status") { [self] request, _ throws(EngineError) in
      try request.expect(0...0, "nothing")
      return .answer { () throws(EngineError) in self.status() }
    }
    on("/sync") { [engine] request, _ throws(EngineError) in
      try request.expect(0...1, "a number or nothing")
      let values = request.arguments
      return .alone { completion in
        engine.here { engine in engine.sync { completion(.success(values)) } }
      }
    }
    on("/reply/port") { [self] request, _ throws(EngineError) in
      try request.expect(1...1, "a port")
      let port = try request.integer(0, "the port")
      guard (1...65_535).contains(port) else {
        throw EngineError(.outOfRange, "/reply/port: a port is 1 to 65535, not \(port)")
      }
      if request.peer.isStream {
        throw EngineError(.notAllowed, "/reply/port: over TCP, answers go back on the connection")
      }
      // Part of a bundle, too: the answers of that bundle go there already.
      server.replyPorts.set(UInt16(port), for: request.peer)
      return .answer { () throws(EngineError) in [.int32(Int32(port))] }
    }
    on("/quit") { [self] request, _ throws(EngineError) in
      try request.expect(0...0, "nothing")
      return .alone { completion in
        completion(.success([]))
        self.onQuit()
      }
    }
    registerEngine()
    registerTempo()
  }

  private func registerEngine() {
    on("/engine/state") { [engine] request, _ throws(EngineError) in
      try request.expect(0...0, "nothing")
      return .answer { () throws(EngineError) in
        let state = engine.here { $0.state }
        return [.string(state.name), .string(state.cause)]
      }
    }
    on("/engine/log") { [engine] request, _ throws(EngineError) in
      try request.expect(0...1, "how many, or nothing")
      let most = request.arguments.isEmpty ? 16 : try request.integer(0, "how many")
      guard (1...Engine.transitionLimit).contains(most) else {
        throw EngineError(.outOfRange, "/engine/log: remembered are 1 to \(Engine.transitionLimit), not \(most)")
      }
      return .answer { () throws(EngineError) in
        let now = backline_now()
        return engine.here { $0.transitions }.suffix(most).flatMap { item -> [OSCArgument] in
          [
            .string(item.state.name), .string(item.state.cause), .int64(item.frame),
            .double(Double(now - item.time) * 1e-9),
          ]
        }
      }
    }
    on("/engine/start") { [engine] request, _ throws(EngineError) in
      try request.expect(0...0, "nothing")
      return .alone { completion in
        let error = engine.here { engine -> EngineError? in
          do throws(EngineError) {
            try engine.startAgain()
            return nil
          } catch {
            return error
          }
        }
        completion(error.map { .failure($0) } ?? .success([]))
      }
    }
    on("/engine/stop") { [engine] request, _ throws(EngineError) in
      try request.expect(0...0, "nothing")
      return .alone { completion in
        engine.here { engine in
          engine.stop { isClean in
            completion(
              isClean
                ? .success([])
                : .failure(EngineError(.unavailable, "the host hangs in closing: it was left to itself")))
          }
        }
      }
    }
  }

  private func registerTempo() {
    on("/tempo") { [self] request, _ throws(EngineError) in
      if request.arguments.isEmpty { return .answer { () throws(EngineError) in [.double(self.tempo.beatsPerMinute)] } }
      try request.expect(1...1, "beats a minute, or nothing")
      let beats = try request.real(0, "the tempo")
      guard TapTempo.range.contains(beats) else {
        throw EngineError(.outOfRange, "/tempo: beats a minute are 20 to 999, not \(beats)")
      }
      return .alone { completion in
        let peer = self.destination(request.peer)
        // A controller that sends back what it was told must not set a tempo back that has moved on.
        if !self.subscriptions.isEcho(request.arguments, at: "/tempo", from: peer) {
          self.tempo.set(beats)
          self.followTempo()
          self.subscriptions.changed("/tempo", to: [.double(beats)], by: peer)
        }
        completion(.success([.double(self.tempo.beatsPerMinute)]))
      }
    }
    on("/tempo/tap") { [self] request, _ throws(EngineError) in
      try request.expect(0...0, "nothing")
      return .alone { completion in
        if self.tempo.tap(at: backline_now()) {
          self.followTempo()
          self.subscriptions.changed("/tempo", to: [.double(self.tempo.beatsPerMinute)])
        }
        completion(.success([.double(self.tempo.beatsPerMinute)]))
      }
    }
  }

  private func followTempo() {
    // A tempo that was tapped may lie beyond what a unit follows.
    let beats = max(
      Double(TempoDivision.tempoRange.lowerBound),
      min(tempo.beatsPerMinute, Double(TempoDivision.tempoRange.upperBound)))
    engine.here { engine in try? engine.setTempo(beats) }
  }

  /// Keys and values in turn.
  func status() -> [OSCArgument] {
    let statistics = server.statistics
    var pairs: [(String, OSCArgument)] = engine.here { engine in
      let counts = engine.counts
      let late = engine.host?.lateCounts ?? (own: 0, server: 0)
      let load = engine.host?.load ?? (mean: 0, largest: 0)
      let isUp = engine.state == .running
      let threads = engine.threadStatus
      return [
        ("state", .string(engine.state.name)), ("host", .string(engine.host?.kind ?? "none")),
        ("name", .string(engine.hostName)), ("rate", .int32(isUp ? Int32(engine.sampleRate) : 0)),
        ("period", .int32(isUp ? Int32(engine.period) : 0)), ("load", .float(100 * load.mean)),
        ("loadMax", .float(100 * load.largest)), ("ownLate", .int32(Int32(clamping: late.own))),
        ("serverXruns", .int32(Int32(clamping: late.server))),
        ("lateEvents", .int32(Int32(clamping: counts.lateEvents + lateBundles))),
        ("refusedEvents", .int32(Int32(clamping: refusedCommands + counts.droppedEvents))),
        ("malformedPackets", .int32(Int32(clamping: statistics.malformedPackets))),
        ("nonFinite", .int32(Int32(clamping: counts.nonFinite))), ("recordLostFrames", .int32(0)),
        ("diskUnderruns", .int32(Int32(clamping: engine.diskUnderruns))),
        ("nodes", .int32(Int32(engine.nodeCount))), ("connections", .int32(Int32(engine.connectionCount))),
        ("frame", .int64(engine.currentFrame)), ("threads", .int32(Int32(threads.count))),
        ("realtime", .int32(engine.host?.isRealtime == true ? 1 : 0)),
        ("cause", .string(engine.state.cause)), ("collapsedEvents", .int32(Int32(clamping: engine.collapsedEvents))),
        ("ignoredAnswers", .int32(Int32(clamping: ignoredAnswers))),
        ("kernelDrops", .int32(Int32(clamping: statistics.kernelDrops))),
        ("tcpClients", .int32(Int32(server.clientCount))),
        ("unfitThreads", .int32(Int32(threads.unfit))), ("sharing", .int32(threads.isSharing ? 1 : 0)),
        ("load9999", .float(100 * (engine.host?.load(ofCycles: 0.9999) ?? 0))),
        ("workerStalls", .int32(Int32(clamping: threads.stalls))),
        (
          "threadLoads",
          .string(threads.loads.map { NumberText.fixed(Double(100 * $0), decimals: 1) }.joined(separator: " "))
        ),
        ("nonFiniteNodes", .string(engine.nonFiniteCounts.map { "\($0.node):\($0.count)" }.joined(separator: " "))),
      ]
    }
    for index in pairs.indices { pairs[index].1 = statusValues[pairs[index].0]?() ?? pairs[index].1 }
    for more in moreStatus { pairs += more() }
    return pairs.flatMap { [.string($0.0), $0.1] }
  }
}

/// A tempo, set or tapped.
struct TapTempo {
  static let range = 20.0...999.0
  private(set) var beatsPerMinute = 120.0
  private var taps: [Int64] = []

  mutating func set(_ beats: Double) {
    beatsPerMinute = beats
    taps.removeAll()
  }

  /// Follows a tap: from the second on, the mean of the last intervals, at most eight. A pause of three seconds begins anew.
  mutating func tap(at nanoseconds: Int64) -> Bool {
    if let last = taps.last, nanoseconds - last > 3_000_000_000 { taps.removeAll() }
    taps.append(nanoseconds)
    if taps.count > 9 { taps.removeFirst() }
    guard taps.count > 1, let first = taps.first else { return false }
    let interval = Double(nanoseconds - first) / Double(taps.count - 1)
    let beats = 60e9 / max(1, interval)
    guard Self.range.contains(beats) else { return false }
    beatsPerMinute = beats
    return true
  }
}
