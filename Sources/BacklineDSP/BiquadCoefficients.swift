import CBackline

/// The transfer function of a second-order section, (b0 + b1 z⁻¹ + b2 z⁻²) / (1 + a1 z⁻¹ + a2 z⁻²).
///
/// After Robert Bristow-Johnson, "Cookbook formulae for audio equalizer biquad filter coefficients". All arithmetic is in
/// Double: at 20 Hz and 192 kHz the poles are within 1e-8 of the unit circle.
struct BiquadCoefficients {
  var b0: Double
  var b1: Double
  var b2: Double
  var a1: Double
  var a2: Double

  /// What leaves the signal as it is.
  static var identity: BiquadCoefficients { @_noLocks get { BiquadCoefficients(b0: 1, b1: 0, b2: 0, a1: 0, a2: 0) } }

  @_noLocks
  init(b0: Double, b1: Double, b2: Double, a1: Double, a2: Double) {
    self.b0 = b0
    self.b1 = b1
    self.b2 = b2
    self.a1 = a1
    self.a2 = a2
  }

  @_noLocks
  private init(_ b0: Double, _ b1: Double, _ b2: Double, over a0: Double, _ a1: Double, _ a2: Double) {
    self.b0 = b0 / a0
    self.b1 = b1 / a0
    self.b2 = b2 / a0
    self.a1 = a1 / a0
    self.a2 = a2 / a0
  }

  /// A filter of `type`. The frequency (Hz) is held between 1 Hz and 0.49 of the rate, `q` between 0.01 and 100, `gain` (dB)
  /// between -120 and 40, which keeps every coefficient finite and both poles inside the unit circle.
  @_noLocks
  init(_ type: EqualizerFilterType, frequency: Double, gain: Double, q: Double, sampleRate: Double) {
    let angle = 2 * .pi * min(max(frequency, 1), 0.49 * sampleRate) / sampleRate
    let c = backline_cos(angle)
    let s = backline_sin(angle)
    let alpha = s / (2 * (type.usesQ ? min(max(q, 0.01), 100) : backline_sqrt(0.5)))
    let level = min(max(gain, -120), 40)
    switch type {
    case .lowPass, .resonantLowPass:
      self.init((1 - c) / 2, 1 - c, (1 - c) / 2, over: 1 + alpha, -2 * c, 1 - alpha)
    case .highPass, .resonantHighPass:
      self.init((1 + c) / 2, -1 - c, (1 + c) / 2, over: 1 + alpha, -2 * c, 1 - alpha)
    case .bandPass:
      self.init(alpha, 0, -alpha, over: 1 + alpha, -2 * c, 1 - alpha)
    case .bandStop:
      self.init(1, -2 * c, 1, over: 1 + alpha, -2 * c, 1 - alpha)
    case .parametric:
      let a = backline_pow(10, level / 40)
      self.init(1 + alpha * a, -2 * c, 1 - alpha * a, over: 1 + alpha / a, -2 * c, 1 - alpha / a)
    case .lowShelf, .resonantLowShelf:
      self.init(shelf: backline_pow(10, level / 40), alpha, c)
    case .highShelf, .resonantHighShelf:
      // A high shelf is a low shelf seen from the other end of the spectrum: cosine and odd coefficients change sign.
      self.init(shelf: backline_pow(10, level / 40), alpha, -c)
      b1 = -b1
      a1 = -a1
    }
  }

  @_noLocks
  private init(shelf a: Double, _ alpha: Double, _ c: Double) {
    let root = 2 * backline_sqrt(a) * alpha
    self.init(
      a * ((a + 1) - (a - 1) * c + root), 2 * a * ((a - 1) - (a + 1) * c), a * ((a + 1) - (a - 1) * c - root),
      over: (a + 1) + (a - 1) * c + root, -2 * ((a - 1) + (a + 1) * c), (a + 1) + (a - 1) * c - root)
  }

  /// The change per frame that leads to `target` in `frames` frames.
  ///
  /// On the straight line between two stable filters every filter is stable, because the stable pairs (a1, a2) form a
  /// triangle.
  @_noLocks
  func step(to target: BiquadCoefficients, over frames: Double) -> BiquadCoefficients {
    BiquadCoefficients(
      b0: (target.b0 - b0) / frames, b1: (target.b1 - b1) / frames, b2: (target.b2 - b2) / frames,
      a1: (target.a1 - a1) / frames, a2: (target.a2 - a2) / frames)
  }

  /// The frames until what is left of a history of height `level` has fallen below -140 dB, after the input has ended.
  ///
  /// The response goes with rⁿ, r being the larger pole's radius, times at most 1 / sin θ for a pair of complex poles at the
  /// angle θ, and at most n + 1 for any; 32 / (1 - r) stands for that n.
  @_noLocks
  func decay(from level: Double) -> Double {
    let discriminant = a1 * a1 / 4 - a2
    let isComplex = discriminant < 0
    let root = backline_sqrt(abs(discriminant))
    let radius = min(isComplex ? backline_sqrt(a2) : abs(a1) / 2 + root, 1 - 1e-12)
    if radius <= 0 { return 2 }
    let slow = 32 / (1 - radius)
    let growth = max(1, isComplex ? min(radius / root, slow) : slow)
    return 2 + max(0, backline_log(level * growth * 1e7)) / -backline_log(radius)
  }
}
