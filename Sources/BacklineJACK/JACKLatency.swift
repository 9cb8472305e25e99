import BacklineEngine
import CJACK
import Synchronization

/// A port's latency range in frames, without trapping on what a server may say.
private struct LatencyRange: Equatable {
  var minimum: UInt32
  var maximum: UInt32

  init(_ port: OpaquePointer, _ mode: jack_latency_callback_mode_t) {
    var range = jack_latency_range_t()
    jack_port_get_latency_range(port, mode, &range)
    minimum = range.min
    maximum = range.max
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

  /// Has the server ask every client for its latencies again. Worker thread.
  ///
  /// The server asks in the order of the graph, each client once. Where sound leaves this client and comes back through
  /// another one, a change travels one round a time: so it is asked until the own ports stand still, within bounds.
  func publishLatencies() {
    isPublishing.store(false, ordering: .releasing)
    guard let client, isActive, !isLost else { return }
    let ports = ports.withLock { $0.inputs + $0.outputs }
    var before: [LatencyRange] = []
    for _ in 0..<8 {
      jack_recompute_total_latencies(client)
      let now = ports.flatMap {
        [LatencyRange($0, JackCaptureLatency), LatencyRange($0, JackPlaybackLatency)]
      }
      if now == before { return }
      before = now
    }
  }
}
