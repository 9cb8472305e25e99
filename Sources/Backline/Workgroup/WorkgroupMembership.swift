/// A thread's place in a workgroup, and its scratch memory there. It belongs to the thread that joined.
///
/// One that is let go of leaves by itself where it still can.
public struct WorkgroupMembership: ~Copyable {
  /// The group that the thread is a member of.
  public let group: Workgroup
  /// The member's own scratch memory, zero at first, aligned to 64 bytes.
  public let arena: UnsafeMutableRawBufferPointer
  /// The group's.
  let identity: UInt
  private let id: Int
  private let thread: UInt
  private var hasLeft = false

  init(_ group: Workgroup, id: Int) {
    self.group = group
    self.id = id
    identity = group.identity
    thread = ThreadMemberships.currentThread
    arena = .allocate(byteCount: group.arenaByteCount, alignment: 64)
    arena.initializeMemory(as: UInt8.self, repeating: 0)
  }

  deinit {
    if !hasLeft { try? group.leave(id, of: thread) }
    arena.deallocate()
  }

  /// Leaves the group. Throws `otherThread` on another thread than the one that joined, `outOfOrder` where a group has been joined
  /// since, and `notMember` where the thread has left; it stays a member then.
  public mutating func leave() throws(WorkgroupError) {
    if hasLeft { throw .notMember }
    try group.leave(id, of: thread)
    hasLeft = true
  }

  /// True until the thread has left.
  public var isMember: Bool { @_noLocks get { !hasLeft } }
}
