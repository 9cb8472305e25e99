import BacklineRealtime
import CBackline

/// Chooses what each channel carries: a matrix of four gains, all of which move smoothly.
public struct ChannelMap: ProcessingUnit, ~Copyable {
  enum Parameter: Int { case leftSource, rightSource }

  private static let sources = ["left", "right", "sum", "difference", "none"]

  public static let description = UnitDescription(
    kind: "channelMap", title: "Channel Map",
    summary: "Swaps the channels, makes mono of them, takes one for both, or makes mid and side of left and right.",
    inputs: [.init("input")], outputs: [.init("output")],
    parameters: [
      .discrete(
        "leftSource",
        "What the left output carries: a channel, half the sum (mono, mid), half the difference (side), or nothing.",
        sources, default: 0),
      .discrete(
        "rightSource",
        "What the right output carries: a channel, half the sum (mono, mid), half the difference (side), or nothing.",
        sources, default: 1),
    ],
    make: { UnitInstance(ChannelMap.self, $0) })

  public static let functions = UnitFunctions(
    render: channelMapRender, set: channelMapSet, reset: channelMapReset, tail: channelMapTail)

  /// How much of the left and the right input an output carries.
  private struct Row {
    var left: Ramp
    var right: Ramp

    @_noLocks
    init(_ source: Int32) {
      let gains = Self.gains(source)
      left = Ramp(gains.left)
      right = Ramp(gains.right)
    }

    var isSettled: Bool { @inline(__always) @_noLocks get { left.isSettled && right.isSettled } }

    @_noLocks
    private static func gains(_ source: Int32) -> PanLaw.Gains {
      switch source {
      case 0: (1, 0)
      case 1: (0, 1)
      case 2: (0.5, 0.5)
      case 3: (0.5, -0.5)
      default: (0, 0)
      }
    }

    @_noLocks
    mutating func move(to value: Float, over frames: Int32) {
      let gains = Self.gains(Int32(max(0, min(value, 4)) + 0.5))
      left.move(to: gains.left, over: frames)
      right.move(to: gains.right, over: frames)
    }

    @_noLocks
    mutating func settle() {
      left.settle()
      right.settle()
    }

    @inline(__always) @_noLocks
    mutating func next(_ x: Float, _ y: Float) -> Float { x * left.next() + y * right.next() }
  }

  private var left = Row(0)
  private var right = Row(1)

  public init(_ format: UnitFormat) {}

  @_noLocks
  mutating func render(_ block: borrowing RenderBlock) {
    let count = Int(block.frameCount)
    let leftIn = block.input(0, 0), rightIn = block.input(0, 1)
    let leftOut = block.output(0, 0), rightOut = block.output(0, 1)
    var start = 0
    while start < count && !(left.isSettled && right.isSettled) {
      let x = leftIn[start], y = rightIn[start]
      leftOut[start] = left.next(x, y)
      rightOut[start] = right.next(x, y)
      start &+= 1
    }
    let a = left.left.value, b = left.right.value, c = right.left.value, d = right.right.value
    for i in start..<max(start, count) {
      let x = leftIn[i], y = rightIn[i]
      leftOut[i] = x * a + y * b
      rightOut[i] = x * c + y * d
    }
  }

  @_noLocks
  mutating func set(_ parameter: Int, to value: Float, over rampFrames: Int32) {
    switch Parameter(rawValue: parameter) {
    case .leftSource: left.move(to: value, over: rampFrames)
    case .rightSource: right.move(to: value, over: rampFrames)
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
private func channelMapRender(_ state: UnsafeMutableRawPointer, _ block: UnsafePointer<RenderBlock>) {
  state.assumingMemoryBound(to: ChannelMap.self).pointee.render(block.pointee)
}

@_noLocks
private func channelMapSet(_ state: UnsafeMutableRawPointer, _ parameter: Int32, _ value: Float, _ rampFrames: Int32) {
  state.assumingMemoryBound(to: ChannelMap.self).pointee.set(Int(parameter), to: value, over: rampFrames)
}

@_noLocks
private func channelMapReset(_ state: UnsafeMutableRawPointer) {
  state.assumingMemoryBound(to: ChannelMap.self).pointee.reset()
}

@_noLocks
private func channelMapTail(_ state: UnsafeMutableRawPointer) -> Int64 { 0 }
