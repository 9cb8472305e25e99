import BacklineEngine
import CBackline

/// A host that renders when its renderer says so, on that one's thread, as fast as it goes.
final class OfflineHost: AudioHost, @unchecked Sendable {
  // Why unchecked: what `open` sets is read only after `started` has been waited for.

  let kind = "offline"
  let isOffline = true
  let fadesIn: Bool
  let sampleRate: Int
  /// Signalled once cycles may be rendered.
  let started = Semaphore()
  private let period: Int
  private var render: HostRender?
  private var state: UnsafeMutableRawPointer?
  private var onEvent: (@Sendable (HostEvent) -> Void)?

  init(sampleRate: Int, period: Int, fadesIn: Bool) {
    self.sampleRate = sampleRate
    self.period = period
    self.fadesIn = fadesIn
  }

  func open(
    _ configuration: HostConfiguration, render: @escaping HostRender, state: UnsafeMutableRawPointer,
    onEvent: @escaping @Sendable (HostEvent) -> Void
  ) {
    self.render = render
    self.state = state
    self.onEvent = onEvent
    onEvent(.opened(name: configuration.name, sampleRate: sampleRate, period: period))
  }

  func start() {
    onEvent?(.started)
    started.signal()
  }

  func close(completion: @escaping @Sendable (Bool) -> Void) { completion(true) }

  func setLatencies(_ latencies: LatencyMap) {}
  func frame(at nanoseconds: Int64) -> Int64? { nil }
  var lateCounts: (own: Int, server: Int) { (0, 0) }
  var isRealtime: Bool { false }

  /// Renders one cycle of any length, 0 included. Only the renderer's thread, with denormals flushed.
  func cycle(_ cycle: inout HostCycle) {
    guard let render, let state else { return }
    backline_realtime_enter()
    render(state, &cycle)
    backline_realtime_exit()
  }
}
