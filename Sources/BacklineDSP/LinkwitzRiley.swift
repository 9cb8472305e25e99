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
  /// log2 of the frequency in Hz: a movement takes the same time for each octave, or it would be a jump where they are narrow.
  private var octaves: Ramp
  private var coefficients: StereoFilterCoefficients
  private var first = StereoFilterState(first: .zero, second: .zero)
  private var second = StereoFilterState(first: .zero, second: .zero)

  @_noLocks
  init(frequency: Float, sampleRate: Double) {
    self.sampleRate = sampleRate
    octaves = Ramp(backline_log2f(frequency))
    coefficients = Self.coefficients(octaves.value, sampleRate)
  }

  /// The coefficients for log2 of a frequency in Hz.
  @_noLocks
  private static func coefficients(_ octaves: Float, _ sampleRate: Double) -> StereoFilterCoefficients {
    let warped = backline_tan(.pi * turns(octaves, sampleRate))
    return backline_filter_coefficients(
      SIMD2(repeating: warped), SIMD2(repeating: 1.414_213_562_373_095_1))
  }

  /// The part of the sample rate for log2 of a frequency in Hz.
  @_noLocks
  private static func turns(_ octaves: Float, _ sampleRate: Double) -> Double {
    max(1e-5, min(Double(backline_exp2f(octaves)) / sampleRate, 0.49))
  }

  @_noLocks
  mutating func move(to frequency: Float, over frames: Int32) {
    octaves.move(to: backline_log2f(frequency), over: frames)
    if octaves.isSettled { coefficients = Self.coefficients(octaves.value, sampleRate) }
  }

  /// Moves on by one frame.
  @inline(__always) @_noLocks
  mutating func advance() {
    if octaves.isSettled { return }
    octaves.advance()
    coefficients = Self.coefficients(octaves.value, sampleRate)
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
    octaves.settle()
    coefficients = Self.coefficients(octaves.value, sampleRate)
    first = StereoFilterState(first: .zero, second: .zero)
    second = first
  }

  /// The frames until the sound has fallen below -140 dB.
  var tail: Double {
    @_noLocks get {
      let level = 4 * max(1, max(first.level, second.level))
      let frequency = Self.turns(min(octaves.value, octaves.target), sampleRate) * sampleRate
      let prototype = BiquadCoefficients(.lowPass, frequency: frequency, gain: 0, q: 1, sampleRate: sampleRate)
      return 1.5 * prototype.decay(from: level)
    }
  }
}
