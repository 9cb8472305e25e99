import BacklineRealtime
import CBackline
import Synchronization

/// A host without a sound card: a real clock, silent inputs, outputs that go nowhere.
///
/// Its thread wakes at exact multiples of the period on CLOCK_MONOTONIC, with real-time scheduling where the system allows
/// it. A thread that fell behind by a few periods catches up; by more, it leaves them out and counts one xrun.
public final class TimerHost: AudioHost {
  private struct State {
    var session: TimerSession?
    var onEvent: (@Sendable (HostEvent) -> Void)?
    var completions: [@Sendable (Bool) -> Void] = []
    var isClosing = false
    var reportedXruns = 0
    var hasStarted = false
  }

  public let kind = "timer"
  /// Frames a second.
  public let sampleRate: Int
  /// Frames a cycle.
  public let period: Int
  private let record = HostRecord()
  private let core: Core

  /// A host of `sampleRate` Hz (8 000 to 768 000) and `period` frames (1 to 8 192) a cycle.
  public init(sampleRate: Int = 48_000, period: Int = 256) throws(EngineError) {
    guard (8_000...768_000).contains(sampleRate) else {
      throw EngineError(.outOfRange, "a sample rate lies between 8000 and 768000 Hz, not at \(sampleRate)")
    }
    guard (1...8_192).contains(period) else {
      throw EngineError(.outOfRange, "a period has 1 to 8192 frames, not \(period)")
    }
    self.sampleRate = sampleRate
    self.period = period
    core = try Core(record)
  }

  deinit { core.end() }

  public func open(
    _ configuration: HostConfiguration, render: @escaping HostRender, state: UnsafeMutableRawPointer,
    onEvent: @escaping @Sendable (HostEvent) -> Void
  ) {
    let session = TimerSession(
      configuration, sampleRate: sampleRate, period: period, record: record, events: core.thread, render: render,
      state: state)
    let isFree = core.state.withLock { state in
      guard state.session == nil else { return false }
      state.session = session
      state.onEvent = onEvent
      state.hasStarted = false
      return true
    }
    let answer: HostEvent =
      isFree
      ? .opened(name: configuration.name, sampleRate: sampleRate, period: period)
      : .failed(.refused("the timer host is open already"))
    core.thread.run { onEvent(answer) }
  }

  public func start() {
    let core = core
    core.thread.run { core.start() }
  }

  public func close(completion: @escaping @Sendable (_ isClean: Bool) -> Void) {
    let core = core
    core.thread.run { core.close(completion) }
  }

  public func cut() -> Bool { core.cut() }

  public func setPorts(_ configuration: HostConfiguration) {
    let core = core
    core.thread.run { core.state.withLock { $0.session }?.setPorts(configuration) }
  }

  public func employ(_ workers: WorkerThreads) {
    let core = core
    core.thread.run { core.state.withLock { $0.session }?.employ(workers) }
  }

  public func setLatencies(_ latencies: LatencyMap) {}

  public func frame(at nanoseconds: Int64) -> Int64? { record.clock.pointee.frame(at: nanoseconds) }

  public var renderedFrames: Int64 { record.renderedFrames }

  public var lateCounts: (own: Int, server: Int) { record.lateCounts }

  public var load: (mean: Float, largest: Float) { record.load }

  public func load(ofCycles part: Double) -> Float { record.load(ofCycles: part) }

  public var isRealtime: Bool {
    core.state.withLock { $0.session?.isRealtime.load(ordering: .relaxed) ?? false }
  }

  /// What the host's event thread keeps alive. Its methods run on that thread, except `end`.
  private final class Core: @unchecked Sendable {
    let state = Mutex(State())
    let thread: SerialThread
    private let record: HostRecord

    init(_ record: HostRecord) throws(EngineError) {
      self.record = record
      let box = WeakBox<Core>()
      thread = try SerialThread(name: "timer-events") { box.value?.collect() }
      box.value = self
    }

    /// Lets everything go; nothing is rendered any more afterwards.
    func end() {
      _ = cut()
      thread.end()
    }

    /// Has nothing rendered any more by the present session; false where a cycle hangs.
    func cut() -> Bool {
      guard let session = state.withLock({ $0.session }) else { return true }
      session.isStopping.store(true, ordering: .releasing)
      return session.gate.pointee.shut(within: 2_000_000_000)
    }

    func start() {
      let (session, onEvent) = state.withLock { state in
        let isFirst = !state.hasStarted && !state.isClosing
        state.hasStarted = true
        return isFirst ? (state.session, state.onEvent) : (nil, nil)
      }
      guard let session, !session.start() else { return }
      onEvent?(.failed(.refused("no thread left for the timer")))
      state.withLock { $0.hasStarted = false }
    }

    func close(_ completion: @escaping @Sendable (Bool) -> Void) {
      let session = state.withLock { state -> TimerSession? in
        guard let session = state.session else { return nil }
        state.completions.append(completion)
        state.isClosing = true
        return session
      }
      guard let session else { return completion(true) }
      session.isStopping.store(true, ordering: .releasing)
      if state.withLock({ $0.hasStarted }) {
        thread.run(after: 2) { [weak self] in self?.finish(session, isClean: false) }
      } else {
        finish(session, isClean: true)
      }
    }

    /// Looks at what the render thread has left.
    private func collect() {
      let (session, onEvent) = state.withLock { ($0.session, $0.onEvent) }
      guard let session else { return }
      if session.hasBegun.exchange(false, ordering: .acquiring) { onEvent?(.started) }
      let xruns = record.lateCounts.server
      let isNew = state.withLock { state in
        defer { state.reportedXruns = xruns }
        return state.reportedXruns != xruns
      }
      if isNew { onEvent?(.xrun) }
      if session.hasEnded.load(ordering: .acquiring) { finish(session, isClean: true) }
    }

    private func finish(_ session: TimerSession, isClean: Bool) {
      guard state.withLock({ $0.session === session }) else { return }
      if session.gate.pointee.shut(within: 100_000_000) { record.clock.pointee.reset() }
      let completions = state.withLock { state in
        defer {
          state.session = nil
          state.onEvent = nil
          state.completions = []
          state.isClosing = false
        }
        return state.completions
      }
      for completion in completions { completion(isClean) }
    }
  }
}
