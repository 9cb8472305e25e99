import BacklineRealtime
import CBackline

/// Makes attacks harder or softer and sustain longer or shorter, whatever the level.
///
/// Differences of envelopes, as in the Transient Designer (R. Dieter, W. Gier; SPL, 1998) and in M. Zaunschirm, J. D. Reiss
/// and A. Klapuri, "A sub-band approach to modification of musical transients", Computer Music Journal 36 (2012): where a
/// fast envelope is above one with a slow attack, there is an attack; where one with a slow release is above the fast one,
/// there is sustain. Each difference, full at 12 dB, applies its gain in decibels. The fast envelope is that of the peaks of
/// the last 10 ms, so that a steady sound from 50 Hz up has neither.
public struct TransientShaper: ProcessingUnit, ~Copyable {
  enum Parameter: Int { case attack, sustain, attackTime, sustainTime, outputGain, wetDryMix }

  public static let description = UnitDescription(
    kind: "transientShaper", title: "Transient Shaper",
    summary: "Brings out or softens the attack of drums and plucked strings, and lengthens or shortens their sustain.",
    inputs: [.init("input")], outputs: [.init("output")],
    parameters: [
      .init("attack", "How much louder or softer attacks get.", -15...15, default: 0, measure: .decibels),
      .init(
        "sustain", "How much louder or softer what comes after the attack gets.", -24...24, default: 0,
        measure: .decibels),
      .init(
        "attackTime", "How long an attack lasts: short for drums, long for plucked strings.", 0.005...0.1,
        default: 0.02,
        measure: .seconds, taper: .logarithmic),
      .init(
        "sustainTime", "How long a sustain lasts.", 0.05...2, default: 0.4, measure: .seconds, taper: .logarithmic),
      .init("outputGain", "How much louder or softer the result gets.", -24...24, default: 0, measure: .decibels),
      .init(
        "wetDryMix", "How much of the output is shaped: below 100, the input runs in parallel.", 0...100, default: 100,
        measure: .percent),
    ],
    make: { UnitInstance(TransientShaper.self, $0) })

  public static let functions = UnitFunctions(
    render: transientShaperRender, set: transientShaperSet, reset: transientShaperReset, tail: transientShaperTail)

  /// The fastest rise and fall that count, in seconds.
  private static var fastAttack: Float { @_noLocks get { 0.001 } }
  private static var fastRelease: Float { @_noLocks get { 0.05 } }
  /// Below -100 dB all is alike.
  private static var floor: Float { @inline(__always) @_noLocks get { 1e-5 } }

  private let window: Int64
  private var largest: SlidingMaximum
  private var fast: EnvelopeFollower
  private var slowAttack: EnvelopeFollower
  private var slowRelease: EnvelopeFollower
  /// In octaves.
  private var attack = Ramp(0)
  private var sustain = Ramp(0)
  private var output = Ramp(1)
  private var mix = Ramp(1)

  public init(_ format: UnitFormat) {
    let rate = format.sampleRate
    window = Int64(0.01 * rate)
    largest = SlidingMaximum(length: Int(window))
    fast = EnvelopeFollower(attack: Self.fastAttack, release: Self.fastRelease, sampleRate: rate)
    slowAttack = EnvelopeFollower(attack: 0.02, release: 0, sampleRate: rate)
    slowRelease = EnvelopeFollower(attack: 0, release: 0.4, sampleRate: rate)
  }

  deinit { largest.deallocate() }

  @_noLocks
  mutating func render(_ block: borrowing RenderBlock) {
    let left = block.input(0, 0), right = block.input(0, 1)
    let leftOut = block.output(0, 0), rightOut = block.output(0, 1)
    for frame in 0..<max(0, Int(block.frameCount)) {
      let octaves = follow(left[frame], right[frame])
      let gain = 1 + mix.next() * (FastMath.exp2(octaves) * output.next() - 1)
      leftOut[frame] = left[frame] * gain
      rightOut[frame] = right[frame] * gain
    }
  }

  /// The gain of a frame in octaves.
  @inline(__always) @_noLocks
  private mutating func follow(_ left: Float, _ right: Float) -> Float {
    let peak = max(abs(left), abs(right))
    let envelope = fast.next(largest.next(peak < 1e6 ? peak : 1e6))
    let middle = Self.level(envelope)
    let rising = middle - Self.level(slowAttack.next(Float(envelope)))
    let falling = Self.level(slowRelease.next(Float(envelope))) - middle
    // While an attack rises out of what is left of the note before, there is no sustain.
    let isAttack = Self.share(rising)
    return attack.next() * isAttack + sustain.next() * (1 - isAttack) * Self.share(falling)
  }

  @inline(__always) @_noLocks
  private static func level(_ envelope: Double) -> Float {
    let value = Float(envelope)
    return FastMath.log2(value > floor ? value : floor)
  }

  /// How much of its gain a difference in octaves applies: all from 12 dB on.
  @inline(__always) @_noLocks
  private static func share(_ difference: Float) -> Float {
    let part = difference * 0.5
    return part > 0 ? (part < 1 ? part : 1) : 0
  }

  @_noLocks
  mutating func set(_ parameter: Int, to value: Float, over frames: Int32) {
    switch Parameter(rawValue: parameter) {
    case .attack: attack.move(to: max(-60, min(value, 60)) / CompressorCurve.decibelsPerOctave, over: frames)
    case .sustain: sustain.move(to: max(-60, min(value, 60)) / CompressorCurve.decibelsPerOctave, over: frames)
    case .attackTime: slowAttack.setAttack(value, over: frames)
    case .sustainTime: slowRelease.setRelease(value, over: frames)
    case .outputGain: output.move(to: Decibels.gain(min(value, 24)), over: frames)
    case .wetDryMix: mix.move(to: max(0, min(value, 100)) / 100, over: frames)
    case nil: break
    }
  }

  @_noLocks
  mutating func reset() {
    largest.reset()
    fast.reset()
    slowAttack.reset()
    slowRelease.reset()
    attack.settle()
    sustain.settle()
    output.settle()
    mix.settle()
  }

  /// The frames until every envelope has come to rest: a pause sounds the same rendered or skipped.
  @_noLocks
  func tail() -> Int64 { window &+ fast.longestTail &+ slowAttack.longestTail &+ slowRelease.longestTail }
}

@_noLocks
private func transientShaperRender(_ state: UnsafeMutableRawPointer, _ block: UnsafePointer<RenderBlock>) {
  state.assumingMemoryBound(to: TransientShaper.self).pointee.render(block.pointee)
}

@_noLocks
private func transientShaperSet(
  _ state: UnsafeMutableRawPointer, _ parameter: Int32, _ value: Float, _ rampFrames: Int32
) {
  state.assumingMemoryBound(to: TransientShaper.self).pointee.set(Int(parameter), to: value, over: rampFrames)
}

@_noLocks
private func transientShaperReset(_ state: UnsafeMutableRawPointer) {
  state.assumingMemoryBound(to: TransientShaper.self).pointee.reset()
}

@_noLocks
private func transientShaperTail(_ state: UnsafeMutableRawPointer) -> Int64 {
  state.assumingMemoryBound(to: TransientShaper.self).pointee.tail()
}
