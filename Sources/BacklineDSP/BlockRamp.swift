import BacklineRealtime
import CBackline

/// A ramp whose values are wanted for some frames at a time, at most a quantum of them: for loops that run in vectors.
struct BlockRamp: ~Copyable {
  private static var capacity: Int { @_noLocks get { Int(Quantum.frames) } }

  private var ramp: Ramp
  /// The values of the frames that were asked for last; where the ramp is at rest, of a whole quantum.
  let values: UnsafeMutablePointer<Float>
  private var isFlat = false

  /// A ramp at rest.
  init(_ value: Float) {
    ramp = Ramp(value)
    values = SampleMemory.allocate(Self.capacity)
  }

  deinit { SampleMemory.free(values) }

  /// The value of the coming frame.
  var value: Float { @inline(__always) @_noLocks get { ramp.value } }
  /// The value where the movement ends.
  var target: Float { @inline(__always) @_noLocks get { ramp.target } }
  /// True when the value has reached its target.
  var isSettled: Bool { @inline(__always) @_noLocks get { ramp.isSettled } }
  /// The frames until the target is reached.
  var remaining: Int { @inline(__always) @_noLocks get { Int(ramp.remaining) } }
  /// True where the value is 0 and stays there.
  var isZero: Bool { @inline(__always) @_noLocks get { ramp.value == 0 && ramp.target == 0 } }

  /// Moves to `target` over `frames` frames, at once when there are none.
  @_noLocks
  mutating func move(to target: Float, over frames: Int32) {
    ramp.move(to: target, over: frames)
    isFlat = false
  }

  /// Jumps to the target.
  @_noLocks
  mutating func settle() {
    ramp.settle()
    isFlat = false
  }

  /// Puts the coming `frames` values into `values` and moves on by as many frames.
  @inline(__always) @_noLocks
  mutating func next(_ frames: Int) {
    if !isFlat { fill(frames) }
  }

  @inline(never) @_noLocks
  private mutating func fill(_ frames: Int) {
    isFlat = ramp.isSettled
    for frame in 0..<(isFlat ? Self.capacity : max(0, frames)) { values[frame] = ramp.next() }
  }
}
