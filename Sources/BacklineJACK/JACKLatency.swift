import BacklineEngine
import CJACK
import Synchronization

/// A port's latency range in frames, without trapping on what a server may say.
struct LatencyRange: Equatable {
  var minimum: UInt32
  var maximum: UInt32

  init(_ port: OpaquePointer, _ mode: jack_latency_callback_mode_t) {
    var range = jack_latency_range_t()
    jack_port_get_latency_range(port, mode, &range)
    minimum = range.min
    maximum = range.max
  }

  /// The least range that has both.
  func union(_ other: LatencyRange) -> LatencyRange {
    var result = self
    result.minimum = min(minimum, other.minimum)
    result.maximum = max(maximum, other.maximum)
    return result
  }

  /// This range plus a way of so many frames.
  func adding(_ frames: ClosedRange<Int>) -> (minimum: UInt32, maximum: UInt32) {
    (UInt32(clamping: Int(minimum) + frames.lowerBound), UInt32(clamping: Int(maximum) + frames.upperBound))
  }
}

extension JACKSession {
  /// Answers JACK's latency callback: the ports on the far side of each path get the range of the near side plus the path.
  ///
  /// Capture latencies go from the inputs to the outputs, playback latencies back. A port that no path reaches has no
  /// latency from this client. Only paths count, so independent pairs of ports inherit nothing from each other.
  func answerLatencies(_ mode: jack_latency_callback_mode_t) {
    let paths = latencies.withLock { $0.paths }
    let isCapture = mode == JackCaptureLatency
    let ports = ports.withLock { $0 }
    let (near, far) = isCapture ? (ports.inputs, ports.outputs) : (ports.outputs, ports.inputs)
    let ranges = near.map { LatencyRange($0, mode) }
    let longest = Int(ranges.map(\.maximum).max() ?? 0)
    if isCapture {
      record.inputLatency.store(longest, ordering: .relaxed)
    } else {
      record.outputLatency.store(longest, ordering: .relaxed)
    }
    for (index, port) in far.enumerated() {
      var range: jack_latency_range_t?
      for path in paths where (isCapture ? path.output : path.input) == index {
        let source = isCapture ? path.input : path.output
        guard ranges.indices.contains(source) else { continue }
        let (minimum, maximum) = ranges[source].adding(path.frames)
        range = jack_latency_range_t(
          min: min(minimum, range?.min ?? minimum), max: max(maximum, range?.max ?? maximum))
      }
      var result = range ?? jack_latency_range_t(min: 0, max: 0)
      jack_port_set_latency_range(port, mode, &result)
    }
  }

  /// The most passes that are asked for after one change of the connections.
  static let mostLatencyPasses = 16

  /// Has the server ask again where the last pass has left a port behind; true when it did. Worker thread.
  ///
  /// The server asks in the order of the graph, each client once. Where sound leaves this client and comes back through
  /// another one, a change travels one round a pass. Another pass that changed nothing would not help either, so there is
  /// none: some client does not answer.
  func settleLatencies() -> Bool {
    guard let client, isActive, !isLost else { return false }
    let stale = staleLatencies(client)
    defer { lastStale = stale }
    if stale.isEmpty || stale == lastStale { return false }
    askForLatencies()
    return true
  }

  /// The ports, own ones and their peers, that have not the latency of those that they are connected to, with what they
  /// have. Reads the shared memory only, and asks the server nothing.
  private func staleLatencies(_ client: OpaquePointer) -> [String: LatencyRange] {
    let ports = ports.withLock { $0 }
    var stale: [String: LatencyRange] = [:]
    for (own, mode) in [(ports.inputs, JackCaptureLatency), (ports.outputs, JackPlaybackLatency)] {
      let other = mode == JackCaptureLatency ? JackPlaybackLatency : JackCaptureLatency
      for port in own {
        let peers = peers(of: port, client)
        note(port, mode, peers, &stale)
        // The hardware's ports are the ends of all ways: nothing is asked of them.
        for peer in peers
        where jack_port_flags(peer) & Int32(JackPortIsPhysical.rawValue | JackPortIsTerminal.rawValue) == 0 {
          note(peer, other, self.peers(of: peer, client), &stale)
        }
      }
    }
    return stale
  }

  private func note(
    _ port: OpaquePointer, _ mode: jack_latency_callback_mode_t, _ peers: [OpaquePointer],
    _ stale: inout [String: LatencyRange]
  ) {
    guard let first = peers.first, let name = jack_port_name(port) else { return }
    let range = LatencyRange(port, mode)
    let whole = peers.dropFirst().reduce(LatencyRange(first, mode)) { $0.union(LatencyRange($1, mode)) }
    if whole != range { stale[String(cString: name)] = range }
  }

  /// The ports that a port of any client is connected to.
  private func peers(of port: OpaquePointer, _ client: OpaquePointer) -> [OpaquePointer] {
    guard let names = jack_port_get_all_connections(client, port) else { return [] }
    defer { jack_free(names) }
    var peers: [OpaquePointer] = []
    var index = 0
    while let name = names[index] {
      index += 1
      if let peer = jack_port_by_name(client, name) { peers.append(peer) }
    }
    return peers
  }

  /// Has the server ask every client for its latencies again. Worker thread.
  func askForLatencies() {
    guard let client, isActive, !isLost, !notices.isClosing.load(ordering: .relaxed) else { return }
    jack_recompute_total_latencies(client)
  }

  /// The same after a change of the own paths.
  func publishLatencies() {
    isPublishing.store(false, ordering: .releasing)
    askForLatencies()
  }
}
