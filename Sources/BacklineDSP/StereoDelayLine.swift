import BacklineRealtime
import CBackline

/// A ring of stereo frames that is written once a frame and read at any distance behind.
///
/// `clear()` takes no time: what was written before it is never read again, so a long line can be reset on the render
/// thread. Memory is allocated at creation and freed by `deallocate()`.
struct StereoDelayLine {
  private let frames: UnsafeMutablePointer<SIMD2<Float>>
  private let mask: Int
  private var position = 0
  private var written = 0

  /// A line that can be read up to `maximum` frames behind the newest frame.
  init(maximum: Int) {
    var size = 64
    while size <= maximum { size *= 2 }
    let samples = SampleMemory.allocate(2 * size)
    frames = UnsafeMutableRawPointer(samples).bindMemory(to: SIMD2<Float>.self, capacity: size)
    mask = size - 1
  }

  /// Frees the memory.
  func deallocate() {
    SampleMemory.free(UnsafeMutableRawPointer(frames).bindMemory(to: Float.self, capacity: 2 * (mask + 1)))
  }

  /// Writes the coming frame.
  @inline(__always) @_noLocks
  mutating func write(_ frame: SIMD2<Float>) {
    frames[position] = frame
    position = (position &+ 1) & mask
    if written <= mask { written &+= 1 }
  }

  /// The frame written `delay` frames before the last one (0 is the last one itself); silence before the first.
  @inline(__always) @_noLocks
  func read(_ delay: Int) -> SIMD2<Float> {
    delay < written ? frames[(position &- 1 &- delay) & mask] : SIMD2(repeating: 0)
  }

  /// Both channels `fraction` (0 to 1) of a frame behind `delay`, which is at least 1: the cubic of Lagrange through four frames
  /// (Laakso et al., "Splitting the unit delay", IEEE Signal Processing Magazine, 1996).
  @inline(__always) @_noLocks
  func read(_ delay: Int, fraction t: Float) -> SIMD2<Float> {
    let a = read(delay &- 1), b = read(delay), c = read(delay &+ 1), d = read(delay &+ 2)
    let sixth: Float = 1.0 / 6
    let first: SIMD2<Float> = c - b * 0.5 - (a + a + d) * sixth
    let second: SIMD2<Float> = (a + c) * 0.5 - b
    let third: SIMD2<Float> = (d - a) * sixth + (b - c) * 0.5
    let bend: SIMD2<Float> = second + third * t
    return b + (first + bend * t) * t
  }

  /// The frames until what was written `delay` frames before the coming one has been written.
  @inline(__always) @_noLocks
  func silentFrames(_ delay: Int) -> Int { max(0, delay &- written) }

  /// Runs an echo over some frames: each reads what was written `delay` frames before it, at least one, and is written. To be
  /// called where no silent frames are left.
  @inline(__always) @_noLocks
  mutating func run(
    _ echo: inout StereoEcho, delay: Int, _ left: UnsafePointer<Float>, _ right: UnsafePointer<Float>,
    _ toLeft: UnsafeMutablePointer<Float>, _ toRight: UnsafeMutablePointer<Float>, count: Int
  ) {
    backline_delay_run(
      &echo, UnsafeMutableRawPointer(frames).assumingMemoryBound(to: Float.self), Int64(mask), Int64(position),
      Int64(delay), left, right, toLeft, toRight, Int32(truncatingIfNeeded: count))
    position = (position &+ count) & mask
    if written <= mask { written &+= count }
  }

  /// Forgets everything.
  @_noLocks
  mutating func clear() {
    position = 0
    written = 0
  }
}
