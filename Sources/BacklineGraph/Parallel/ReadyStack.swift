import Synchronization

/// The tasks that can be run now: a stack that any number of threads push to and pop from without waiting for one another.
///
/// Treiber's stack over task numbers. The head holds a count beside the number, so that a head that has come back is told from
/// one that never left. Its memory belongs to the crew and not to a plan: a thread that was held up between two loads reads a
/// number that means nothing any more, but never memory that has been freed.
struct ReadyStack: ~Copyable {
  /// Tasks that there can be.
  static var capacity: Int { @_noLocks get { 16_384 } }
  private static var none: UInt32 { @_noLocks get { UInt32.max } }

  /// A count in the upper half, the number of the topmost task in the lower.
  private let head = Atomic<UInt64>(UInt64(ReadyStack.none))
  /// The task below each.
  private let below: UnsafeMutablePointer<Atomic<UInt32>>

  init() {
    below = .allocate(capacity: Self.capacity)
    for index in 0..<Self.capacity { (below + index).initialize(to: Atomic(Self.none)) }
  }

  deinit {
    for index in 0..<Self.capacity { (below + index).deinitialize(count: 1) }
    below.deallocate()
  }

  var isEmpty: Bool {
    @_noLocks get { UInt32(truncatingIfNeeded: head.load(ordering: .sequentiallyConsistent)) == Self.none }
  }

  @_noLocks
  func push(_ task: Int32) {
    var old = head.load(ordering: .relaxed)
    while true {
      below[Int(task)].store(UInt32(truncatingIfNeeded: old), ordering: .relaxed)
      let new = ((old >> 32) &+ 1) << 32 | UInt64(UInt32(bitPattern: task))
      let result = head.weakCompareExchange(expected: old, desired: new, ordering: .sequentiallyConsistent)
      if result.exchanged { return }
      old = result.original
    }
  }

  /// The task that was pushed last; negative where there is none.
  @_noLocks
  func pop() -> Int32 {
    var old = head.load(ordering: .acquiring)
    while true {
      let top = UInt32(truncatingIfNeeded: old)
      if top == Self.none { return -1 }
      let next = below[Int(top)].load(ordering: .relaxed)
      let new = ((old >> 32) &+ 1) << 32 | UInt64(next)
      let result = head.weakCompareExchange(
        expected: old, desired: new, successOrdering: .sequentiallyConsistent, failureOrdering: .acquiring)
      if result.exchanged { return Int32(bitPattern: top) }
      old = result.original
    }
  }
}
