import BacklineRealtime
import CBackline

/// A level control.
public struct Gain: ProcessingUnit, ~Copyable {
  enum Parameter: Int { case gain }

  public static let description = UnitDescription(
    kind: "gain", title: "Gain", summary: "Makes the signal louder or softer.",
    inputs: [.init("input")], outputs: [.init("output")],
    parameters: [
      .init(
        "gain", "How much louder or softer; at the bottom of the range, silent.", -96...24, default: 0,
        measure: .decibels)
    ],
    make: { UnitInstance(Gain.self, $0) })

  public static let functions = UnitFunctions(render: gainRender, set: gainSet, reset: gainReset, tail: gainTail)

  private var level = Ramp(1)

  public init(_ format: UnitFormat) {}

  @_noLocks
  mutating func render(_ block: borrowing RenderBlock) {
    let left = block.input(0, 0), right = block.input(0, 1)
    let leftOut = block.output(0, 0), rightOut = block.output(0, 1)
    let count = Int(block.frameCount)
    var start = 0
    while start < count && !level.isSettled {
      let gain = level.next()
      leftOut[start] = left[start] * gain
      rightOut[start] = right[start] * gain
      start &+= 1
    }
    let gain = level.value
    for i in start..<count {
      leftOut[i] = left[i] * gain
      rightOut[i] = right[i] * gain
    }
  }

  @_noLocks
  mutating func set(_ parameter: Int, to value: Float, over rampFrames: Int32) {
    if parameter == Parameter.gain.rawValue { level.move(to: Decibels.gain(min(value, 24)), over: rampFrames) }
  }

  @_noLocks
  mutating func reset() { level.settle() }
}

@_noLocks
private func gainRender(_ state: UnsafeMutableRawPointer, _ block: UnsafePointer<RenderBlock>) {
  state.assumingMemoryBound(to: Gain.self).pointee.render(block.pointee)
}

@_noLocks
private func gainSet(_ state: UnsafeMutableRawPointer, _ parameter: Int32, _ value: Float, _ rampFrames: Int32) {
  state.assumingMemoryBound(to: Gain.self).pointee.set(Int(parameter), to: value, over: rampFrames)
}

@_noLocks
private func gainReset(_ state: UnsafeMutableRawPointer) {
  state.assumingMemoryBound(to: Gain.self).pointee.reset()
}

@_noLocks
private func gainTail(_ state: UnsafeMutableRawPointer) -> Int64 { 0 }
