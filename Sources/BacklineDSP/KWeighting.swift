import CBackline

/// The K-weighting of ITU-R BS.1770 for both channels: a high shelf for the head, then a high-pass.
///
/// The filters for other rates than 48 kHz come from the analogue ones behind the standard's table (De Man, "Evaluation
/// of implementations of the EBU R128 loudness measurement", AES 145, 2018). `Double`, since the high-pass at 38 Hz
/// would lose the sum of squares of quiet music in `Float`.
struct KWeighting {
  private var shelf: Biquad
  private var highPass: Biquad

  /// Filters for a sample rate.
  init(sampleRate: Double) {
    let shelfGain = backline_pow(10, 3.999_843_853_973_347 / 20)
    let middle = backline_pow(shelfGain, 0.499_666_774_154_541_6)
    let k = backline_tan(.pi * min(1681.974_450_955_533 / sampleRate, 0.49))
    let q = k / 0.707_175_236_955_419_6
    shelf = Biquad(
      b0: shelfGain + middle * q + k * k, b1: 2 * (k * k - shelfGain), b2: shelfGain - middle * q + k * k,
      a0: 1 + q + k * k, a1: 2 * (k * k - 1), a2: 1 - q + k * k)
    let low = backline_tan(.pi * 38.135_470_876_024_44 / sampleRate)
    let lowQ = low / 0.500_327_037_323_877_3
    let a0 = 1 + lowQ + low * low
    // The standard's numerator is 1, -2, 1, not scaled to unity gain.
    highPass = Biquad(b0: a0, b1: -2 * a0, b2: a0, a0: a0, a1: 2 * (low * low - 1), a2: 1 - lowQ + low * low)
  }

  /// Filters one frame.
  @inline(__always) @_noLocks
  mutating func process(_ frame: SIMD2<Double>) -> SIMD2<Double> { highPass.process(shelf.process(frame)) }

  /// Forgets the past.
  @_noLocks
  mutating func reset() {
    shelf.reset()
    highPass.reset()
  }
}

/// A second-order section in transposed direct form II, both channels in one vector.
private struct Biquad {
  private let b0, b1, b2, a1, a2: Double
  private var first = SIMD2<Double>(repeating: 0)
  private var second = SIMD2<Double>(repeating: 0)

  init(b0: Double, b1: Double, b2: Double, a0: Double, a1: Double, a2: Double) {
    self.b0 = b0 / a0
    self.b1 = b1 / a0
    self.b2 = b2 / a0
    self.a1 = a1 / a0
    self.a2 = a2 / a0
  }

  @inline(__always) @_noLocks
  mutating func process(_ input: SIMD2<Double>) -> SIMD2<Double> {
    let output = b0 * input + first
    first = b1 * input - a1 * output + second
    second = b2 * input - a2 * output
    return output
  }

  @_noLocks
  mutating func reset() {
    first = SIMD2(repeating: 0)
    second = SIMD2(repeating: 0)
  }
}
