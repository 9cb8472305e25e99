import BacklineRealtime
import CBackline

/// What an amplifier is between its oversampling filters: three stages, tone stack and power stage, frame by frame in stereo.
struct AmplifierCircuit {
  var tone = ToneStack()
  private var first: TubeStage
  private var second: TubeStage
  private var third: TubeStage
  private var power = backline_shaper_start(ShapingCurve.soft, StereoVector(0, 0))
  private var bite = OnePole()
  private var stray = OnePole()
  private let fall: Float
  private let rise: Float
  /// What is drawn from the supply, 0 to 1.
  private var draw: Float = 0

  init(sampleRate: Double) {
    first = TubeStage(bias: 0.15, coupling: 60, miller: 16_000, sampleRate: sampleRate)
    second = TubeStage(bias: -0.1, coupling: 90, miller: 12_000, sampleRate: sampleRate)
    third = TubeStage(bias: 0.2, coupling: 25, miller: 10_000, sampleRate: sampleRate)
    fall = Float(1 - backline_exp(-1 / (0.015 * sampleRate)))
    rise = Float(1 - backline_exp(-1 / (0.150 * sampleRate)))
    bite.coefficient = Ramp(OnePole.coefficient(cutoff: 3000, sampleRate: sampleRate))
    stray.coefficient = Ramp(OnePole.coefficient(cutoff: TubeStage.strayCutoff, sampleRate: sampleRate))
  }

  /// One frame; the output is four frames late, one for each bend.
  @inline(__always) @_noLocks
  mutating func next(
    _ input: SIMD2<Float>, _ gain: Float, _ master: Float, _ sag: Float, _ bite: Float
  ) -> SIMD2<Float> {
    let one = first.next(input, gain: gain)
    let two = second.next(one, gain: gain)
    let three = third.next(two, gain: gain)
    let toned = tone.next(SIMD2(Double(three.x), Double(three.y)))
    var driven = SIMD2(Float(toned.x), Float(toned.y)) * master
    driven += self.bite.highPass(driven) * bite
    driven = stray.lowPass(driven)
    let headroom = 1 - sag * draw
    let scale = Double(1 / headroom)
    let bent = backline_shaper_next(
      &power, ShapingCurve.soft, StereoVector(Double(driven.x) * scale, Double(driven.y) * scale))
    let output = SIMD2(Float(bent.x), Float(bent.y)) * headroom
    let current = min(1, max(abs(output.x), abs(output.y)) * 1.4)
    draw += (current - draw) * (current > draw ? fall : rise)
    return output
  }

  /// Forgets the past and ends the tone stack's movement.
  @_noLocks
  mutating func clear() {
    tone.clear()
    first.clear()
    second.clear()
    third.clear()
    power = backline_shaper_start(ShapingCurve.soft, StereoVector(0, 0))
    bite.reset()
    stray.reset()
    draw = 0
  }
}
