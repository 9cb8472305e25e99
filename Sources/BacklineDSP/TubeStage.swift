import BacklineRealtime

/// One stage of an amplifier: gain, the bend of a valve around its bias, the low-pass of its input capacitance and the
/// coupling capacitor behind it, for both channels at a high rate.
struct TubeStage {
  private var left = AntialiasedShaper()
  private var right = AntialiasedShaper()
  private var coupling = OnePole()
  private var miller = OnePole()
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
    clear()
  }

  /// One frame; the output is one frame late.
  @inline(__always) @_noLocks
  mutating func next(_ input: SIMD2<Float>, gain: Float) -> SIMD2<Float> {
    let x = miller.lowPass(input) * gain
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
  }
}
