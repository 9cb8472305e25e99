import Synchronization

/// What a host's render thread finds out about its own cycles; read from any thread.
public struct CycleMeter: ~Copyable {
  /// Cycles that this process finished after their deadline by its own doing.
  public let ownLate = Atomic<Int>(0)
  /// Gaps that the host itself reported.
  public let xruns = Atomic<Int>(0)
  /// Frames rendered since the start.
  public let frames = Atomic<Int64>(0)
  /// The part of a cycle's time that rendering takes, averaged over about a second.
  public let load = Atomic<Float>(0)
  /// The largest part that rendering took of any cycle.
  public let largestLoad = Atomic<Float>(0)

  private let histogram = LoadHistogram()

  /// A meter at zero.
  public init() {}

  /// Takes one cycle, all times in nanoseconds: when it began and finished, when it had to be finished, how long its sound is.
  ///
  /// A cycle that began after its deadline was kept waiting by others, whose lateness the host reports; it counts as this
  /// process's own only when it also took longer than its sound lasts.
  @_noLocks
  public func take(begin: Int64, finish: Int64, deadline: Int64, length: Int64) {
    if length <= 0 { return }
    let spent = finish &- begin
    if finish > deadline && (begin <= deadline || spent > length) {
      ownLate.store(ownLate.load(ordering: .relaxed) &+ 1, ordering: .relaxed)
    }
    histogram.count(spent, of: length)
    let part = Float(spent) / Float(length)
    let before = load.load(ordering: .relaxed)
    load.store(before + (part - before) * min(1, Float(length) * 1e-9), ordering: .relaxed)
    if part > largestLoad.load(ordering: .relaxed) { largestLoad.store(part, ordering: .relaxed) }
  }

  /// The part of its time that rendering took in no more than `part` of all cycles (0 to 1), to 12.5 %.
  public func load(ofCycles part: Double) -> Float {
    min(histogram.quantile(part), largestLoad.load(ordering: .relaxed))
  }

  /// Counts rendered frames; returns how many there were before.
  @_noLocks
  public func advance(by frameCount: Int) -> Int64 {
    let before = frames.load(ordering: .relaxed)
    frames.store(before &+ Int64(frameCount), ordering: .relaxed)
    return before
  }
}
