import BacklineRealtime
import CBackline

/// A pitch that goes up and down.
///
/// A delay that swings by A seconds around a middle changes the pitch by the factor 1 + 2π · rate · A at its fastest (Dattorro,
/// "Effect design, part 2: delay-line modulation and chorus", JAES 45, 1997). A is worked out from the depth in cents and the
/// rate, so that the depth is what it says at every rate; for shapes other than the sine it is that of their first
/// harmonic's size. A is at most 20 ms, which limits slow vibratos.
public struct Vibrato: ProcessingUnit, ~Copyable {
  enum Parameter: Int { case depth, lfo }

  public static let description = UnitDescription(
    kind: "vibrato", title: "Vibrato", summary: "Makes the pitch go up and down.",
    inputs: [.init("input")], outputs: [.init("output")],
    parameters: [
      .init("depth", "How far up and down the pitch goes.", 0...200, default: 30, measure: .cents),
      StereoLFO.spread("How far the right side runs ahead.", default: 0),
    ] + LFO.parameters(rate: 5),
    make: { UnitInstance(Vibrato.self, $0) })

  public static let functions = UnitFunctions(
    render: vibratoRender, set: vibratoSet, reset: vibratoReset, tail: vibratoTail)

  private static var longest: Float { @_noLocks get { 0.02 } }

  private let sampleRate: Float
  private var line: SlidingLine
  private var lfo: StereoLFO
  private var cents: Float = 30
  private var rate: Float = 5
  private var division: Int32 = 0
  private var tempo: Float = 120
  /// Half the swing in frames.
  private var swing = Ramp(0)

  public init(_ format: UnitFormat) {
    sampleRate = Float(format.sampleRate)
    line = SlidingLine(maximum: Int(2 * Self.longest * sampleRate) + 8)
    lfo = StereoLFO(sampleRate: format.sampleRate, rate: 5, spread: 0)
    swing = Ramp(wantedSwing())
  }

  deinit { line.deallocate() }

  @_noLocks
  private func wantedSwing() -> Float {
    let beats = TempoDivision.beats(division)
    let hertz = beats > 0 ? tempo / 60 / Float(beats) : rate
    let seconds = (backline_exp2f(cents / 1200) - 1) / (2 * .pi * max(hertz, 0.001))
    return max(0, min(seconds, Self.longest)) * sampleRate
  }

  @_noLocks
  mutating func render(_ block: borrowing RenderBlock) {
    let left = block.input(0, 0), right = block.input(0, 1)
    let leftOut = block.output(0, 0), rightOut = block.output(0, 1)
    lfo.begin(at: block.frame)
    for i in 0..<max(0, Int(block.frameCount)) {
      line.write(SIMD2(left[i], right[i]))
      let half = swing.next()
      let output = line.read((1 - lfo.next()) * half + SlidingLine.least)
      leftOut[i] = output.x
      rightOut[i] = output.y
    }
  }

  @_noLocks
  mutating func set(_ parameter: Int, to value: Float, over rampFrames: Int32) {
    let index = parameter &- Parameter.lfo.rawValue
    if parameter == Parameter.depth.rawValue {
      cents = max(0, min(value, 1200))
    } else {
      switch index {
      case 2: rate = max(0.001, min(value, 1000))
      case 3: division = Int32(max(0, min(value, 100)) + 0.5)
      case 4: tempo = max(1, min(value, 10_000))
      default: return lfo.set(index, to: value, over: rampFrames)
      }
    }
    // A wide swing that is still there must not go to and fro at the pace of a narrow one: half as fast as a delay that only
    // glides, and the rate along with it.
    let frames = SlidingLine.glide(&swing, to: wantedSwing(), over: rampFrames, reach: 4)
    if index >= 0 { lfo.set(index, to: value, over: frames) }
  }

  @_noLocks
  mutating func reset() {
    swing.settle()
    lfo.reset()
    line.clear()
  }

  @_noLocks
  func tail() -> Int64 { Int64(2 * Self.longest * sampleRate) &+ 4 }
}

@_noLocks
private func vibratoRender(_ state: UnsafeMutableRawPointer, _ block: UnsafePointer<RenderBlock>) {
  state.assumingMemoryBound(to: Vibrato.self).pointee.render(block.pointee)
}

@_noLocks
private func vibratoSet(_ state: UnsafeMutableRawPointer, _ parameter: Int32, _ value: Float, _ rampFrames: Int32) {
  state.assumingMemoryBound(to: Vibrato.self).pointee.set(Int(parameter), to: value, over: rampFrames)
}

@_noLocks
private func vibratoReset(_ state: UnsafeMutableRawPointer) {
  state.assumingMemoryBound(to: Vibrato.self).pointee.reset()
}

@_noLocks
private func vibratoTail(_ state: UnsafeMutableRawPointer) -> Int64 {
  state.assumingMemoryBound(to: Vibrato.self).pointee.tail()
}
