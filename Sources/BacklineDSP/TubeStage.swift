import BacklineRealtime

/// One stage of an amplifier: gain, the bend of a valve around its bias, the low-pass of its input capacitance and the
/// coupling capacitor behind it, for both channels at a high rate.
///
/// Between stages stands what stray capacitance does, a pole at 40 kHz: beyond hearing, and it keeps what the bend before has made
/// near the high rate's middle from folding back in the next.
struct TubeStage {
  private var left = AntialiasedShaper()
  private var right = AntialiasedShaper()
  private var coupling = OnePole()
  private var miller = OnePole()
  private var stray = OnePole()
  private let curve: Int32
  private let bias: Double
  private let rest: Double

  /// `bias` moves the resting point off the middle of the curve; frequencies in Hz.
  init(curve: Int32, bias: Double, coupling couplingFrequency: Float, miller millerFrequency: Float, sampleRate: Double)
  {
    self.curve = curve
    self.bias = bias
    rest = AntialiasedShaper.rest(curve, bias)
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
    let bent = SIMD2(
      Float(left.next(curve, Double(x.x) + bias) - rest), Float(right.next(curve, Double(x.y) + bias) - rest))
    return coupling.highPass(bent)
  }

  @_noLocks
  mutating func clear() {
    left.reset(curve, bias: bias)
    right.reset(curve, bias: bias)
    coupling.reset()
    miller.reset()
    stray.reset()
  }
}
