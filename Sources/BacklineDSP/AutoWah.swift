import BacklineRealtime
import CBackline

/// A wah pedal that the player's touch works: a resonant filter whose cutoff follows the level of the input.
///
/// An envelope follower moves a state-variable filter, as in U. Zölzer (ed.), "DAFX: Digital Audio Effects", 2nd ed., 2011,
/// chapter 2.4.
public struct AutoWah: ProcessingUnit, ~Copyable {
  enum Parameter: Int {
    case sensitivity, baseFrequency, range, resonance, mode, attackTime, releaseTime, wetDryMix
  }

  public static let description = UnitDescription(
    kind: "autoWah", title: "Auto Wah", summary: "Opens a resonant filter as far as one plays hard.",
    inputs: [.init("input"), .init("sidechain", isOptional: true)], outputs: [.init("output")],
    parameters: [
      .init(
        "sensitivity", "How soft a note already opens it fully: 0 needs full scale, 40 next to nothing.", 0...40,
        default: 12, measure: .decibels),
      .init(
        "baseFrequency", "Where the filter rests while nothing is played.", 50...5000, default: 350, measure: .hertz,
        taper: .logarithmic),
      .init(
        "range", "How far it opens: up, or below 0 down.", -5...5, default: 2.5, measure: .octaves),
      .init(
        "resonance", "How much it quacks (Q).", 0.7071...20, default: 4, taper: .logarithmic),
      .discrete(
        "mode", "bandPass is the wah of a pedal, lowPass keeps the bass, highPass thins out.",
        ["lowPass", "highPass", "bandPass"], default: 2),
      .init(
        "attackTime", "How fast it follows a note: 63 % of the way in this time.", 0.001...0.5, default: 0.01,
        measure: .seconds, taper: .logarithmic),
      .init(
        "releaseTime", "How fast it falls back: 63 % of the way in this time.", 0.01...3, default: 0.2,
        measure: .seconds, taper: .logarithmic),
      .init(
        "wetDryMix", "How much of the output is filtered: 0 is the input alone, 100 the filter alone.", 0...100,
        default: 100, measure: .percent),
    ],
    make: { UnitInstance(AutoWah.self, $0) })

  public static let functions = UnitFunctions(
    render: autoWahRender, set: autoWahSet, reset: autoWahReset, tail: autoWahTail)

  private let sampleRate: Double
  private var filter: StateVariableFilter
  private var envelope: EnvelopeFollower
  private var sensitivity = Ramp(Decibels.gain(12))
  private var range = Ramp(2.5)
  private var mix = Ramp(1)

  public init(_ format: UnitFormat) {
    sampleRate = format.sampleRate
    filter = StateVariableFilter(cutoff: 350, sampleRate: format.sampleRate)
    filter.setMode(2, over: 0)
    filter.setResonance(4, over: 0)
    envelope = EnvelopeFollower(attack: 0.01, release: 0.2, sampleRate: format.sampleRate)
  }

  @_noLocks
  mutating func render(_ block: borrowing RenderBlock) {
    let left = block.input(0, 0), right = block.input(0, 1)
    let leftOut = block.output(0, 0), rightOut = block.output(0, 1)
    let key = block.isConnected(1) ? 1 : 0
    let keyLeft = block.input(key, 0), keyRight = block.input(key, 1)
    for frame in 0..<max(0, Int(block.frameCount)) {
      let peak = max(abs(keyLeft[frame]), abs(keyRight[frame])) * sensitivity.next()
      let octaves = Float(envelope.next(peak < 1 ? peak : 1)) * range.next()
      let x = backline_stereo_load(left + frame, right + frame)
      let wet = backline_stereo_limit(filter.next(x, octaves: SIMD2(octaves, octaves)))
      backline_stereo_store(backline_stereo_mix(x, wet, Double(mix.next())), leftOut + frame, rightOut + frame)
    }
  }

  @_noLocks
  mutating func set(_ parameter: Int, to value: Float, over frames: Int32) {
    switch Parameter(rawValue: parameter) {
    case .sensitivity: sensitivity.move(to: Decibels.gain(min(value, 80)), over: frames)
    case .baseFrequency: filter.setCutoff(value, over: frames)
    case .range: range.move(to: max(-12, min(value, 12)), over: frames)
    case .resonance: filter.setResonance(value, over: frames)
    case .mode: filter.setMode(min(value, 2), over: frames)
    case .attackTime: envelope.setAttack(value, over: frames)
    case .releaseTime: envelope.setRelease(value, over: frames)
    case .wetDryMix: mix.move(to: max(0, min(value, 100)) / 100, over: frames)
    case nil: break
    }
  }

  @_noLocks
  mutating func reset() {
    filter.reset()
    envelope.reset()
    sensitivity.settle()
    range.settle()
    mix.settle()
  }

  @_noLocks
  func tail() -> Int64 {
    let lowered = max(0, -min(range.value, range.target))
    let frames = filter.tail(loweredBy: lowered, sampleRate: sampleRate) + Double(envelope.tail())
    return frames < 60 * sampleRate ? Int64(frames) : Tail.frames(Tail.longestSeconds, sampleRate: sampleRate)
  }
}

@_noLocks
private func autoWahRender(_ state: UnsafeMutableRawPointer, _ block: UnsafePointer<RenderBlock>) {
  state.assumingMemoryBound(to: AutoWah.self).pointee.render(block.pointee)
}

@_noLocks
private func autoWahSet(_ state: UnsafeMutableRawPointer, _ parameter: Int32, _ value: Float, _ rampFrames: Int32) {
  state.assumingMemoryBound(to: AutoWah.self).pointee.set(Int(parameter), to: value, over: rampFrames)
}

@_noLocks
private func autoWahReset(_ state: UnsafeMutableRawPointer) {
  state.assumingMemoryBound(to: AutoWah.self).pointee.reset()
}

@_noLocks
private func autoWahTail(_ state: UnsafeMutableRawPointer) -> Int64 {
  state.assumingMemoryBound(to: AutoWah.self).pointee.tail()
}
