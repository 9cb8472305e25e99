/// Cuts a block at the quantum edges inside it, for units that do control-rate work there.
///
/// ```swift
/// var cursor = QuantumCursor(frame: block.frame, count: block.frameCount)
/// while cursor.next() {
///   if cursor.startsQuantum { updateCoefficients() }
///   for i in cursor.offset..<cursor.offset + cursor.count { … }
/// }
/// ```
public struct QuantumCursor {
  @usableFromInline var frame: Int64
  @usableFromInline var left: Int
  /// Where the current piece starts, in frames from the start of the block.
  public var offset = 0
  /// The length of the current piece in frames, 1 to 32.
  public var count = 0
  /// True when the current piece starts on a quantum edge.
  public var startsQuantum = false

  /// A cursor before the first piece of a block of `count` frames that starts at the absolute frame `frame`.
  @inlinable @_noLocks
  public init(frame: Int64, count: Int32) {
    self.frame = frame
    left = Int(count)
  }

  /// Moves to the next piece; false when there is none.
  @inlinable @inline(__always) @_noLocks
  public mutating func next() -> Bool {
    offset &+= count
    if left <= 0 { return false }
    let into = Int(frame & (Quantum.frames &- 1))
    startsQuantum = into == 0
    count = min(Int(Quantum.frames) &- into, left)
    left &-= count
    frame &+= Int64(count)
    return true
  }
}
