import BacklineEngine
import CBackline
import Synchronization

/// Threads that work towards one deadline: an engine's render thread and the caller's own that help it, or any number that compute
/// something together.
///
/// A thread joins with a membership that cannot be copied, and leaves by the same, on the same thread. Where the group is cancelled
/// (an engine's is, whenever its rendering stops), nobody can join any more, and the members are expected to look at `isCancelled`
/// between two pieces of work, to leave, and to join the next group. See <doc:HelpingTheRenderThread>.
///
/// Linux schedules no group as a whole: what counts is that each thread has the scheduling that its deadline needs.
public final class Workgroup: Sendable {
  /// What the members have in common.
  public enum Kind: Sendable, Equatable {
    /// They share the deadline of an engine's render thread.
    case deadline
    /// They compute something together, without a deadline.
    case parallel

    /// A thread that computes with others may also help a render thread for a while; one that shares a deadline may not join
    /// anything beside.
    func nests(in other: Kind) -> Bool { self == .deadline && other == .parallel }
  }

  /// For logs and debuggers.
  public let name: String
  /// What the group is for.
  public let kind: Kind
  /// Bytes of scratch memory that each member gets.
  public let arenaByteCount: Int
  private let cancelled = Atomic<Bool>(false)
  private let members = Atomic<Int>(0)

  /// A group without members; each will have `arenaByteCount` bytes of scratch memory of its own.
  public init(_ name: String, kind: Kind = .parallel, arenaByteCount: Int = 0) {
    self.name = name
    self.kind = kind
    self.arenaByteCount = max(0, arenaByteCount)
  }

  /// Makes the calling thread a member, and allocates its arena: at a thread's beginning, not within a cycle.
  ///
  /// Throws `alreadyMember` where the thread is in this group or in one that this cannot be nested in, and `cancelled`.
  public func join() throws(WorkgroupError) -> WorkgroupMembership {
    if isCancelled { throw .cancelled }
    let id = try ThreadMemberships.join(self)
    members.wrappingAdd(1, ordering: .relaxed)
    return WorkgroupMembership(self, id: id)
  }

  /// A number that no other group has while this one lives.
  var identity: UInt { UInt(bitPattern: ObjectIdentifier(self)) }

  /// Leaves again: for `WorkgroupMembership`.
  func leave(_ id: Int, of thread: UInt) throws(WorkgroupError) {
    try ThreadMemberships.leave(id, of: thread)
    members.wrappingSubtract(1, ordering: .relaxed)
  }

  /// Lets nobody join any more, and tells the members to leave. Any thread, any number of times.
  public func cancel() { cancelled.store(true, ordering: .releasing) }

  /// True once the group has been cancelled. Reads one number: for any thread, within a cycle, too.
  public var isCancelled: Bool { @_noLocks get { cancelled.load(ordering: .acquiring) } }

  /// The threads that have joined and not left.
  public var memberCount: Int { members.load(ordering: .relaxed) }

  /// How many threads it makes sense to have in the group: the processors that the process may use by its affinity and by the quota of
  /// its control groups, less one for the render thread where there is one; at least 1. Advice: more are not refused. Reads files.
  public var maximumParallelThreads: Int {
    max(1, ProcessorLimit.parallelThreads - (kind == .deadline ? 1 : 0))
  }

  /// The time that intervals are told in: CLOCK_MONOTONIC in nanoseconds. Any thread.
  public static var now: Int64 { @_noLocks get { backline_now() } }
}
