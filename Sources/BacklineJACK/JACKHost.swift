import BacklineEngine
import BacklineRealtime
import CBackline
import Synchronization

/// One client of a JACK server.
///
/// No method waits: calls into the JACK library run on a worker thread, and events come from a second thread that never
/// calls the library, so that the loss of the server is told even while the worker hangs. A worker that does not come back
/// from closing within two seconds is left behind, and the next opening gets a fresh one.
///
/// The host remembers connections by the names of its peers, from session to session and while peers come and go.
public final class JACKHost: AudioHost {
  public let kind = "jack"
  private let core: JACKCore

  /// A host that is not open yet.
  public init(_ options: JACKOptions = JACKOptions()) throws(EngineError) { core = try JACKCore(options) }

  deinit { core.end() }

  public func open(
    _ configuration: HostConfiguration, render: @escaping HostRender, state: UnsafeMutableRawPointer,
    onEvent: @escaping @Sendable (HostEvent) -> Void
  ) {
    let core = core
    // The engine keeps what `state` points to until the host has closed.
    nonisolated(unsafe) let state = state
    core.events.run { core.open(configuration, render: render, state: state, onEvent: onEvent) }
  }

  public func cut() -> Bool { core.cut() }

  public func start() {
    let core = core
    core.events.run { core.start() }
  }

  public func close(completion: @escaping @Sendable (_ isClean: Bool) -> Void) {
    let core = core
    core.events.run { core.close(completion) }
  }

  public func employ(_ workers: WorkerThreads) {
    let core = core
    core.events.run { core.employ(workers) }
  }

  public func setPorts(_ configuration: HostConfiguration) {
    let core = core
    core.events.run { core.setPorts(configuration) }
  }

  public func setLatencies(_ latencies: LatencyMap) {
    let core = core
    core.events.run { core.setLatencies(latencies) }
  }

  public func frame(at nanoseconds: Int64) -> Int64? { core.record.clock.pointee.frame(at: nanoseconds) }

  public var renderedFrames: Int64 { core.record.renderedFrames }

  public var lateCounts: (own: Int, server: Int) { core.record.lateCounts }

  public var load: (mean: Float, largest: Float) { core.record.load }

  public func load(ofCycles part: Double) -> Float { core.record.load(ofCycles: part) }

  public var outsideLatencies: (input: Int, output: Int) {
    (core.record.inputLatency.load(ordering: .relaxed), core.record.outputLatency.load(ordering: .relaxed))
  }

  public var isRealtime: Bool { core.isRealtime.load(ordering: .relaxed) }

  /// The connections that are made or wanted, to be saved.
  public var connections: [JACKConnection] { core.connections.memory.withLock { $0.wanted } }

  /// Replaces the wanted connections and makes those that are missing. Takes none apart.
  public func restore(_ connections: [JACKConnection]) {
    let core = core
    core.events.run { core.restore(connections) }
  }
}
