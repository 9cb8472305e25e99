import BacklineEngine
import BacklineTestSupport
import CBackline
import Synchronization

/// A manual host that renders nothing any more once it is closed, whoever asks.
final class ClosableHost: AudioHost {
  let host = OfflineHost.manual()
  private let isClosed = Mutex(false)

  /// One cycle; `nil` when the host is closed.
  func cycle(_ inputs: [[Float]], outputs: Int = 2, frames: Int) -> [[Float]]? {
    isClosed.withLock { $0 ? nil : host.cycle(inputs, outputs: outputs, frames: frames) }
  }

  func close(completion: @escaping @Sendable (Bool) -> Void) {
    isClosed.withLock { $0 = true }
    host.close(completion: completion)
  }

  func open(
    _ configuration: HostConfiguration, render: @escaping HostRender, state: UnsafeMutableRawPointer,
    onEvent: @escaping @Sendable (HostEvent) -> Void
  ) { host.open(configuration, render: render, state: state, onEvent: onEvent) }

  var kind: String { host.kind }
  func start() { host.start() }
  func setLatencies(_ latencies: LatencyMap) {}
  func frame(at nanoseconds: Int64) -> Int64? { nil }
  var lateCounts: (own: Int, server: Int) { (0, 0) }
  var isRealtime: Bool { false }
  var renderedFrames: Int64 { host.renderedFrames }
}
