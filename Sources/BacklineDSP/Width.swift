import BacklineRealtime
import CBackline

/// Widens or narrows the stereo image by the level of the side signal.
///
/// Mid is half the sum and side half the difference of the channels (A. D. Blumlein, British patent 394 325, 1931). What is
/// added to the channels is the change of the side alone, so that a width of 100 % leaves the signal bit by bit as it is.
public struct Width: ProcessingUnit, ~Copyable {
  enum Parameter: Int { case width, monoBelow }

  public static let description = UnitDescription(
    kind: "width", title: "Stereo Width",
    summary: "Narrows the stereo image down to mono or widens it, by the level of what differs between the channels.",
    inputs: [.init("input")], outputs: [.init("output")],
    parameters: [
      .init(
        "width", "0 is mono, 100 leaves the image as it is, 200 doubles what differs between the channels.", 0...200,
        default: 100, measure: .percent),
      .init(
        "monoBelow", "The bass below this frequency is mono, at 6 dB an octave; at 0 all keeps its place.", 0...500,
        default: 0, measure: .hertz, taper: .quadratic),
    ],
    make: { UnitInstance(Width.self, $0) })

  public static let functions = UnitFunctions(
    render: widthRender, set: widthSet, reset: widthReset, tail: widthTail)

  private let sampleRate: Double
  private var width = Ramp(1)
  private var bass = OnePole()

  public init(_ format: UnitFormat) { sampleRate = format.sampleRate }

  @_noLocks
  mutating func render(_ block: borrowing RenderBlock) {
    let left = block.input(0, 0), right = block.input(0, 1)
    let leftOut = block.output(0, 0), rightOut = block.output(0, 1)
    for frame in 0..<max(0, Int(block.frameCount)) {
      let x = left[frame], y = right[frame]
      let side = 0.5 * x - 0.5 * y
      let wanted = bass.highPass(SIMD2(side, 0)).x * width.value
      let change = wanted - side
      leftOut[frame] = x + change
      rightOut[frame] = y - change
      width.advance()
      bass.coefficient.advance()
    }
  }

  @_noLocks
  mutating func set(_ parameter: Int, to value: Float, over rampFrames: Int32) {
    switch Parameter(rawValue: parameter) {
    case .width: width.move(to: max(0, min(value, 200)) / 100, over: rampFrames)
    case .monoBelow:
      bass.coefficient.move(to: OnePole.coefficient(cutoff: value, sampleRate: sampleRate), over: rampFrames)
    case nil: break
    }
  }

  @_noLocks
  mutating func reset() {
    width.settle()
    bass.reset()
  }

  /// The time in which the bass filter forgets a side signal of any level.
  @_noLocks
  func tail() -> Int64 {
    let coefficient = Double(min(bass.coefficient.value, bass.coefficient.target))
    if coefficient <= 1e-7 { return bass.coefficient.isSettled ? 0 : Tail.frames(1, sampleRate: sampleRate) }
    return Tail.frames(50 / coefficient / sampleRate, sampleRate: sampleRate)
  }
}

@_noLocks
private func widthRender(_ state: UnsafeMutableRawPointer, _ block: UnsafePointer<RenderBlock>) {
  state.assumingMemoryBound(to: Width.self).pointee.render(block.pointee)
}

@_noLocks
private func widthSet(_ state: UnsafeMutableRawPointer, _ parameter: Int32, _ value: Float, _ rampFrames: Int32) {
  state.assumingMemoryBound(to: Width.self).pointee.set(Int(parameter), to: value, over: rampFrames)
}

@_noLocks
private func widthReset(_ state: UnsafeMutableRawPointer) {
  state.assumingMemoryBound(to: Width.self).pointee.reset()
}

@_noLocks
private func widthTail(_ state: UnsafeMutableRawPointer) -> Int64 {
  state.assumingMemoryBound(to: Width.self).pointee.tail()
}
