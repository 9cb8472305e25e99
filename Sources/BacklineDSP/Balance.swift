import BacklineRealtime
import CBackline

/// The levels of the two channels against each other.
public struct Balance: ProcessingUnit, ~Copyable {
  enum Parameter: Int { case balance, leftGain, rightGain }

  public static let description = UnitDescription(
    kind: "balance", title: "Balance",
    summary: "Turns one side down against the other, and trims each; nothing is moved from side to side.",
    inputs: [.init("input")], outputs: [.init("output")],
    parameters: [
      .init("balance", "-1 leaves the left side only, 0 both, 1 the right side only.", -1...1, default: 0),
      .init(
        "leftGain", "How much louder or softer the left side gets; at the bottom of the range, silent.", -96...24,
        default: 0, measure: .decibels),
      .init(
        "rightGain", "How much louder or softer the right side gets; at the bottom of the range, silent.", -96...24,
        default: 0, measure: .decibels),
    ],
    make: { UnitInstance(Balance.self, $0) })

  public static let functions = UnitFunctions(
    render: balanceRender, set: balanceSet, reset: balanceReset, tail: balanceTail)

  private var balance = Ramp(0)
  private var left = Ramp(1)
  private var right = Ramp(1)

  public init(_ format: UnitFormat) {}

  @_noLocks
  mutating func render(_ block: borrowing RenderBlock) {
    let count = Int(block.frameCount)
    let leftIn = block.input(0, 0), rightIn = block.input(0, 1)
    let leftOut = block.output(0, 0), rightOut = block.output(0, 1)
    var start = 0
    while start < count && !(balance.isSettled && left.isSettled && right.isSettled) {
      let sides = PanLaw.balance(balance.next())
      leftOut[start] = leftIn[start] * (sides.left * left.next())
      rightOut[start] = rightIn[start] * (sides.right * right.next())
      start &+= 1
    }
    let sides = PanLaw.balance(balance.value)
    SampleMath.scale(leftOut + start, leftIn + start, by: sides.left * left.value, count: count &- start)
    SampleMath.scale(rightOut + start, rightIn + start, by: sides.right * right.value, count: count &- start)
  }

  @_noLocks
  mutating func set(_ parameter: Int, to value: Float, over rampFrames: Int32) {
    switch Parameter(rawValue: parameter) {
    case .balance: balance.move(to: max(-1, min(value, 1)), over: rampFrames)
    case .leftGain: left.move(to: Decibels.gain(min(value, 24)), over: rampFrames)
    case .rightGain: right.move(to: Decibels.gain(min(value, 24)), over: rampFrames)
    case nil: break
    }
  }

  @_noLocks
  mutating func reset() {
    balance.settle()
    left.settle()
    right.settle()
  }
}

@_noLocks
private func balanceRender(_ state: UnsafeMutableRawPointer, _ block: UnsafePointer<RenderBlock>) {
  state.assumingMemoryBound(to: Balance.self).pointee.render(block.pointee)
}

@_noLocks
private func balanceSet(_ state: UnsafeMutableRawPointer, _ parameter: Int32, _ value: Float, _ rampFrames: Int32) {
  state.assumingMemoryBound(to: Balance.self).pointee.set(Int(parameter), to: value, over: rampFrames)
}

@_noLocks
private func balanceReset(_ state: UnsafeMutableRawPointer) {
  state.assumingMemoryBound(to: Balance.self).pointee.reset()
}

@_noLocks
private func balanceTail(_ state: UnsafeMutableRawPointer) -> Int64 { 0 }
