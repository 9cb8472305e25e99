import BacklineRealtime
import CBackline

/// Brings what comes in at ports of the rack's own to the signal: from outboard gear and other programs.
///
/// The bus `return` belongs to a bus of `input`: adding a node of this kind makes one, with ports named after the node. Offline
/// nothing comes back: the bus is silent.
public struct Return: ProcessingUnit, ~Copyable {
  enum Parameter: Int { case returnGain, throughGain }

  public static let description = UnitDescription(
    kind: "return", title: "Return",
    summary: "Adds what comes in through JACK ports of its own, from outboard gear or another program.",
    inputs: [.init("input", isOptional: true), .init("return", isOptional: true)], outputs: [.init("output")],
    parameters: [
      .init(
        "returnGain", "How loud it comes back; at the bottom of the range, not at all.", -96...24, default: 0,
        measure: .decibels),
      .init(
        "throughGain", "How loud the signal inside the rack goes on; at the bottom of the range, not at all.", -96...24,
        default: 0, measure: .decibels),
    ],
    outsideBus: .input(1),
    make: { UnitInstance(Return.self, $0) })

  public static let functions = UnitFunctions(
    render: returnRender, set: returnSet, reset: returnReset, tail: returnTail)

  private var back = Ramp(1)
  private var through = Ramp(1)

  public init(_ format: UnitFormat) {}

  @_noLocks
  mutating func render(_ block: borrowing RenderBlock) {
    let left = block.input(0, 0), right = block.input(0, 1)
    let leftBack = block.input(1, 0), rightBack = block.input(1, 1)
    let leftOut = block.output(0, 0), rightOut = block.output(0, 1)
    for i in 0..<max(0, Int(block.frameCount)) {
      let returned = back.next(), passed = through.next()
      leftOut[i] = left[i] * passed + leftBack[i] * returned
      rightOut[i] = right[i] * passed + rightBack[i] * returned
    }
  }

  @_noLocks
  mutating func set(_ parameter: Int, to value: Float, over rampFrames: Int32) {
    switch Parameter(rawValue: parameter) {
    case .returnGain: back.move(to: Decibels.gain(min(value, 40)), over: rampFrames)
    case .throughGain: through.move(to: Decibels.gain(min(value, 40)), over: rampFrames)
    case nil: break
    }
  }

  @_noLocks
  mutating func reset() {
    back.settle()
    through.settle()
  }
}

@_noLocks
private func returnRender(_ state: UnsafeMutableRawPointer, _ block: UnsafePointer<RenderBlock>) {
  state.assumingMemoryBound(to: Return.self).pointee.render(block.pointee)
}

@_noLocks
private func returnSet(_ state: UnsafeMutableRawPointer, _ parameter: Int32, _ value: Float, _ rampFrames: Int32) {
  state.assumingMemoryBound(to: Return.self).pointee.set(Int(parameter), to: value, over: rampFrames)
}

@_noLocks
private func returnReset(_ state: UnsafeMutableRawPointer) {
  state.assumingMemoryBound(to: Return.self).pointee.reset()
}

@_noLocks
private func returnTail(_ state: UnsafeMutableRawPointer) -> Int64 { 0 }
