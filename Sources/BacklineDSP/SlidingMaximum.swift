/// The largest of the last values, at a cost that does not depend on how many.
///
/// D. Lemire, "Streaming maximum-minimum filter using no more than three comparisons per element", Nordic Journal of
/// Computing 13 (2006): a queue of those values that no later one has surpassed. Memory is allocated at creation and freed by
/// `deallocate()`.
struct SlidingMaximum {
  private let values: UnsafeMutablePointer<Float>
  private let frames: UnsafeMutablePointer<UInt32>
  private let mask: Int
  private let length: UInt32
  private var first = 0
  private var end = 0
  private var now: UInt32 = 0

  /// For the last `length` values, at least one.
  init(length: Int) {
    var size = 16
    while size < length + 1 { size *= 2 }
    values = .allocate(capacity: size)
    values.initialize(repeating: 0, count: size)
    frames = .allocate(capacity: size)
    frames.initialize(repeating: 0, count: size)
    mask = size - 1
    self.length = UInt32(max(1, length))
  }

  func deallocate() {
    values.deallocate()
    frames.deallocate()
  }

  /// Takes a value; returns the largest of the last `length`, it among them.
  @inline(__always) @_noLocks
  mutating func next(_ value: Float) -> Float {
    now &+= 1
    while end != first && values[(end &- 1) & mask] <= value { end &-= 1 }
    values[end & mask] = value
    frames[end & mask] = now
    end &+= 1
    if now &- frames[first & mask] >= length { first &+= 1 }
    return values[first & mask]
  }

  /// Forgets all values.
  @_noLocks
  mutating func reset() {
    first = 0
    end = 0
    now = 0
  }
}
