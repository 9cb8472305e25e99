import BacklineRealtime
import CBackline

/// Multiplies with a tone: every frequency becomes its sum and its difference with it.
public struct RingModulator: ProcessingUnit, ~Copyable {
  enum Parameter: Int { case wetDryMix, lfo }

  public static let description = UnitDescription(
    kind: "ringModulator", title: "Ring modulator", summary: "Multiplies with a tone, for bells and robots.",
    inputs: [.init("input")], outputs: [.init("output")],
    parameters: [
      .init(
        "wetDryMix", "How much of the output is modulated: 0 is the input alone.", 0...100, default: 50,
        measure: .percent),
      StereoLFO.spread("How far the right side's tone runs ahead.", default: 0),
    ] + LFO.parameters(rate: 440, fastest: 10_000),
    make: { UnitInstance(RingModulator.self, $0) })

  public static let functions = UnitFunctions(
    render: ringModulatorRender, set: ringModulatorSet, reset: ringModulatorReset, tail: ringModulatorTail)

  private var mix = Ramp(0.5)
  private var lfo: StereoLFO

  public init(_ format: UnitFormat) { lfo = StereoLFO(sampleRate: format.sampleRate, rate: 440, spread: 0) }

  @_noLocks
  mutating func render(_ block: borrowing RenderBlock) {
    let left = block.input(0, 0), right = block.input(0, 1)
    let leftOut = block.output(0, 0), rightOut = block.output(0, 1)
    lfo.begin(at: block.frame)
    for i in 0..<max(0, Int(block.frameCount)) {
      let weight = mix.next()
      let gain = (lfo.next() - 1) * weight + 1
      leftOut[i] = left[i] * gain.x
      rightOut[i] = right[i] * gain.y
    }
  }

  @_noLocks
  mutating func set(_ parameter: Int, to value: Float, over rampFrames: Int32) {
    if parameter == Parameter.wetDryMix.rawValue {
      mix.move(to: max(0, min(value / 100, 1)), over: rampFrames)
    } else {
      lfo.set(parameter &- Parameter.lfo.rawValue, to: value, over: rampFrames)
    }
  }

  @_noLocks
  mutating func reset() {
    mix.settle()
    lfo.reset()
  }

  @_noLocks
  func tail() -> Int64 { 0 }
}

@_noLocks
private func ringModulatorRender(_ state: UnsafeMutableRawPointer, _ block: UnsafePointer<RenderBlock>) {
  state.assumingMemoryBound(to: RingModulator.self).pointee.render(block.pointee)
}

@_noLocks
private func ringModulatorSet(_ state: UnsafeMutableRawPointer, _ parameter: Int32, _ value: Float, _ rampFrames: Int32)
{
  state.assumingMemoryBound(to: RingModulator.self).pointee.set(Int(parameter), to: value, over: rampFrames)
}

@_noLocks
private func ringModulatorReset(_ state: UnsafeMutableRawPointer) {
  state.assumingMemoryBound(to: RingModulator.self).pointee.reset()
}

@_noLocks
private func ringModulatorTail(_ state: UnsafeMutableRawPointer) -> Int64 {
  state.assumingMemoryBound(to: RingModulator.self).pointee.tail()
}
