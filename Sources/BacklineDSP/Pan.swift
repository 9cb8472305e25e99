import BacklineRealtime
import CBackline

/// A position between left and right.
///
/// The gains of the three laws (`PanLaw`) are mixed by weights that move when the law is changed, so that neither a move
/// nor another law clicks.
public struct Pan: ProcessingUnit, ~Copyable {
  enum Parameter: Int { case pan, law }

  public static let description = UnitDescription(
    kind: "pan", title: "Pan",
    summary: """
      Places the signal between left and right. Balance turns down the far side only; constant power is 3 dB down in the \
      middle, linear 6 dB.
      """,
    inputs: [.init("input")], outputs: [.init("output")],
    parameters: [
      .init("pan", "The position, from -1 (left) through 0 (middle) to 1 (right).", -1...1, default: 0),
      .discrete(
        "law",
        """
        The gains of a position p: balance min(1, 1 - p) and min(1, 1 + p); constantPower cos and sin of (1 + p) 45°; \
        linear (1 - p) / 2 and (1 + p) / 2.
        """,
        ["balance", "constantPower", "linear"]),
    ],
    make: { UnitInstance(Pan.self, $0) })

  public static let functions = UnitFunctions(render: panRender, set: panSet, reset: panReset, tail: panTail)

  private var pan = Ramp(0)
  private var balance = Ramp(1)
  private var constantPower = Ramp(0)
  private var linear = Ramp(0)

  public init(_ format: UnitFormat) {}

  private var isSettled: Bool {
    @_noLocks get { pan.isSettled && balance.isSettled && constantPower.isSettled && linear.isSettled }
  }

  private var gains: (left: Float, right: Float) {
    @_noLocks get {
      let a = PanLaw.balance(pan.value), b = PanLaw.constantPower(pan.value), c = PanLaw.linear(pan.value)
      return (
        balance.value * a.left + constantPower.value * b.left + linear.value * c.left,
        balance.value * a.right + constantPower.value * b.right + linear.value * c.right
      )
    }
  }

  @_noLocks
  mutating func render(_ block: borrowing RenderBlock) {
    let left = block.input(0, 0), right = block.input(0, 1)
    let leftOut = block.output(0, 0), rightOut = block.output(0, 1)
    let count = Int(block.frameCount)
    var start = 0
    while start < count && !isSettled {
      let gain = gains
      leftOut[start] = left[start] * gain.left
      rightOut[start] = right[start] * gain.right
      pan.advance()
      balance.advance()
      constantPower.advance()
      linear.advance()
      start &+= 1
    }
    let gain = gains
    SampleMath.scale(leftOut + start, left + start, by: gain.left, count: count &- start)
    SampleMath.scale(rightOut + start, right + start, by: gain.right, count: count &- start)
  }

  @_noLocks
  mutating func set(_ parameter: Int, to value: Float, over rampFrames: Int32) {
    switch parameter {
    case Parameter.pan.rawValue:
      pan.move(to: min(1, max(-1, value)), over: rampFrames)
    case Parameter.law.rawValue:
      balance.move(to: value < 0.5 ? 1 : 0, over: rampFrames)
      constantPower.move(to: value >= 0.5 && value < 1.5 ? 1 : 0, over: rampFrames)
      linear.move(to: value >= 1.5 ? 1 : 0, over: rampFrames)
    default: break
    }
  }

  @_noLocks
  mutating func reset() {
    pan.settle()
    balance.settle()
    constantPower.settle()
    linear.settle()
  }
}

@_noLocks
private func panRender(_ state: UnsafeMutableRawPointer, _ block: UnsafePointer<RenderBlock>) {
  state.assumingMemoryBound(to: Pan.self).pointee.render(block.pointee)
}

@_noLocks
private func panSet(_ state: UnsafeMutableRawPointer, _ parameter: Int32, _ value: Float, _ rampFrames: Int32) {
  state.assumingMemoryBound(to: Pan.self).pointee.set(Int(parameter), to: value, over: rampFrames)
}

@_noLocks
private func panReset(_ state: UnsafeMutableRawPointer) {
  state.assumingMemoryBound(to: Pan.self).pointee.reset()
}

@_noLocks
private func panTail(_ state: UnsafeMutableRawPointer) -> Int64 { 0 }
