import CBackline

/// A ring of samples that is written once a frame and read at any distance behind.
///
/// Owned by a unit; memory is allocated at creation and freed by `deallocate()`.
public struct DelayLine {
  @usableFromInline let samples: UnsafeMutablePointer<Float>
  @usableFromInline let mask: Int
  @usableFromInline var position = 0

  /// A line that can be read up to `maximum` frames behind the newest sample.
  public init(maximum: Int) {
    var size = 64
    while size < maximum + 4 { size *= 2 }
    samples = SampleMemory.allocate(size)
    mask = size - 1
  }

  /// Frees the memory.
  public func deallocate() { SampleMemory.free(samples) }

  /// The frames that the line holds.
  @inlinable public var capacity: Int { @_noLocks get { mask + 1 } }

  /// Writes the coming sample.
  @inlinable @inline(__always) @_noLocks
  public mutating func write(_ sample: Float) {
    samples[position] = sample
    position = (position &+ 1) & mask
  }

  /// The sample written `delay` frames before the last one (0 is the last one itself).
  @inlinable @inline(__always) @_noLocks
  public func read(_ delay: Int) -> Float {
    samples[(position &- 1 &- delay) & mask]
  }

  /// Forgets everything.
  @inlinable @_noLocks
  public mutating func clear() {
    backline_zero(samples, Int64(mask + 1))
    position = 0
  }
}
