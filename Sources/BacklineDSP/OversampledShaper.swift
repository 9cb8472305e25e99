import BacklineRealtime
import CBackline

/// A curve on both channels at 2, 4 or 8 times the sample rate: `Oversampler` and the antialiased curves of `Shaper.h` together.
struct OversampledShaper {
  private var left = Oversampler()
  private var right = Oversampler()
  private var shaper = StereoShaper()
  /// The number of the curve.
  private(set) var curve: Int32 = 0
  /// 2, 4 or 8.
  private(set) var factor = 8

  func deallocate() {
    left.deallocate()
    right.deallocate()
  }

  /// Forgets the past and goes on with another curve and factor, at rest at `bias`.
  @_noLocks
  mutating func restart(curve: Int32, factor: Int, bias: Float) {
    self.curve = curve
    self.factor = factor
    left.clear()
    right.clear()
    shaper = backline_shaper_start(curve, StereoVector(Double(bias), Double(bias)))
  }

  /// Shapes `count` frames, at most 32; `bias` is added before the curve and its effect at rest taken away behind it.
  @_noLocks
  mutating func process(
    _ leftIn: UnsafePointer<Float>, _ rightIn: UnsafePointer<Float>, bias: UnsafePointer<Float>,
    _ leftOut: UnsafeMutablePointer<Float>, _ rightOut: UnsafeMutablePointer<Float>, count: Int
  ) {
    left.up(leftIn, factor: factor, count: count)
    right.up(rightIn, factor: factor, count: count)
    backline_shape(
      &shaper, curve, left.samples, right.samples, bias, Int32(truncatingIfNeeded: factor),
      Int32(truncatingIfNeeded: count))
    left.down(leftOut, factor: factor, count: count)
    right.down(rightOut, factor: factor, count: count)
  }
}
