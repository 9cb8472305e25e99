import BacklineRealtime
import CBackline

/// Gives the signal to ports of the rack's own, for outboard gear and other programs, and lets it go on.
///
/// The bus `send` belongs to a bus of `output`: adding a node of this kind makes one, with ports named after the node. What
/// comes back arrives one round through the gear later, which nobody can align: keep `throughGain` down where both would meet.
/// Offline there is nobody to send to: the bus is rendered and written nowhere.
public struct Send: ProcessingUnit, ~Copyable {
  enum Parameter: Int { case sendGain, throughGain }

  public static let description = UnitDescription(
    kind: "send", title: "Send",
    summary: "Sends the signal out through JACK ports of its own, to outboard gear or another program.",
    inputs: [.init("input")], outputs: [.init("output"), .init("send")],
    parameters: [
      .init(
        "sendGain", "How loud it goes out; at the bottom of the range, not at all.", -96...24, default: 0,
        measure: .decibels),
      .init(
        "throughGain", "How loud it goes on inside the rack; at the bottom of the range, not at all.", -96...24,
        default: 0, measure: .decibels),
    ],
    outsideBus: .output(1),
    make: { UnitInstance(Send.self, $0) })

  public static let functions = UnitFunctions(render: sendRender, set: sendSet, reset: sendReset, tail: sendTail)

  private var send = Ramp(1)
  private var through = Ramp(1)

  public init(_ format: UnitFormat) {}

  @_noLocks
  mutating func render(_ block: borrowing RenderBlock) {
    let left = block.input(0, 0), right = block.input(0, 1)
    let leftOut = block.output(0, 0), rightOut = block.output(0, 1)
    let leftSend = block.output(1, 0), rightSend = block.output(1, 1)
    for i in 0..<max(0, Int(block.frameCount)) {
      let sent = send.next(), passed = through.next()
      leftSend[i] = left[i] * sent
      rightSend[i] = right[i] * sent
      leftOut[i] = left[i] * passed
      rightOut[i] = right[i] * passed
    }
  }

  @_noLocks
  mutating func set(_ parameter: Int, to value: Float, over rampFrames: Int32) {
    switch Parameter(rawValue: parameter) {
    case .sendGain: send.move(to: Decibels.gain(min(value, 40)), over: rampFrames)
    case .throughGain: through.move(to: Decibels.gain(min(value, 40)), over: rampFrames)
    case nil: break
    }
  }

  @_noLocks
  mutating func reset() {
    send.settle()
    through.settle()
  }
}

@_noLocks
private func sendRender(_ state: UnsafeMutableRawPointer, _ block: UnsafePointer<RenderBlock>) {
  state.assumingMemoryBound(to: Send.self).pointee.render(block.pointee)
}

@_noLocks
private func sendSet(_ state: UnsafeMutableRawPointer, _ parameter: Int32, _ value: Float, _ rampFrames: Int32) {
  state.assumingMemoryBound(to: Send.self).pointee.set(Int(parameter), to: value, over: rampFrames)
}

@_noLocks
private func sendReset(_ state: UnsafeMutableRawPointer) {
  state.assumingMemoryBound(to: Send.self).pointee.reset()
}

@_noLocks
private func sendTail(_ state: UnsafeMutableRawPointer) -> Int64 { 0 }
