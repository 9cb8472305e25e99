import BacklineRealtime
import CBackline

/// One crossover of the fourth order: two bands, 24 dB an octave, each 6 dB down at the frequency, whose sum has the level of
/// the input at every frequency.
///
/// S. H. Linkwitz, "Active crossover networks for noncoincident drivers", J. Audio Eng. Soc. 24 (1976): the low band is a
/// Butterworth low-pass twice over. The squares of both Butterworth filters add up to an all-pass of the second order, so the
/// high band is that all-pass less the low band: exact in Double, and so is the sum while the frequency moves.
struct LinkwitzRiley {
  private let sampleRate: Double
  /// tan(π f / rate).
  private var warped: Ramp
  private var coefficients: StereoFilterCoefficients
  private var first = StereoFilterState(first: .zero, second: .zero)
  private var second = StereoFilterState(first: .zero, second: .zero)

  @_noLocks
  init(frequency: Float, sampleRate: Double) {
    self.sampleRate = sampleRate
    warped = Ramp(Self.warped(frequency, sampleRate))
    coefficients = Self.coefficients(warped.value)
  }

  @_noLocks
  private static func warped(_ frequency: Float, _ sampleRate: Double) -> Float {
    Float(backline_tan(.pi * max(1e-5, min(Double(frequency) / sampleRate, 0.49))))
  }

  @inline(__always) @_noLocks
  private static func coefficients(_ warped: Float) -> StereoFilterCoefficients {
    backline_filter_coefficients(SIMD2(repeating: Double(warped)), SIMD2(repeating: 1.414_213_562_373_095_1))
  }

  @_noLocks
  mutating func move(to frequency: Float, over frames: Int32) {
    warped.move(to: Self.warped(frequency, sampleRate), over: frames)
    if warped.isSettled { coefficients = Self.coefficients(warped.value) }
  }

  /// Moves on by one frame.
  @inline(__always) @_noLocks
  mutating func advance() {
    if warped.isSettled { return }
    warped.advance()
    coefficients = Self.coefficients(warped.value)
  }

  /// Both bands of one frame.
  @inline(__always) @_noLocks
  mutating func split(_ x: SIMD2<Double>) -> (low: SIMD2<Double>, high: SIMD2<Double>) {
    let once = backline_filter_next(&first, coefficients, x)
    let all = backline_filter_all(once, coefficients, x)
    let low = backline_filter_next(&second, coefficients, once.low).low
    return (low, backline_stereo_subtract(all, low))
  }

  /// The sum of both bands: what the other half of a tree has to pass to stay in step.
  @inline(__always) @_noLocks
  mutating func all(_ x: SIMD2<Double>) -> SIMD2<Double> {
    backline_filter_all(backline_filter_next(&first, coefficients, x), coefficients, x)
  }

  @_noLocks
  mutating func reset() {
    warped.settle()
    coefficients = Self.coefficients(warped.value)
    first = StereoFilterState(first: .zero, second: .zero)
    second = first
  }

  /// The frames until the sound has fallen below -140 dB.
  var tail: Double {
    @_noLocks get {
      let level = 4 * max(1, max(first.level, second.level))
      let frequency = backline_atan(Double(min(warped.value, warped.target))) / .pi * sampleRate
      let prototype = BiquadCoefficients(.lowPass, frequency: frequency, gain: 0, q: 1, sampleRate: sampleRate)
      return 1.5 * prototype.decay(from: level)
    }
  }
}
