/// Why a thread could not join or leave a workgroup, or an interval could not begin.
public enum WorkgroupError: Error, Equatable, Sendable {
  /// The thread is a member of this group already, or of one that this one cannot be nested in (Apple's `EALREADY`).
  case alreadyMember
  /// The group has been cancelled and takes nobody in any more (Apple's `EINVAL`).
  case cancelled
  /// Another thread than the one that joined has tried to leave.
  case otherThread
  /// The thread has joined another group since, and has to leave that one first.
  case outOfOrder
  /// The thread has left already, or never belonged to the interval's group.
  case notMember
  /// The interval has begun already, or has not begun.
  case wrongState
  /// A deadline that lies before the start.
  case invalidTimes
}
