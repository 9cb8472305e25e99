import BacklineRealtime
import CBackline

/// Notches that move: the input and a chain of 4 to 12 all-pass filters of the first order, together.
///
/// After Smith ("An allpass approach to digital phasing and flanging", ICMC 1984), each filter a trapezoidal integrator
/// (Zavalishin, "The Art of VA Filter Design", 2012), whose corner moves per sample. N filters make N/2 notches, where the
/// chain turns the phase by an odd number of half turns: tan(π f / rate) = tan(π corner / rate) · tan((2k + 1) π / 2N).
public struct Phaser: ProcessingUnit, ~Copyable {
  enum Parameter: Int { case wetDryMix, stages, frequency, depth, feedback, lfo }

  public static let description = UnitDescription(
    kind: "phaser", title: "Phaser", summary: "Notches that sweep through the sound.",
    inputs: [.init("input")], outputs: [.init("output")],
    parameters: [
      .init(
        "wetDryMix", "How much of the output has gone through the filters; half and half has the deepest notches.",
        0...100,
        default: 50, measure: .percent),
      .discrete("stages", "How many filters: every two make a notch.", ["4", "6", "8", "10", "12"]),
      .init(
        "frequency", "Where the notches lie in the middle of the sweep.", 50...8000, default: 700, measure: .hertz,
        taper: .logarithmic),
      .init("depth", "How far they sweep up and down.", 0...4, default: 1.5, measure: .octaves),
      .init("feedback", "Makes what is between the notches ring.", -95...95, default: 30, measure: .percent),
      StereoLFO.spread("How far the right side runs ahead: more is wider.", default: 0),
    ] + LFO.parameters(rate: 0.4),
    make: { UnitInstance(Phaser.self, $0) })

  public static let functions = UnitFunctions(
    render: phaserRender, set: phaserSet, reset: phaserReset, tail: phaserTail)

  private static var limit: Float { @_noLocks get { 4 } }
  private static var mostStages: Int { @_noLocks get { 12 } }

  private let sampleRate: Float
  /// What each filter remembers.
  private let states: UnsafeMutablePointer<SIMD2<Float>>
  private var lfo: StereoLFO
  private var mix = Ramp(0.5)
  private var stages = Crossfade(4)
  /// The corner in octaves over 1 Hz.
  private var corner: Ramp
  private var depth = Ramp(1.5)
  private var feedback = Ramp(0.3)
  private var back = SIMD2<Float>(repeating: 0)

  public init(_ format: UnitFormat) {
    sampleRate = Float(format.sampleRate)
    states = .allocate(capacity: Self.mostStages)
    states.initialize(repeating: .zero, count: Self.mostStages)
    lfo = StereoLFO(sampleRate: format.sampleRate, rate: 0.4, spread: 0)
    corner = Ramp(backline_log2f(700))
  }

  deinit { states.deallocate() }

  @_noLocks
  mutating func render(_ block: borrowing RenderBlock) {
    let left = block.input(0, 0), right = block.input(0, 1)
    let leftOut = block.output(0, 0), rightOut = block.output(0, 1)
    lfo.begin(at: block.frame)
    for i in 0..<max(0, Int(block.frameCount)) {
      let input = SIMD2(left[i], right[i])
      let octaves = lfo.next() * depth.next() + corner.next()
      let share = SIMD2(share(octaves.x), share(octaves.y))
      let sent = back * feedback.next()
      var signal = input + SIMD2(max(-Self.limit, min(sent.x, Self.limit)), max(-Self.limit, min(sent.y, Self.limit)))
      var old = signal
      let count = Int(stages.to), before = Int(stages.from)
      var stage = 0
      var wet = signal
      while stage < max(count, before) {
        let change = (signal - states[stage]) * share
        let low = change + states[stage]
        states[stage] = low + change
        signal = low * 2 - signal
        stage &+= 1
        if stage == count { wet = signal }
        if stage == before { old = signal }
      }
      if !stages.isSettled {
        wet = old + (wet - old) * stages.weight
        stages.advance()
      }
      back = wet
      let weight = mix.next()
      let output = input * (1 - weight) + wet * weight
      leftOut[i] = output.x
      rightOut[i] = output.y
    }
  }

  /// The integrator's share of the input for a corner in octaves over 1 Hz, held below 0.4 of the rate.
  @inline(__always) @_noLocks
  private func share(_ octaves: Float) -> Float {
    let x = .pi * min(FastMath.exp2(octaves) / sampleRate, 0.4)
    // tan x by Padé's approximant, within 0.01 % up to 0.25 of the rate.
    let square = x * x
    let tangent = x * (105 - 10 * square) / (105 - square * (45 - square))
    return tangent / (1 + tangent)
  }

  @_noLocks
  mutating func set(_ parameter: Int, to value: Float, over rampFrames: Int32) {
    switch Parameter(rawValue: parameter) {
    case .wetDryMix: mix.move(to: max(0, min(value / 100, 1)), over: rampFrames)
    case .stages: stages.move(to: 4 &+ 2 &* Int32(max(0, min(value, 4)) + 0.5), over: rampFrames)
    case .frequency: corner.move(to: backline_log2f(max(1, min(value, 50_000))), over: rampFrames)
    case .depth: depth.move(to: max(0, min(value, 8)), over: rampFrames)
    case .feedback: feedback.move(to: max(-0.95, min(value / 100, 0.95)), over: rampFrames)
    default: lfo.set(parameter &- Parameter.lfo.rawValue, to: value, over: rampFrames)
    }
  }

  @_noLocks
  mutating func reset() {
    mix.settle()
    stages.settle()
    corner.settle()
    depth.settle()
    feedback.settle()
    lfo.reset()
    for stage in 0..<Self.mostStages { states[stage] = .zero }
    back = .zero
  }

  /// The time that the lowest corners ring.
  @_noLocks
  func tail() -> Int64 { Tail.frames(3, sampleRate: Double(sampleRate)) }
}

@_noLocks
private func phaserRender(_ state: UnsafeMutableRawPointer, _ block: UnsafePointer<RenderBlock>) {
  state.assumingMemoryBound(to: Phaser.self).pointee.render(block.pointee)
}

@_noLocks
private func phaserSet(_ state: UnsafeMutableRawPointer, _ parameter: Int32, _ value: Float, _ rampFrames: Int32) {
  state.assumingMemoryBound(to: Phaser.self).pointee.set(Int(parameter), to: value, over: rampFrames)
}

@_noLocks
private func phaserReset(_ state: UnsafeMutableRawPointer) {
  state.assumingMemoryBound(to: Phaser.self).pointee.reset()
}

@_noLocks
private func phaserTail(_ state: UnsafeMutableRawPointer) -> Int64 {
  state.assumingMemoryBound(to: Phaser.self).pointee.tail()
}
