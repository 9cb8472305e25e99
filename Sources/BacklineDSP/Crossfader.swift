import BacklineRealtime
import CBackline

/// Goes over from one input to another.
///
/// The equal-power law (cosine and sine of the position's quarter turn) keeps the level of signals that have nothing to do
/// with each other, the linear one that of signals that are alike.
public struct Crossfader: ProcessingUnit, ~Copyable {
  enum Parameter: Int { case position, law }

  public static let description = UnitDescription(
    kind: "crossfade", title: "Crossfade", summary: "Fades between two inputs with one knob.",
    inputs: [.init("first", isOptional: true), .init("second", isOptional: true)], outputs: [.init("output")],
    parameters: [
      .init("position", "0 is the first input alone, 1 the second alone.", 0...1, default: 0),
      .discrete(
        "law",
        "equalPower keeps the level between different sounds, linear that between versions of one sound.",
        ["equalPower", "linear"]),
    ],
    make: { UnitInstance(Crossfader.self, $0) })

  public static let functions = UnitFunctions(
    render: crossfaderRender, set: crossfaderSet, reset: crossfaderReset, tail: crossfaderTail)

  private var position = Ramp(0)
  private var linear = Ramp(0)

  public init(_ format: UnitFormat) {}

  private var gains: PanLaw.Gains {
    @inline(__always) @_noLocks get {
      let pan = 2 * position.value - 1
      let a = PanLaw.constantPower(pan), b = PanLaw.linear(pan)
      let rest = 1 - linear.value
      return (rest * a.left + linear.value * b.left, rest * a.right + linear.value * b.right)
    }
  }

  @_noLocks
  mutating func render(_ block: borrowing RenderBlock) {
    let count = Int(block.frameCount)
    var start = 0
    while start < count && !(position.isSettled && linear.isSettled) {
      let gains = gains
      for channel in 0..<2 {
        block.output(0, channel)[start] =
          block.input(0, channel)[start] * gains.left + block.input(1, channel)[start] * gains.right
      }
      position.advance()
      linear.advance()
      start &+= 1
    }
    let gains = gains
    for channel in 0..<2 {
      let first = block.input(0, channel), second = block.input(1, channel), output = block.output(0, channel)
      for i in start..<max(start, count) { output[i] = first[i] * gains.left + second[i] * gains.right }
    }
  }

  @_noLocks
  mutating func set(_ parameter: Int, to value: Float, over rampFrames: Int32) {
    switch Parameter(rawValue: parameter) {
    case .position: position.move(to: max(0, min(value, 1)), over: rampFrames)
    case .law: linear.move(to: value < 0.5 ? 0 : 1, over: rampFrames)
    case nil: break
    }
  }

  @_noLocks
  mutating func reset() {
    position.settle()
    linear.settle()
  }
}

@_noLocks
private func crossfaderRender(_ state: UnsafeMutableRawPointer, _ block: UnsafePointer<RenderBlock>) {
  state.assumingMemoryBound(to: Crossfader.self).pointee.render(block.pointee)
}

@_noLocks
private func crossfaderSet(_ state: UnsafeMutableRawPointer, _ parameter: Int32, _ value: Float, _ rampFrames: Int32) {
  state.assumingMemoryBound(to: Crossfader.self).pointee.set(Int(parameter), to: value, over: rampFrames)
}

@_noLocks
private func crossfaderReset(_ state: UnsafeMutableRawPointer) {
  state.assumingMemoryBound(to: Crossfader.self).pointee.reset()
}

@_noLocks
private func crossfaderTail(_ state: UnsafeMutableRawPointer) -> Int64 { 0 }
