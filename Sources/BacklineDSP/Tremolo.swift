import BacklineRealtime
import CBackline

/// A level that goes up and down; with the sides apart, from side to side.
///
/// The gain is 1 - depth · (1 - lfo) / 2, so that full depth reaches silence and the loudest point is the input.
public struct Tremolo: ProcessingUnit, ~Copyable {
  enum Parameter: Int { case depth, lfo }

  public static let description = UnitDescription(
    kind: "tremolo", title: "Tremolo", summary: "Makes the level go up and down, or from side to side.",
    inputs: [.init("input")], outputs: [.init("output")],
    parameters: [
      .init("depth", "How far down it goes: at 100 to silence.", 0...100, default: 50, measure: .percent),
      StereoLFO.spread("How far the right side runs ahead: at 180 the sound goes from side to side.", default: 0),
    ] + LFO.parameters(rate: 5),
    make: { UnitInstance(Tremolo.self, $0) })

  public static let functions = UnitFunctions(
    render: tremoloRender, set: tremoloSet, reset: tremoloReset, tail: tremoloTail)

  private var depth = Ramp(0.5)
  private var lfo: StereoLFO

  public init(_ format: UnitFormat) { lfo = StereoLFO(sampleRate: format.sampleRate, rate: 5, spread: 0) }

  @_noLocks
  mutating func render(_ block: borrowing RenderBlock) {
    let left = block.input(0, 0), right = block.input(0, 1)
    let leftOut = block.output(0, 0), rightOut = block.output(0, 1)
    lfo.begin(at: block.frame)
    for i in 0..<max(0, Int(block.frameCount)) {
      let gain = 1 - (1 - lfo.next()) * (0.5 * depth.next())
      leftOut[i] = left[i] * gain.x
      rightOut[i] = right[i] * gain.y
    }
  }

  @_noLocks
  mutating func set(_ parameter: Int, to value: Float, over rampFrames: Int32) {
    if parameter == Parameter.depth.rawValue {
      depth.move(to: max(0, min(value / 100, 1)), over: rampFrames)
    } else {
      lfo.set(parameter &- Parameter.lfo.rawValue, to: value, over: rampFrames)
    }
  }

  @_noLocks
  mutating func reset() {
    depth.settle()
    lfo.reset()
  }

  @_noLocks
  func tail() -> Int64 { 0 }
}

@_noLocks
private func tremoloRender(_ state: UnsafeMutableRawPointer, _ block: UnsafePointer<RenderBlock>) {
  state.assumingMemoryBound(to: Tremolo.self).pointee.render(block.pointee)
}

@_noLocks
private func tremoloSet(_ state: UnsafeMutableRawPointer, _ parameter: Int32, _ value: Float, _ rampFrames: Int32) {
  state.assumingMemoryBound(to: Tremolo.self).pointee.set(Int(parameter), to: value, over: rampFrames)
}

@_noLocks
private func tremoloReset(_ state: UnsafeMutableRawPointer) {
  state.assumingMemoryBound(to: Tremolo.self).pointee.reset()
}

@_noLocks
private func tremoloTail(_ state: UnsafeMutableRawPointer) -> Int64 {
  state.assumingMemoryBound(to: Tremolo.self).pointee.tail()
}
