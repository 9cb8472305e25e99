import BacklineRealtime
import CBackline

/// Turns sibilants down: a compressor that hears the treble only.
///
/// The split-band method of U. Zölzer (ed.), "DAFX: Digital Audio Effects", 2nd ed., 2011, chapter 4.3, with a Linkwitz-Riley
/// crossover: the peak of the high band goes through the static curve and the smoother of `Compressor`, held to a range.
public struct DeEsser: ProcessingUnit, ~Copyable {
  enum Parameter: Int { case frequency, threshold, ratio, range, attackTime, releaseTime, mode, listen, gainReduction }

  public static let description = UnitDescription(
    kind: "deEsser", title: "De-esser", summary: "Softens s, sh and t in a voice, and harsh cymbals.",
    inputs: [.init("input")], outputs: [.init("output")],
    parameters: [
      .init(
        "frequency", "Where sibilance begins: about 5 kHz for a low voice, 7 kHz for a high one.", 1000...16_000,
        default: 6000, measure: .hertz, taper: .logarithmic),
      .init("threshold", "The level of the treble above which it works.", -60...0, default: -30, measure: .decibels),
      .init(
        "ratio", "How many dB above the threshold become one.", 1...20, default: 4, measure: .ratio,
        taper: .logarithmic),
      .init(
        "range", "How much it turns down at most; too much makes a lisp.", 0...30, default: 12, measure: .decibels),
      .init(
        "attackTime", "How fast it turns down: 63 % of the way in this time.", 0.000_1...0.1, default: 0.001,
        measure: .seconds, taper: .logarithmic),
      .init(
        "releaseTime", "How fast it turns up again: 63 % of the way in this time.", 0.005...1, default: 0.04,
        measure: .seconds, taper: .logarithmic),
      .discrete("mode", "split turns down the treble alone, wide the whole voice.", ["split", "wide"]),
      .toggle("listen", "Lets one hear what it works on, to find the frequency.", default: false),
      .reading("gainReduction", "How much it turns down now.", 0...240, default: 0, measure: .decibels),
    ],
    make: { UnitInstance(DeEsser.self, $0) })

  public static let functions = UnitFunctions(
    render: deEsserRender, set: deEsserSet, reset: deEsserReset, tail: deEsserTail)

  private let sampleRate: Double
  private let reading: UnsafeMutablePointer<Float>
  private var crossover: LinkwitzRiley
  private var threshold = Ramp(-30 / CompressorCurve.decibelsPerOctave)
  private var slope = Ramp(0.75)
  private var range = Ramp(12 / CompressorCurve.decibelsPerOctave)
  private var attack: Ramp
  private var release: Ramp
  private var wide = Ramp(0)
  private var listen = Ramp(0)
  private var smoother = ReductionSmoother()

  public init(_ format: UnitFormat) {
    sampleRate = format.sampleRate
    reading = format.readings + Parameter.gainReduction.rawValue
    crossover = LinkwitzRiley(frequency: 6000, sampleRate: sampleRate)
    attack = Ramp(TimeConstant.coefficient(0.001, sampleRate: sampleRate))
    release = Ramp(TimeConstant.coefficient(0.04, sampleRate: sampleRate))
  }

  @_noLocks
  mutating func render(_ block: borrowing RenderBlock) {
    let left = block.input(0, 0), right = block.input(0, 1)
    let leftOut = block.output(0, 0), rightOut = block.output(0, 1)
    for frame in 0..<max(0, Int(block.frameCount)) {
      let bands = crossover.split(backline_stereo_load(left + frame, right + frame))
      let curve = CompressorCurve(threshold: threshold.value, knee: 0, slope: slope.value)
      let wanted = curve.reduction(Float(bands.high.x), Float(bands.high.y))
      let most = range.value
      smoother.follow(wanted < most ? wanted : most, attack: attack.value, release: release.value)
      let factor = FastMath.exp2(-Float(smoother.reduction))
      let lowFactor = 1 + wide.value * (factor - 1)
      let heard = Double(listen.value)
      let sum = backline_stereo_add(
        backline_stereo_scale(bands.low, Double(lowFactor) * (1 - heard)),
        backline_stereo_scale(bands.high, Double(factor) + heard * (1 - Double(factor))))
      backline_stereo_store(backline_stereo_limit(sum), leftOut + frame, rightOut + frame)
      advance()
    }
    backline_store_float(reading, Float(smoother.reduction) * CompressorCurve.decibelsPerOctave)
  }

  @inline(__always) @_noLocks
  private mutating func advance() {
    crossover.advance()
    threshold.advance()
    slope.advance()
    range.advance()
    attack.advance()
    release.advance()
    wide.advance()
    listen.advance()
  }

  @_noLocks
  mutating func set(_ parameter: Int, to value: Float, over frames: Int32) {
    switch Parameter(rawValue: parameter) {
    case .frequency: crossover.move(to: max(100, value), over: frames)
    case .threshold: threshold.move(to: value / CompressorCurve.decibelsPerOctave, over: frames)
    case .ratio: slope.move(to: 1 - 1 / max(1, value), over: frames)
    case .range: range.move(to: max(0, min(value, 96)) / CompressorCurve.decibelsPerOctave, over: frames)
    case .attackTime: attack.move(to: TimeConstant.coefficient(value, sampleRate: sampleRate), over: frames)
    case .releaseTime: release.move(to: TimeConstant.coefficient(value, sampleRate: sampleRate), over: frames)
    case .mode: wide.move(to: value < 0.5 ? 0 : 1, over: frames)
    case .listen: listen.move(to: value < 0.5 ? 0 : 1, over: frames)
    case .gainReduction, nil: break
    }
  }

  @_noLocks
  mutating func reset() {
    crossover.reset()
    threshold.settle()
    slope.settle()
    range.settle()
    attack.settle()
    release.settle()
    wide.settle()
    listen.settle()
    smoother = ReductionSmoother()
    backline_store_float(reading, 0)
  }

  @_noLocks
  func tail() -> Int64 {
    let ringing = crossover.tail
    return (ringing < 1e12 ? Int64(ringing) : 1_000_000_000_000)
      &+ smoother.tail(release: min(release.value, release.target))
  }
}

@_noLocks
private func deEsserRender(_ state: UnsafeMutableRawPointer, _ block: UnsafePointer<RenderBlock>) {
  state.assumingMemoryBound(to: DeEsser.self).pointee.render(block.pointee)
}

@_noLocks
private func deEsserSet(_ state: UnsafeMutableRawPointer, _ parameter: Int32, _ value: Float, _ rampFrames: Int32) {
  state.assumingMemoryBound(to: DeEsser.self).pointee.set(Int(parameter), to: value, over: rampFrames)
}

@_noLocks
private func deEsserReset(_ state: UnsafeMutableRawPointer) {
  state.assumingMemoryBound(to: DeEsser.self).pointee.reset()
}

@_noLocks
private func deEsserTail(_ state: UnsafeMutableRawPointer) -> Int64 {
  state.assumingMemoryBound(to: DeEsser.self).pointee.tail()
}
