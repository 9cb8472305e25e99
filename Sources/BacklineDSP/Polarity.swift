import BacklineRealtime
import CBackline

/// Turns the signal upside down, each channel on its own. A switch passes through silence over its ramp.
public struct Polarity: ProcessingUnit, ~Copyable {
  enum Parameter: Int { case invertLeft, invertRight }

  public static let description = UnitDescription(
    kind: "polarity", title: "Polarity",
    summary: "Inverts one or both channels, where a microphone or a cable is the wrong way round.",
    inputs: [.init("input")], outputs: [.init("output")],
    parameters: [
      .toggle("invertLeft", "Turns the left channel upside down.", default: true),
      .toggle("invertRight", "Turns the right channel upside down.", default: true),
    ],
    make: { UnitInstance(Polarity.self, $0) })

  public static let functions = UnitFunctions(
    render: polarityRender, set: polaritySet, reset: polarityReset, tail: polarityTail)

  private var left = Ramp(-1)
  private var right = Ramp(-1)

  public init(_ format: UnitFormat) {}

  @_noLocks
  mutating func render(_ block: borrowing RenderBlock) {
    let count = Int(block.frameCount)
    let leftIn = block.input(0, 0), rightIn = block.input(0, 1)
    let leftOut = block.output(0, 0), rightOut = block.output(0, 1)
    var start = 0
    while start < count && !(left.isSettled && right.isSettled) {
      leftOut[start] = leftIn[start] * left.next()
      rightOut[start] = rightIn[start] * right.next()
      start &+= 1
    }
    SampleMath.scale(leftOut + start, leftIn + start, by: left.value, count: count &- start)
    SampleMath.scale(rightOut + start, rightIn + start, by: right.value, count: count &- start)
  }

  @_noLocks
  mutating func set(_ parameter: Int, to value: Float, over rampFrames: Int32) {
    let factor: Float = value >= 0.5 ? -1 : 1
    switch Parameter(rawValue: parameter) {
    case .invertLeft: left.move(to: factor, over: rampFrames)
    case .invertRight: right.move(to: factor, over: rampFrames)
    case nil: break
    }
  }

  @_noLocks
  mutating func reset() {
    left.settle()
    right.settle()
  }
}

@_noLocks
private func polarityRender(_ state: UnsafeMutableRawPointer, _ block: UnsafePointer<RenderBlock>) {
  state.assumingMemoryBound(to: Polarity.self).pointee.render(block.pointee)
}

@_noLocks
private func polaritySet(_ state: UnsafeMutableRawPointer, _ parameter: Int32, _ value: Float, _ rampFrames: Int32) {
  state.assumingMemoryBound(to: Polarity.self).pointee.set(Int(parameter), to: value, over: rampFrames)
}

@_noLocks
private func polarityReset(_ state: UnsafeMutableRawPointer) {
  state.assumingMemoryBound(to: Polarity.self).pointee.reset()
}

@_noLocks
private func polarityTail(_ state: UnsafeMutableRawPointer) -> Int64 { 0 }
