import Synchronization

/// A bounded queue from one thread to one other, of values that are plain bytes. Neither side ever waits.
///
/// Lives in memory of its own (`UnsafeMutablePointer<RingQueue<Element>>`), freed by `deallocate()`.
public struct RingQueue<Element: BitwiseCopyable>: ~Copyable {
  @usableFromInline let slots: UnsafeMutablePointer<Element>
  @usableFromInline let mask: Int
  @usableFromInline let head = Atomic<Int>(0)  // next to write, the producer's
  @usableFromInline let tail = Atomic<Int>(0)  // next to read, the consumer's

  /// A queue for at least `capacity` elements.
  public init(capacity: Int) {
    var size = 2
    while size < capacity { size *= 2 }
    slots = .allocate(capacity: size)
    mask = size - 1
  }

  deinit { slots.deallocate() }

  /// How many elements fit.
  @inlinable public var capacity: Int { @inline(__always) get { mask + 1 } }

  /// How many elements wait, as either side sees it.
  @inlinable @inline(__always)
  public var count: Int { head.load(ordering: .acquiring) &- tail.load(ordering: .acquiring) }

  /// Adds an element; false when the queue is full. Producer only.
  @inlinable @inline(__always)
  public func push(_ element: Element) -> Bool {
    let at = head.load(ordering: .relaxed)
    if at &- tail.load(ordering: .acquiring) > mask { return false }
    (slots + (at & mask)).initialize(to: element)
    head.store(at &+ 1, ordering: .releasing)
    return true
  }

  /// Adds all elements at once, so that the consumer sees all or none; false when they do not fit. Producer only.
  public func push(contentsOf elements: [Element]) -> Bool {
    let at = head.load(ordering: .relaxed)
    if at &- tail.load(ordering: .acquiring) &+ elements.count > mask &+ 1 { return false }
    for (index, element) in elements.enumerated() { (slots + ((at &+ index) & mask)).initialize(to: element) }
    head.store(at &+ elements.count, ordering: .releasing)
    return true
  }

  /// The oldest element, left in place. Consumer only.
  @inlinable @inline(__always)
  public func peek() -> Element? {
    let at = tail.load(ordering: .relaxed)
    if at == head.load(ordering: .acquiring) { return nil }
    return slots[at & mask]
  }

  /// Takes the oldest element out. Consumer only.
  @inlinable @inline(__always)
  public func pop() -> Element? {
    let at = tail.load(ordering: .relaxed)
    if at == head.load(ordering: .acquiring) { return nil }
    let element = slots[at & mask]
    tail.store(at &+ 1, ordering: .releasing)
    return element
  }
}
