import BacklineRealtime
import CBackline

/// Several voices out of one: copies whose delay swings, each at a place of its own in the swing.
///
/// After Dattorro ("Effect design, part 2: delay-line modulation and chorus", JAES 45, 1997). Up to four voices, a part of a
/// turn apart, their sum as loud as one of them where they have nothing in common.
public struct Chorus: ProcessingUnit, ~Copyable {
  enum Parameter: Int { case wetDryMix, voices, delayTime, depth, feedback, lfo }

  public static let description = UnitDescription(
    kind: "chorus", title: "Chorus", summary: "Makes one voice sound like several.",
    inputs: [.init("input")], outputs: [.init("output")],
    parameters: [
      .init(
        "wetDryMix", "How much of the output is the other voices: 0 is the input alone.", 0...100, default: 50,
        measure: .percent),
      .count("voices", "How many voices come along.", 1...4, default: 2),
      .init(
        "delayTime", "How late the voices come in the middle of their swing.", 0.001...0.05, default: 0.015,
        measure: .seconds, taper: .logarithmic),
      .init("depth", "How far the voices swing around that.", 0...0.01, default: 0.002, measure: .seconds),
      .init(
        "feedback", "How much of the voices goes in again, for a sharper, hollow sound.", -90...90, default: 0,
        measure: .percent),
      StereoLFO.spread("How far the right side runs ahead: more is wider.", default: 90),
    ] + LFO.parameters(rate: 0.8),
    make: { UnitInstance(Chorus.self, $0) })

  public static let functions = UnitFunctions(
    render: chorusRender, set: chorusSet, reset: chorusReset, tail: chorusTail)

  private static var limit: Float { @_noLocks get { 4 } }

  private let sampleRate: Float
  private var line: SlidingLine
  private var lfo: StereoLFO
  private var mix = Ramp(0.5)
  private var delay: Ramp
  private var depth: Ramp
  private var feedback = Ramp(0)
  /// The loudness of each voice.
  private var first = Ramp(Chorus.level(2))
  private var second = Ramp(Chorus.level(2))
  private var third = Ramp(0)
  private var fourth = Ramp(0)
  private var back = SIMD2<Float>(repeating: 0)

  public init(_ format: UnitFormat) {
    sampleRate = Float(format.sampleRate)
    line = SlidingLine(maximum: Int(0.07 * format.sampleRate))
    lfo = StereoLFO(sampleRate: format.sampleRate, rate: 0.8, spread: 90)
    delay = Ramp(0.015 * sampleRate)
    depth = Ramp(0.002 * sampleRate)
  }

  deinit { line.deallocate() }

  @_noLocks
  private static func level(_ voices: Int) -> Float { Float(1 / backline_sqrt(Double(voices))) }

  @_noLocks
  mutating func render(_ block: borrowing RenderBlock) {
    let left = block.input(0, 0), right = block.input(0, 1)
    let leftOut = block.output(0, 0), rightOut = block.output(0, 1)
    lfo.begin(at: block.frame)
    for i in 0..<max(0, Int(block.frameCount)) {
      let input = SIMD2(left[i], right[i])
      let sent = feedback.next() * back
      line.write(input + SIMD2(max(-Self.limit, min(sent.x, Self.limit)), max(-Self.limit, min(sent.y, Self.limit))))
      let middle = SIMD2<Float>(repeating: delay.next())
      let swing = depth.next()
      // Quarters of a turn, so that two voices are half a turn apart.
      back = line.read(middle + lfo.values() * swing)
      var wet = back * first.next()
      wet += voice(second.next(), 1 << 63, middle, swing)
      wet += voice(third.next(), 1 << 62, middle, swing)
      wet += voice(fourth.next(), 3 << 62, middle, swing)
      lfo.advance()
      let weight = mix.next()
      let output = input * (1 - weight) + wet * weight
      leftOut[i] = output.x
      rightOut[i] = output.y
    }
  }

  @inline(__always) @_noLocks
  private func voice(_ loudness: Float, _ ahead: UInt64, _ middle: SIMD2<Float>, _ swing: Float) -> SIMD2<Float> {
    if loudness == 0 { return .zero }
    return line.read(middle + lfo.values(ahead: ahead) * swing) * loudness
  }

  @_noLocks
  mutating func set(_ parameter: Int, to value: Float, over rampFrames: Int32) {
    switch Parameter(rawValue: parameter) {
    case .wetDryMix: mix.move(to: max(0, min(value / 100, 1)), over: rampFrames)
    case .voices:
      let count = Int(max(1, min(value, 4)) + 0.5)
      let level = Self.level(count)
      first.move(to: level, over: rampFrames)
      second.move(to: count > 1 ? level : 0, over: rampFrames)
      third.move(to: count > 2 ? level : 0, over: rampFrames)
      fourth.move(to: count > 3 ? level : 0, over: rampFrames)
    case .delayTime: SlidingLine.glide(&delay, to: max(0, min(value, 0.05)) * sampleRate, over: rampFrames)
    case .depth: SlidingLine.glide(&depth, to: max(0, min(value, 0.01)) * sampleRate, over: rampFrames)
    case .feedback: feedback.move(to: max(-0.9, min(value / 100, 0.9)), over: rampFrames)
    default: lfo.set(parameter &- Parameter.lfo.rawValue, to: value, over: rampFrames)
    }
  }

  @_noLocks
  mutating func reset() {
    mix.settle()
    delay.settle()
    depth.settle()
    feedback.settle()
    first.settle()
    second.settle()
    third.settle()
    fourth.settle()
    lfo.reset()
    line.clear()
    back = .zero
  }

  /// The time until the rounds of the feedback are below -140 dB.
  @_noLocks
  func tail() -> Int64 {
    let loop = Double(max(abs(feedback.value), abs(feedback.target)))
    let rounds = loop > 0 ? backline_log(1e-8) / backline_log(loop) + 2 : 2
    let longest = max(delay.value, delay.target) + max(depth.value, depth.target) + 4
    return Int64(Double(longest) * rounds)
  }
}

@_noLocks
private func chorusRender(_ state: UnsafeMutableRawPointer, _ block: UnsafePointer<RenderBlock>) {
  state.assumingMemoryBound(to: Chorus.self).pointee.render(block.pointee)
}

@_noLocks
private func chorusSet(_ state: UnsafeMutableRawPointer, _ parameter: Int32, _ value: Float, _ rampFrames: Int32) {
  state.assumingMemoryBound(to: Chorus.self).pointee.set(Int(parameter), to: value, over: rampFrames)
}

@_noLocks
private func chorusReset(_ state: UnsafeMutableRawPointer) {
  state.assumingMemoryBound(to: Chorus.self).pointee.reset()
}

@_noLocks
private func chorusTail(_ state: UnsafeMutableRawPointer) -> Int64 {
  state.assumingMemoryBound(to: Chorus.self).pointee.tail()
}
