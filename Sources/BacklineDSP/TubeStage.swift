import BacklineRealtime
import CBackline

/// One stage of an amplifier: gain, the bend of a valve around its bias, the low-pass of its input capacitance and the
/// coupling capacitor behind it, for both channels at a high rate.
///
/// Between stages stands what stray capacitance does, a pole at 40 kHz: beyond hearing, and it keeps what the bend before has made
/// near the high rate's middle from folding back in the next.
struct TubeStage {
  private var shaper = StereoShaper()
  private var coupling = OnePole()
  private var miller = OnePole()
  private var stray = OnePole()
  private let bias: Double
  private let rest: Double

  /// `bias` moves the resting point off the middle of the curve; frequencies in Hz.
  init(bias: Double, coupling couplingFrequency: Float, miller millerFrequency: Float, sampleRate: Double) {
    self.bias = bias
    rest = backline_shaper_rest(ShapingCurve.warm, StereoVector(bias, bias)).x
    coupling.coefficient = Ramp(OnePole.coefficient(cutoff: couplingFrequency, sampleRate: sampleRate))
    miller.coefficient = Ramp(OnePole.coefficient(cutoff: millerFrequency, sampleRate: sampleRate))
    stray.coefficient = Ramp(OnePole.coefficient(cutoff: Self.strayCutoff, sampleRate: sampleRate))
    clear()
  }

  /// The pole of stray capacitance in Hz.
  static var strayCutoff: Float { 40_000 }

  /// One frame; the output is one frame late.
  @inline(__always) @_noLocks
  mutating func next(_ input: SIMD2<Float>, gain: Float) -> SIMD2<Float> {
    let x = stray.lowPass(miller.lowPass(input)) * gain
    let bent = backline_shaper_next(
      &shaper, ShapingCurve.warm, StereoVector(Double(x.x) + bias, Double(x.y) + bias))
    return coupling.highPass(SIMD2(Float(bent.x - rest), Float(bent.y - rest)))
  }

  @_noLocks
  mutating func clear() {
    shaper = backline_shaper_start(ShapingCurve.warm, StereoVector(bias, bias))
    coupling.reset()
    miller.reset()
    stray.reset()
  }
}
