/// A value that moves to its target in equal steps, one a frame, and then holds it exactly.
///
/// The state is carried from frame to frame, so a signal shaped by it has the same bits however it is cut into blocks.
public struct Ramp {
  /// The value at the coming frame.
  public var value: Float
  /// The value where the movement ends.
  public var target: Float
  @usableFromInline var step: Float = 0
  /// The frames until the target is reached; 0 when it is.
  public var remaining: Int32 = 0

  /// A ramp at rest.
  @inlinable @_noLocks
  public init(_ value: Float) {
    self.value = value
    target = value
  }

  /// True when the value has reached its target.
  @inlinable public var isSettled: Bool { @_noLocks get { remaining == 0 } }

  /// Moves to `target` over `frames` frames, at once when there are none.
  @inlinable @_noLocks
  public mutating func move(to target: Float, over frames: Int32) {
    self.target = target
    if frames <= 0 || value == target {
      value = target
      remaining = 0
      step = 0
    } else {
      step = (target - value) / Float(frames)
      remaining = frames
    }
  }

  /// The value of the coming frame; moves on by one frame.
  @inlinable @inline(__always) @_noLocks
  public mutating func next() -> Float {
    let now = value
    advance()
    return now
  }

  /// Moves on by one frame.
  @inlinable @inline(__always) @_noLocks
  public mutating func advance() {
    if remaining > 0 {
      remaining &-= 1
      value = remaining == 0 ? target : value + step
    }
  }

  /// Moves on by `frames` frames at once, for values that are read at quantum edges only.
  ///
  /// Frame by frame and at once give the same end only where the target is reached, so a ramp must be moved
  /// in one way or the other, and by this one only from quantum edge to quantum edge.
  @inlinable @_noLocks
  public mutating func advance(by frames: Int32) {
    if remaining <= frames {
      settle()
    } else {
      remaining &-= frames
      value += step * Float(frames)
    }
  }

  /// Jumps to the target.
  @inlinable @_noLocks
  public mutating func settle() {
    value = target
    remaining = 0
    step = 0
  }
}
