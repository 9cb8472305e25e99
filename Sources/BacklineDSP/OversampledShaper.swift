import BacklineRealtime
import CBackline

/// A curve on both channels at 2, 4 or 8 times the sample rate: `Oversampler` and `AntialiasedShaper` together.
struct OversampledShaper {
  private var left = Oversampler()
  private var right = Oversampler()
  private var leftShaper = AntialiasedShaper()
  private var rightShaper = AntialiasedShaper()
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
    leftShaper.reset(curve, bias: Double(bias))
    rightShaper.reset(curve, bias: Double(bias))
  }

  /// Shapes `count` frames, at most 32; `bias` is added before the curve and its effect at rest taken away behind it.
  @_noLocks
  mutating func process(
    _ leftIn: UnsafePointer<Float>, _ rightIn: UnsafePointer<Float>, bias: UnsafePointer<Float>,
    _ leftOut: UnsafeMutablePointer<Float>, _ rightOut: UnsafeMutablePointer<Float>, count: Int
  ) {
    left.up(leftIn, factor: factor, count: count)
    right.up(rightIn, factor: factor, count: count)
    switch curve {
    case 0: shape(0, bias, count)
    case 1: shape(1, bias, count)
    case 2: shape(2, bias, count)
    case 3: shape(3, bias, count)
    case 4: shape(4, bias, count)
    default: shape(5, bias, count)
    }
    left.down(leftOut, factor: factor, count: count)
    right.down(rightOut, factor: factor, count: count)
  }

  /// A loop of its own for each curve.
  @inline(__always) @_noLocks
  private mutating func shape(_ curve: Int32, _ bias: UnsafePointer<Float>, _ count: Int) {
    var a = leftShaper, b = rightShaper
    let leftSamples = left.samples, rightSamples = right.samples
    for frame in 0..<max(0, count) {
      let offset = Double(bias[frame])
      let rest = AntialiasedShaper.rest(curve, offset)
      for i in frame &* factor..<(frame &+ 1) &* factor {
        leftSamples[i] = Float(a.next(curve, Double(leftSamples[i]) + offset) - rest)
        rightSamples[i] = Float(b.next(curve, Double(rightSamples[i]) + offset) - rest)
      }
    }
    leftShaper = a
    rightShaper = b
  }
}
