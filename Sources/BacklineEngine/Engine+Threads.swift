import BacklineGraph

/// The threads that render beside the host's: theirs from the opening of a host to its end.
extension Engine {
  /// Sets how many threads render, from the next opening of a host on.
  public func setThreads(_ threads: RenderThreads) { self.threads = threads }

  /// What the threads do.
  public struct ThreadStatus: Sendable, Equatable {
    /// Threads that render, the host's included.
    public var count: Int
    /// Threads that were wanted and have no real-time scheduling, so that the others go on without them.
    public var unfit: Int
    /// True when the last slice was shared.
    public var isSharing: Bool
    /// Slices in which the host's thread had to wait for one that was kept from its processor.
    public var stalls: Int
    /// The part of the time that each works, the host's first; empty where it renders alone by its own wish.
    public var loads: [Float]
  }

  public var threadStatus: ThreadStatus {
    guard let workers else { return ThreadStatus(count: 1, unfit: 0, isSharing: false, stalls: 0, loads: []) }
    let crew = workers.crew
    return ThreadStatus(
      count: 1 + crew.pointee.servingCount, unfit: workers.unfitCount, isSharing: crew.pointee.isSharing,
      stalls: crew.pointee.stallCount, loads: (0...workers.wanted).map { crew.pointee.meter(of: $0).load })
  }

  /// Tasks that other threads than the host's have done since the host was opened.
  public var tasksByHelpers: Int {
    guard let workers else { return 0 }
    return (1...workers.wanted).reduce(0) { $0 + workers.crew.pointee.meter(of: $1).tasks }
  }

  /// Makes a crew for the host that has just been opened, where more than one thread is wanted.
  func employ() {
    dismiss()
    guard let host = hosting.host else { return }
    let count = threads.granted
    if count < 2 { return }
    let workers = WorkerThreads(
      count - 1, policy: threads.policy, sampleRate: sampleRate, yields: !host.hasDeadline)
    self.workers = workers
    core.pointee.setCrew(workers.crew)
    host.employ(workers)
    store.isDirty = true
    balanced = 0
    isHelpNeeded = false
  }

  /// Lets the crew go. Nothing renders any more, unless a host had to be left hanging: what it renders with is kept then.
  func dismiss(isClean: Bool = true) {
    guard let workers else { return }
    core.pointee.setCrew(nil)
    workers.end()
    if !isClean { leftBehind.append(workers) }
    self.workers = nil
  }

  /// How the coming plan is to be shared.
  var parallelSettings: ParallelSettings? {
    guard let workers, let host = hosting.host else { return nil }
    if threads.policy == .whenNeeded && !isHelpNeeded { return nil }
    return ParallelSettings(
      threadCount: workers.wanted + 1, policy: threads.policy,
      sliceFrames: min(period > 0 ? period : 64, RenderPlan.maximumSlice), isContinuous: !host.hasDeadline,
      wasShared: isPlanShared)
  }

  /// What all nodes take in nanoseconds a frame, as far as it is known.
  var nodeCosts: Float {
    store.nodes.reduce(0) { sum, node in
      sum + (node.map { NodeCost.whileSounding($0.state) ?? NodeCost.guess } ?? 0)
    }
  }

  /// The part of the time there is from which on one thread is not left alone, and the one below which it is again, where the
  /// others wait to be needed.
  private static let neededLoad: Float = 0.35, idleLoad: Float = 0.2

  /// Has the work shared anew when nodes have turned out to take another time than the present plan was made for, or when help
  /// has become needed, or is not any more; true when there is a new plan to be published for that.
  @discardableResult
  public func rebalance() -> Bool {
    guard let workers, isRendering, !store.isDirty else { return false }
    let load = (0...workers.wanted).reduce(0) { $0 + workers.crew.pointee.meter(of: $1).load }
    let isNeeded = load > (isHelpNeeded ? Self.idleLoad : Self.neededLoad)
    let now = nodeCosts
    if isNeeded == isHelpNeeded && (abs(now - balanced) <= 0.25 * balanced || parallelSettings == nil) {
      return false
    }
    isHelpNeeded = isNeeded
    store.isDirty = true
    needsFlush()
    return true
  }

  /// Looks at that every now and then.
  func planRebalance() {
    if workers == nil || rebalanceTimer != nil || hosting.host?.isOffline == true { return }
    rebalanceTimer = later(Self.rebalanceInterval) { engine in
      engine.rebalanceTimer = nil
      if !engine.isRendering { return }
      engine.rebalance()
      engine.planRebalance()
    }
  }

  private static let rebalanceInterval = 0.25
}
