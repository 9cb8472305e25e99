import CBackline
import Synchronization

/// The deadline of a member that does not work in step with the render thread, such as one that reads ahead: begun, perhaps moved,
/// and finished, again and again, with a count of how often it was late.
///
/// `start`, `update` and `finish` neither allocate nor wait; one thread at a time calls them, any thread reads the counts.
public final class WorkInterval: Sendable {
  /// What has become of the intervals so far.
  public struct Counts: Sendable, Equatable {
    /// Intervals that were begun.
    public var started: Int
    /// Those that were finished.
    public var finished: Int
    /// Finished after their deadline.
    public var late: Int
  }

  /// The group whose members may use it.
  public let group: Workgroup
  /// The group's, to be compared without counting references.
  private let identity: UInt
  private let begin = Atomic<Int64>(0)
  private let deadline = Atomic<Int64>(0)
  private let isRunning = Atomic<Bool>(false)
  private let started = Atomic<Int>(0)
  private let finished = Atomic<Int>(0)
  private let late = Atomic<Int>(0)
  private let longestTime = Atomic<Int64>(0)

  /// An interval of a group's, which is begun again and again.
  public init(_ group: Workgroup) {
    self.group = group
    identity = group.identity
  }

  /// Begins an interval that has to be finished by `deadline`, in nanoseconds of `Workgroup.now`.
  ///
  /// Throws `notMember` for a membership of another group or one that has left, `wrongState` where an interval runs, and
  /// `invalidTimes` for a deadline before the start.
  @_noLocks
  public func start(
    _ membership: borrowing WorkgroupMembership, at start: Int64 = backline_now(), deadline: Int64
  ) throws(WorkgroupError) {
    if membership.identity != identity || !membership.isMember { throw .notMember }
    if deadline < start { throw .invalidTimes }
    if isRunning.exchange(true, ordering: .acquiring) { throw .wrongState }
    begin.store(start, ordering: .relaxed)
    self.deadline.store(deadline, ordering: .relaxed)
    started.wrappingAdd(1, ordering: .relaxed)
  }

  /// Moves the deadline of the interval that runs; `wrongState` where none does.
  @_noLocks
  public func update(deadline: Int64) throws(WorkgroupError) {
    if !isRunning.load(ordering: .relaxed) { throw .wrongState }
    if deadline < begin.load(ordering: .relaxed) { throw .invalidTimes }
    self.deadline.store(deadline, ordering: .relaxed)
  }

  /// Ends the interval; true when that is in time. `wrongState` where none runs.
  @_noLocks
  @discardableResult
  public func finish(at end: Int64 = backline_now()) throws(WorkgroupError) -> Bool {
    if !isRunning.exchange(false, ordering: .releasing) { throw .wrongState }
    finished.wrappingAdd(1, ordering: .relaxed)
    let time = end &- begin.load(ordering: .relaxed)
    if time > longestTime.load(ordering: .relaxed) { longestTime.store(time, ordering: .relaxed) }
    let isInTime = end <= deadline.load(ordering: .relaxed)
    if !isInTime { late.wrappingAdd(1, ordering: .relaxed) }
    return isInTime
  }

  /// What has become of them.
  public var counts: Counts {
    Counts(
      started: started.load(ordering: .relaxed), finished: finished.load(ordering: .relaxed),
      late: late.load(ordering: .relaxed))
  }

  /// The longest that one took, in nanoseconds.
  public var longest: Int64 { longestTime.load(ordering: .relaxed) }
}
