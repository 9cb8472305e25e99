import BacklineRealtime
import CBackline

/// A `BandSplitter` whose number of bands can change: the old tree runs on beside the new one while one fades to the other.
struct FadingSplitter {
  private var current: BandSplitter
  private var outgoing: BandSplitter
  private var fade = Crossfade(2)

  @_noLocks
  init(count: Int32, sampleRate: Double) {
    current = BandSplitter(count: count, sampleRate: sampleRate)
    outgoing = current
    fade = Crossfade(count)
  }

  @_noLocks
  mutating func setCount(_ value: Float, over frames: Int32) {
    fade.move(to: Int32(max(2, min(value, 4)) + 0.5), over: frames)
    follow()
  }

  @_noLocks
  mutating func setFrequency(_ index: Int, _ value: Float, over frames: Int32) {
    let bounded = max(10, min(value, 1e6))
    current.setFrequency(index, bounded, over: frames)
    outgoing.setFrequency(index, bounded, over: frames)
  }

  /// Makes the tree that the fade goes to.
  @_noLocks
  private mutating func follow() {
    if fade.to == current.count { return }
    if fade.isSettled {
      current = current.remade(count: fade.to)
    } else {
      outgoing = current
      current = current.remade(count: fade.to)
    }
  }

  /// The bands of one frame.
  @inline(__always) @_noLocks
  mutating func split(_ x: SIMD2<Double>, _ bands: inout InlineArray<4, SIMD2<Double>>) {
    current.split(x, &bands)
    if fade.isSettled { return }
    var old = InlineArray<4, SIMD2<Double>>(repeating: .zero)
    outgoing.split(x, &old)
    for band in 0..<BandSplitter.mostBands {
      bands[band] = backline_stereo_mix(old[band], bands[band], Double(fade.weight))
    }
    fade.advance()
    follow()
  }

  /// The bands from the first on in which there can be sound.
  var heardBands: Int { @_noLocks get { fade.isSettled ? Int(current.count) : BandSplitter.mostBands } }

  /// The bands of `count` frames, each `stride` behind the one before.
  @_noLocks
  mutating func split(
    _ left: UnsafePointer<Float>, _ right: UnsafePointer<Float>, _ bands: UnsafeMutablePointer<SIMD2<Double>>,
    stride: Int, count: Int
  ) {
    var one = InlineArray<4, SIMD2<Double>>(repeating: .zero)
    for frame in 0..<max(0, count) {
      split(backline_stereo_load(left + frame, right + frame), &one)
      for band in 0..<BandSplitter.mostBands { bands[band &* stride &+ frame] = one[band] }
    }
  }

  @_noLocks
  mutating func reset() {
    fade.settle()
    if fade.to != current.count { current = current.remade(count: fade.to) }
    current.reset()
    outgoing.reset()
  }

  /// The frames until the sound has fallen below -140 dB.
  @_noLocks
  func tail() -> Int64 {
    let frames = current.tail + (fade.isSettled ? 0 : outgoing.tail)
    return frames < 1e12 ? Int64(frames) : 1_000_000_000_000
  }
}
