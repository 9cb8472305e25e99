import BacklineRealtime
import CBackline

/// A rotating loudspeaker: a horn for the highs and a drum for the lows, each with an inertia of its own.
///
/// - The two sides of the input go in as one, as into the cabinet; a fourth-order Linkwitz-Riley crossover at 800 Hz divides it.
/// - Slow is 0.8 turns a second for the horn and 0.67 for the drum, fast 6.7 and 5.67. With `acceleration` 1 the horn goes
///   63 % of the way in 0.5 s and the drum in 1.6 s.
/// - Two microphones stand `width` apart around the cabinet (`Rotor`).
public struct Rotary: ProcessingUnit, ~Copyable {
  enum Parameter: Int { case speed, acceleration, depth, width, balance, wetDryMix }

  public static let description = UnitDescription(
    kind: "rotary", title: "Rotary speaker", summary: "A cabinet with a turning horn and drum, for organ and guitar.",
    inputs: [.init("input")], outputs: [.init("output")],
    parameters: [
      .discrete("speed", "Where the two are going.", ["brake", "slow", "fast"], default: 1),
      .init(
        "acceleration", "How fast they get there: 2 is twice as fast as the real one.", 0.2...5, default: 1,
        measure: .ratio, taper: .logarithmic),
      .init("depth", "How much of the turning is heard in pitch and level.", 0...100, default: 100, measure: .percent),
      .init("width", "How far apart the two microphones stand around it.", 0...180, default: 120, measure: .degrees),
      .init(
        "balance", "Between drum (-100) and horn (100).", -100...100, default: 0, measure: .percent),
      .init(
        "wetDryMix", "How much of the output comes from the cabinet: 0 is the input alone.", 0...100, default: 100,
        measure: .percent),
    ],
    make: { UnitInstance(Rotary.self, $0) })

  public static let functions = UnitFunctions(
    render: rotaryRender, set: rotarySet, reset: rotaryReset, tail: rotaryTail)

  private static var crossover: Double { @_noLocks get { 800 } }

  private let sampleRate: Double
  private var horn: Rotor
  private var drum: Rotor
  private var low1 = BiquadSection()
  private var low2 = BiquadSection()
  private var high1 = BiquadSection()
  private var high2 = BiquadSection()
  private var speed: Int32 = 1
  private var acceleration = 1.0
  private var depth = Ramp(1)
  private var width: Ramp
  private var hornGain = Ramp(1)
  private var drumGain = Ramp(1)
  private var mix = Ramp(1)

  public init(_ format: UnitFormat) {
    sampleRate = format.sampleRate
    horn = Rotor(sampleRate: sampleRate, radius: 0.18, shade: 0.7)
    drum = Rotor(sampleRate: sampleRate, radius: 0.10, shade: 0.5)
    width = Ramp(120.0 / 720)
    let q = backline_sqrt(0.5)
    let low = BiquadCoefficients(.resonantLowPass, frequency: Self.crossover, gain: 0, q: q, sampleRate: sampleRate)
    let high = BiquadCoefficients(.resonantHighPass, frequency: Self.crossover, gain: 0, q: q, sampleRate: sampleRate)
    low1.coefficients = StereoBiquad(low)
    low2.coefficients = StereoBiquad(low)
    high1.coefficients = StereoBiquad(high)
    high2.coefficients = StereoBiquad(high)
    aim()
    horn.reset()
    drum.reset()
  }

  deinit {
    horn.deallocate()
    drum.deallocate()
  }

  @_noLocks
  private mutating func aim() {
    horn.aim(speed == 0 ? 0 : speed == 1 ? 0.8 : 6.7, time: 0.5 / acceleration)
    drum.aim(speed == 0 ? 0 : speed == 1 ? 0.67 : 5.67, time: 1.6 / acceleration)
  }

  @_noLocks
  mutating func render(_ block: borrowing RenderBlock) {
    let left = block.input(0, 0), right = block.input(0, 1)
    let leftOut = block.output(0, 0), rightOut = block.output(0, 1)
    for i in 0..<max(0, Int(block.frameCount)) {
      let input = SIMD2(left[i], right[i])
      let mono = Double((input.x + input.y) * 0.5)
      let lows = low2.next(low1.next(SIMD2(mono, 0)))
      let highs = high2.next(high1.next(SIMD2(mono, 0)))
      let apart = UInt32(max(0, min(width.next(), 0.25)) * 0x1p32)
      let deep = depth.next()
      let wet =
        horn.next(Float(highs.x), width: apart, depth: deep) * hornGain.next()
        + drum.next(Float(lows.x), width: apart, depth: deep) * drumGain.next()
      let weight = mix.next()
      let output = input * (1 - weight) + wet * weight
      leftOut[i] = output.x
      rightOut[i] = output.y
    }
  }

  @_noLocks
  mutating func set(_ parameter: Int, to value: Float, over rampFrames: Int32) {
    switch Parameter(rawValue: parameter) {
    case .speed:
      speed = Int32(max(0, min(value, 2)) + 0.5)
      aim()
    case .acceleration:
      acceleration = Double(max(0.01, min(value, 100)))
      aim()
    case .depth: depth.move(to: max(0, min(value / 100, 1)), over: rampFrames)
    case .width: width.move(to: max(0, min(value, 180)) / 720, over: rampFrames)
    case .balance:
      let side = max(-1, min(value / 100, 1))
      hornGain.move(to: min(1, 1 + side), over: rampFrames)
      drumGain.move(to: min(1, 1 - side), over: rampFrames)
    case .wetDryMix: mix.move(to: max(0, min(value / 100, 1)), over: rampFrames)
    case nil: break
    }
  }

  @_noLocks
  mutating func reset() {
    depth.settle()
    width.settle()
    hornGain.settle()
    drumGain.settle()
    mix.settle()
    low1.clear()
    low2.clear()
    high1.clear()
    high2.clear()
    horn.reset()
    drum.reset()
  }

  /// The delays, and the crossover's ringing.
  @_noLocks
  func tail() -> Int64 { Tail.frames(0.1, sampleRate: sampleRate) &+ Int64(horn.longest) }
}

@_noLocks
private func rotaryRender(_ state: UnsafeMutableRawPointer, _ block: UnsafePointer<RenderBlock>) {
  state.assumingMemoryBound(to: Rotary.self).pointee.render(block.pointee)
}

@_noLocks
private func rotarySet(_ state: UnsafeMutableRawPointer, _ parameter: Int32, _ value: Float, _ rampFrames: Int32) {
  state.assumingMemoryBound(to: Rotary.self).pointee.set(Int(parameter), to: value, over: rampFrames)
}

@_noLocks
private func rotaryReset(_ state: UnsafeMutableRawPointer) {
  state.assumingMemoryBound(to: Rotary.self).pointee.reset()
}

@_noLocks
private func rotaryTail(_ state: UnsafeMutableRawPointer) -> Int64 {
  state.assumingMemoryBound(to: Rotary.self).pointee.tail()
}
