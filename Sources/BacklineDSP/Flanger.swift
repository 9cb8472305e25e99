import BacklineRealtime
import CBackline

/// A short moving delay against the input, which it can overtake: through-zero flanging, as with two tape machines.
///
/// - The dry part is late by 5 ms, which is the unit's latency; the wet part lies `delayTime` and the swing of `depth` behind
///   it, or before it where that is negative. Where both meet, a wet part that is inverted cancels the dry one.
/// - With `feedback` the comb of the wet part is sharpened by a loop as long as the distance (at least a frame).
/// - After Dattorro, "Effect design, part 2", JAES 45, 1997.
public struct Flanger: ProcessingUnit, ~Copyable {
  enum Parameter: Int { case wetDryMix, delayTime, depth, feedback, isInverted, lfo }

  public static let description = UnitDescription(
    kind: "flanger", title: "Flanger", summary: "A moving comb, as a jet in the sky; also through zero.",
    inputs: [.init("input")], outputs: [.init("output")],
    parameters: [
      .init(
        "wetDryMix", "How much of the output is delayed; half and half combs most deeply.", 0...100, default: 50,
        measure: .percent),
      .init(
        "delayTime", "The distance of the two in the middle of the swing: at 0 the swing goes through zero.", 0...0.01,
        default: 0.001, measure: .seconds, taper: .quadratic),
      .init(
        "depth", "How far the distance swings up and down.", 0...longestSwing, default: 0.001, measure: .seconds,
        taper: .quadratic),
      .init(
        "feedback", "Sharpens the comb; below 0 with its teeth in other places.", -95...95, default: 30,
        measure: .percent),
      .toggle(
        "isInverted", "Turns the delayed part over: the lows are thin, and at zero there is silence.", default: false),
      StereoLFO.spread("How far the right side runs ahead: more is wider.", default: 0),
    ] + LFO.parameters(rate: 0.2),
    latency: { rate, _ in Flanger.latency(rate) },
    make: { UnitInstance(Flanger.self, $0) })

  public static let functions = UnitFunctions(
    render: flangerRender, set: flangerSet, reset: flangerReset, tail: flangerTail)

  private static var longestSwing: Float { @_noLocks get { 0.005 } }
  private static var limit: Float { @_noLocks get { 4 } }

  /// How late the dry part is in frames: the longest swing, and the reach of the interpolation.
  private static func latency(_ sampleRate: Double) -> Int { Int(0.005 * sampleRate) + 2 }

  private let sampleRate: Float
  private let latency: Int
  private var line: SlidingLine
  private var dry: StereoDelayLine
  private var loop: SlidingLine
  private var lfo: StereoLFO
  private var mix = Ramp(0.5)
  private var delay: Ramp
  private var depth: Ramp
  private var feedback = Ramp(0.3)
  private var sign = Ramp(1)

  public init(_ format: UnitFormat) {
    sampleRate = Float(format.sampleRate)
    latency = Self.latency(format.sampleRate)
    line = SlidingLine(maximum: latency + Int(0.016 * format.sampleRate))
    loop = SlidingLine(maximum: Int(0.016 * format.sampleRate))
    dry = StereoDelayLine(maximum: latency)
    lfo = StereoLFO(sampleRate: format.sampleRate, rate: 0.2, spread: 0)
    delay = Ramp(0.001 * sampleRate)
    depth = Ramp(0.001 * sampleRate)
  }

  deinit {
    line.deallocate()
    loop.deallocate()
    dry.deallocate()
  }

  @_noLocks
  mutating func render(_ block: borrowing RenderBlock) {
    let left = block.input(0, 0), right = block.input(0, 1)
    let leftOut = block.output(0, 0), rightOut = block.output(0, 1)
    lfo.begin(at: block.frame)
    for i in 0..<max(0, Int(block.frameCount)) {
      let input = SIMD2(left[i], right[i])
      line.write(input)
      dry.write(input)
      let distance = lfo.next() * depth.next() + delay.next()
      let part = line.read(distance + Float(latency))
      // What was written one frame ago is at distance 1 of the frame that is written now.
      let span = SIMD2(max(2, abs(distance.x)), max(2, abs(distance.y))) - 1
      let sent = loop.read(span) * feedback.next()
      let wet = part + SIMD2(max(-Self.limit, min(sent.x, Self.limit)), max(-Self.limit, min(sent.y, Self.limit)))
      loop.write(wet)
      let weight = mix.next()
      let output = dry.read(latency) * (1 - weight) + wet * (weight * sign.next())
      leftOut[i] = output.x
      rightOut[i] = output.y
    }
  }

  @_noLocks
  mutating func set(_ parameter: Int, to value: Float, over rampFrames: Int32) {
    switch Parameter(rawValue: parameter) {
    case .wetDryMix: mix.move(to: max(0, min(value / 100, 1)), over: rampFrames)
    case .delayTime: SlidingLine.glide(&delay, to: max(0, min(value, 0.01)) * sampleRate, over: rampFrames)
    case .depth:
      SlidingLine.glide(&depth, to: max(0, min(value, Self.longestSwing)) * sampleRate, over: rampFrames)
    case .feedback: feedback.move(to: max(-0.95, min(value / 100, 0.95)), over: rampFrames)
    case .isInverted: sign.move(to: value < 0.5 ? 1 : -1, over: rampFrames)
    default: lfo.set(parameter &- Parameter.lfo.rawValue, to: value, over: rampFrames)
    }
  }

  @_noLocks
  mutating func reset() {
    mix.settle()
    delay.settle()
    depth.settle()
    feedback.settle()
    sign.settle()
    lfo.reset()
    line.clear()
    loop.clear()
    dry.clear()
  }

  /// The delays, and the time until the rounds of the feedback are below -140 dB.
  @_noLocks
  func tail() -> Int64 {
    let back = Double(max(abs(feedback.value), abs(feedback.target)))
    let rounds = back > 0 ? backline_log(1e-8) / backline_log(back) + 2 : 2
    let longest = Double(max(delay.value, delay.target) + max(depth.value, depth.target) + 4)
    return Int64(longest * rounds) &+ Int64(latency) &+ 8
  }
}

@_noLocks
private func flangerRender(_ state: UnsafeMutableRawPointer, _ block: UnsafePointer<RenderBlock>) {
  state.assumingMemoryBound(to: Flanger.self).pointee.render(block.pointee)
}

@_noLocks
private func flangerSet(_ state: UnsafeMutableRawPointer, _ parameter: Int32, _ value: Float, _ rampFrames: Int32) {
  state.assumingMemoryBound(to: Flanger.self).pointee.set(Int(parameter), to: value, over: rampFrames)
}

@_noLocks
private func flangerReset(_ state: UnsafeMutableRawPointer) {
  state.assumingMemoryBound(to: Flanger.self).pointee.reset()
}

@_noLocks
private func flangerTail(_ state: UnsafeMutableRawPointer) -> Int64 {
  state.assumingMemoryBound(to: Flanger.self).pointee.tail()
}
