import BacklineRealtime

/// A stereo ring that is read between samples, each channel at a distance of its own that may move per frame.
///
/// The cubic of Lagrange through four samples, whose gain is nowhere above 1 for distances within the middle interval (Laakso et
/// al., "Splitting the unit delay", IEEE Signal Processing Magazine, 1996). Cleared in no time, as `StereoDelayLine`.
struct SlidingLine {
  private let frames: UnsafeMutablePointer<SIMD2<Float>>
  private let mask: Int
  private var position = 0
  private var written = 0

  /// The least distance in frames that can be read.
  static var least: Float { @_noLocks get { 1 } }

  /// A line that can be read up to `maximum` frames behind the newest.
  init(maximum: Int) {
    var size = 64
    while size < maximum + 4 { size *= 2 }
    frames = UnsafeMutableRawPointer(SampleMemory.allocate(2 * size)).bindMemory(to: SIMD2<Float>.self, capacity: size)
    mask = size - 1
  }

  func deallocate() {
    SampleMemory.free(UnsafeMutableRawPointer(frames).bindMemory(to: Float.self, capacity: 2 * (mask + 1)))
  }

  @inline(__always) @_noLocks
  mutating func write(_ frame: SIMD2<Float>) {
    frames[position] = frame
    position = (position &+ 1) & mask
    if written <= mask { written &+= 1 }
  }

  @inline(__always) @_noLocks
  private func at(_ delay: Int) -> SIMD2<Float> {
    delay < written ? frames[(position &- 1 &- delay) & mask] : SIMD2(repeating: 0)
  }

  /// The left channel `delay.x` and the right one `delay.y` frames behind the newest frame (0), at least `least`.
  @inline(__always) @_noLocks
  func read(_ delay: SIMD2<Float>) -> SIMD2<Float> { SIMD2(read(delay.x, 0), read(delay.y, 1)) }

  @inline(__always) @_noLocks
  private func read(_ delay: Float, _ channel: Int) -> Float {
    let bounded = max(Self.least, min(delay, Float(mask &- 3)))
    let whole = Int(bounded)
    let t = bounded - Float(whole)
    let a = at(whole &- 1)[channel], b = at(whole)[channel]
    let c = at(whole &+ 1)[channel], d = at(whole &+ 2)[channel]
    let first = -a * (1 / 3) - b * 0.5 + c - d * (1 / 6)
    let second = (a + c) * 0.5 - b
    let third = (d - a) * (1 / 6) + (b - c) * 0.5
    return b + t * (first + t * (second + t * third))
  }

  /// Moves a distance in frames, or one that the distance is at most `reach` times, over `frames` frames or as many more as it
  /// takes not to bend the pitch by more than half: a jump of many milliseconds within a few would be heard as a chirp.
  /// Returns the frames that it takes.
  @discardableResult @_noLocks
  static func glide(_ distance: inout Ramp, to target: Float, over frames: Int32, reach: Float = 1) -> Int32 {
    let least = Int32(min(2 * reach * abs(target - distance.value), 1e8))
    let taken = frames > 0 ? max(frames, least) : 0
    distance.move(to: target, over: taken)
    return taken
  }

  @_noLocks
  mutating func clear() {
    position = 0
    written = 0
  }
}
