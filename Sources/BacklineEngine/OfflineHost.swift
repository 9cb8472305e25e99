import BacklineRealtime
import CBackline
import Synchronization

/// A host that renders only when it is asked to, on the thread that asks: for files, for embedding, for tests.
///
/// `render` is what a sound card's callback is to other hosts: it neither waits nor allocates, and it takes any number of
/// frames. It may be called from any thread, one at a time; whoever comes while another renders is told so.
///
/// A sound server's moods can be had by hand: `refusal` and `holdsStart` answer an opening, `isPaused` has cycles left out,
/// and `send` says whatever a server might say, at any moment.
public final class OfflineHost: AudioHost, @unchecked Sendable {
  // Why unchecked: the door's memory is shared through atomics alone; what is not atomic is written while it is shut.
  /// What became of a cycle that was asked for.
  public enum Outcome: Sendable, Equatable {
    case rendered
    /// Nothing was rendered: the host is not started, or is being closed.
    case closed
    /// Nothing was rendered: another thread renders just now.
    case busy
    /// Nothing was rendered, since cycles are held back.
    case paused
  }

  private struct State {
    var sampleRate: Int
    var period: Int
    var refusal: HostFailure?
    var holdsStart = false
    var configuration: HostConfiguration?
    var latencies = LatencyMap([])
    var onEvent: (@Sendable (HostEvent) -> Void)?
    var anchor: (frame: Int64, time: Int64)?
  }

  public let kind = "offline"
  public let fades: Bool
  public let isOffline: Bool
  private let state: Mutex<State>
  private let door: UnsafeMutablePointer<OfflineDoor>

  /// A host of `sampleRate` Hz that says its cycles have `period` frames, though they may have any number.
  ///
  /// With `fades`, sound comes in and goes out as on a host that somebody listens to; without, every frame counts. With
  /// `isOffline`, the engine does nothing by the clock, and whoever renders calls its `tidyNow()`.
  public init(sampleRate: Int = 48_000, period: Int = 64, fades: Bool = false, isOffline: Bool = false) {
    state = Mutex(State(sampleRate: sampleRate, period: period))
    self.fades = fades
    self.isOffline = isOffline
    door = .allocate(capacity: 1)
    door.initialize(to: OfflineDoor())
  }

  deinit {
    door.deinitialize(count: 1)
    door.deallocate()
  }

  // MARK: The engine's side

  public func open(
    _ configuration: HostConfiguration, render: @escaping HostRender, state core: UnsafeMutableRawPointer,
    onEvent: @escaping @Sendable (HostEvent) -> Void
  ) {
    let isFree = door.pointee.isShut
    state.withLock { state in
      if !isFree { return onEvent(.failed(.refused("the offline host is open already"))) }
      if let refusal = state.refusal { return onEvent(.failed(refusal)) }
      state.configuration = configuration
      state.onEvent = onEvent
      door.pointee.prepare(render, core)
      // Under the lock, so that whatever is sent from now on, such as another rate than this one, comes after it.
      onEvent(.opened(name: configuration.name, sampleRate: state.sampleRate, period: state.period))
    }
  }

  public func start() {
    door.pointee.open()
    if !state.withLock({ $0.holdsStart }) { send(.started) }
  }

  public func close(completion: @escaping @Sendable (_ isClean: Bool) -> Void) {
    if door.pointee.shut() { return hasClosed(completion) }
    // A cycle runs, which may take its time offline. It is waited for elsewhere, since nobody may wait here.
    let waiter = try? SerialThread(name: "offline-close")
    guard let waiter else { return waitForShut(completion) }
    waiter.run { [self] in waitForShut(completion) }
    waiter.end()
  }

  private func hasClosed(_ completion: (Bool) -> Void) {
    state.withLock { $0.onEvent = nil }
    completion(true)
  }

  private func waitForShut(_ completion: (Bool) -> Void) {
    let limit = backline_now() + 2_000_000_000
    while !door.pointee.shut() {
      if backline_now() > limit { return completion(false) }
      backline_pause()
    }
    hasClosed(completion)
  }

  public func cut() -> Bool {
    let limit = backline_now() + 2_000_000_000
    while !door.pointee.shut() {
      if backline_now() > limit { return false }
      backline_pause()
    }
    return true
  }

  public func setPorts(_ configuration: HostConfiguration) { state.withLock { $0.configuration = configuration } }

  public func setLatencies(_ latencies: LatencyMap) { state.withLock { $0.latencies = latencies } }

  public func frame(at nanoseconds: Int64) -> Int64? {
    state.withLock { state in
      state.anchor.map { anchor in
        anchor.frame
          + Int64(saturating: (Double(nanoseconds) - Double(anchor.time)) * Double(state.sampleRate) * 1e-9)
      }
    }
  }

  public var renderedFrames: Int64 { door.pointee.frames.load(ordering: .relaxed) }
  public var lateCounts: (own: Int, server: Int) { (0, 0) }
  public var isRealtime: Bool { false }
  public var hasDeadline: Bool { false }

  // MARK: The caller's side

  /// Renders `frameCount` frames from the first `inputCount` channels of `inputs` to the first `outputCount` of `outputs`,
  /// each with room for so many samples. Nothing is written unless the outcome is `rendered`. `lostFrames` are those that a
  /// server in this one's place would have lost right before.
  @_noLocks
  public func render(
    _ inputs: UnsafePointer<UnsafePointer<Float>>?, inputCount: Int,
    _ outputs: UnsafePointer<UnsafeMutablePointer<Float>>?, outputCount: Int, frameCount: Int,
    lostFrames: Int = 0
  ) -> Outcome {
    door.pointee.render(
      HostCycle(
        inputs: inputs, outputs: outputs, inputCount: Int32(truncatingIfNeeded: inputCount),
        outputCount: Int32(truncatingIfNeeded: outputCount), frameCount: Int32(truncatingIfNeeded: frameCount),
        lostFrames: Int32(truncatingIfNeeded: lostFrames)))
  }

  /// The ports that the engine has asked for last.
  public var configuration: HostConfiguration? { state.withLock { $0.configuration } }
  /// The latencies inside the engine, as it has published them last.
  public var latencies: LatencyMap { state.withLock { $0.latencies } }
  /// True from `start` to `close`: cycles are rendered when they are asked for.
  public var isStarted: Bool { door.pointee.isOpen }

  /// The rate in Hz that the next opening answers.
  public var sampleRate: Int {
    get { state.withLock { $0.sampleRate } }
    set { state.withLock { $0.sampleRate = newValue } }
  }

  /// The period in frames that the next opening answers.
  public var period: Int {
    get { state.withLock { $0.period } }
    set { state.withLock { $0.period = newValue } }
  }

  /// A frame and the time of CLOCK_MONOTONIC in nanoseconds at which it plays, for whatever has a time; `nil` knows of no time.
  public var anchor: (frame: Int64, time: Int64)? {
    get { state.withLock { $0.anchor } }
    set { state.withLock { $0.anchor = newValue } }
  }

  // MARK: A server's moods

  /// What openings are answered with instead of success.
  public var refusal: HostFailure? {
    get { state.withLock { $0.refusal } }
    set { state.withLock { $0.refusal = newValue } }
  }

  /// True where `start` is not answered by itself: `send(.started)` says it then.
  public var holdsStart: Bool {
    get { state.withLock { $0.holdsStart } }
    set { state.withLock { $0.holdsStart = newValue } }
  }

  /// True while no cycle is rendered, however often one is asked for.
  public var isPaused: Bool {
    get { door.pointee.isPaused.load(ordering: .acquiring) }
    set { door.pointee.isPaused.store(newValue, ordering: .releasing) }
  }

  /// Tells the engine something as a server would.
  public func send(_ event: HostEvent) { state.withLock { $0.onEvent }?(event) }
}

/// The way into the engine that those who render take one at a time, and that is shut while the host is closed.
private struct OfflineDoor: ~Copyable {
  private enum Place {
    static var shut: Int { @_noLocks get { 0 } }
    static var open: Int { @_noLocks get { 1 } }
    static var occupied: Int { @_noLocks get { 2 } }
  }

  /// Written while the door is shut.
  private var function: HostRender?
  private var core: UnsafeMutableRawPointer?
  private let place = Atomic<Int>(0)
  private let isClosing = Atomic<Bool>(false)
  let isPaused = Atomic<Bool>(false)
  let frames = Atomic<Int64>(0)

  var isShut: Bool { place.load(ordering: .acquiring) == Place.shut }
  var isOpen: Bool { !isShut && !isClosing.load(ordering: .acquiring) }

  mutating func prepare(_ function: @escaping HostRender, _ core: UnsafeMutableRawPointer) {
    self.function = function
    self.core = core
    isClosing.store(false, ordering: .relaxed)
  }

  func open() {
    if isClosing.load(ordering: .acquiring) { return }
    _ = place.compareExchange(expected: Place.shut, desired: Place.open, ordering: .acquiringAndReleasing)
  }

  /// Shuts the door; false while someone is inside, who will be the last.
  func shut() -> Bool {
    isClosing.store(true, ordering: .sequentiallyConsistent)
    let before = place.compareExchange(
      expected: Place.open, desired: Place.shut, ordering: .sequentiallyConsistent)
    return before.original != Place.occupied
  }

  @_noLocks
  func render(_ cycle: HostCycle) -> OfflineHost.Outcome {
    let before = place.compareExchange(
      expected: Place.open, desired: Place.occupied, ordering: .sequentiallyConsistent)
    if !before.exchanged { return before.original == Place.shut ? .closed : .busy }
    defer { place.store(Place.open, ordering: .sequentiallyConsistent) }
    if isClosing.load(ordering: .sequentiallyConsistent) { return .closed }
    if isPaused.load(ordering: .acquiring) { return .paused }
    guard let function, let core, cycle.frameCount >= 0 else { return .closed }
    var cycle = cycle
    let denormals = backline_flush_denormals()
    backline_realtime_enter()
    backline_render_cycle(function, core, &cycle)
    backline_realtime_exit()
    backline_restore_denormals(denormals)
    frames.store(frames.load(ordering: .relaxed) &+ Int64(cycle.frameCount), ordering: .relaxed)
    return .rendered
  }
}
