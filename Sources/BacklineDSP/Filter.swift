import BacklineRealtime
import CBackline

/// A filter whose cutoff an LFO, the level of the input, and another signal may move, all at once and per sample.
///
/// The three add up in octaves. The filter is the trapezoidal state-variable one of `StateVariableFilter`.
public struct Filter: ProcessingUnit, ~Copyable {
  enum Parameter: Int {
    case mode, slope, cutoffFrequency, resonance, envelopeDepth, envelopeSensitivity, envelopeAttack, envelopeRelease
    case modulationDepth, lfoDepth, lfoSpread, lfoShape, lfoRate, lfoDivision, tempo
  }

  public static let description = UnitDescription(
    kind: "filter", title: "Filter",
    summary: """
      A resonant filter that moves: by an LFO, by how hard the input is played, or by the signal at `modulation`.
      """,
    inputs: [.init("input"), .init("modulation", isOptional: true)], outputs: [.init("output")],
    parameters: [
      .discrete(
        "mode", "What passes: below or above the cutoff, around it, all but it, or all with its phase turned.",
        StateVariableFilter.modes),
      .discrete("slope", "How steep it is, in dB an octave.", StateVariableFilter.slopes),
      .init(
        "cutoffFrequency", "The corner or the centre, before anything moves it.", 20...20_000, default: 1000,
        measure: .hertz, taper: .logarithmic),
      .init(
        "resonance", "How much the corner rings, or how narrow the band is (Q); 0.7071 is flat.", 0.5...40,
        default: 0.7071, taper: .logarithmic),
      .init(
        "envelopeDepth", "How far a full-scale input moves the cutoff: up, or below 0 down.", -8...8, default: 0,
        measure: .octaves),
      .init(
        "envelopeSensitivity", "How much louder the input is taken for the envelope; soft players need more.", 0...40,
        default: 0, measure: .decibels),
      .init(
        "envelopeAttack", "How fast the envelope rises: 63 % of the way in this time.", 0.001...1, default: 0.005,
        measure: .seconds, taper: .logarithmic),
      .init(
        "envelopeRelease", "How fast the envelope falls: 63 % of the way in this time.", 0.005...5, default: 0.15,
        measure: .seconds, taper: .logarithmic),
      .init(
        "modulationDepth",
        "How far a full-scale signal at `modulation` moves the cutoff, its left channel the left filter.", -8...8,
        default: 0, measure: .octaves),
      .init("lfoDepth", "How far the LFO moves the cutoff, up and down.", 0...5, default: 0, measure: .octaves),
      .init(
        "lfoSpread", "How far the right channel's LFO is ahead of the left one's; 180 is opposite.", 0...180,
        default: 0, measure: .degrees),
    ] + LFO.parameters(prefix: "lfo", rate: 0.5, fastest: 50),
    make: { UnitInstance(Filter.self, $0) })

  public static let functions = UnitFunctions(
    render: filterRender, set: filterSet, reset: filterReset, tail: filterTail)

  private let sampleRate: Double
  private var filter: StateVariableFilter
  private var lfo: LFO
  private var envelope: EnvelopeFollower
  private var envelopeDepth = Ramp(0)
  private var sensitivity = Ramp(1)
  private var modulationDepth = Ramp(0)
  private var lfoDepth = Ramp(0)
  private var spread = Ramp(0)

  public init(_ format: UnitFormat) {
    sampleRate = format.sampleRate
    filter = StateVariableFilter(cutoff: 1000, sampleRate: format.sampleRate)
    lfo = LFO(sampleRate: format.sampleRate, rate: 0.5)
    envelope = EnvelopeFollower(attack: 0.005, release: 0.15, sampleRate: format.sampleRate)
  }

  // MARK: Rendering

  @_noLocks
  mutating func render(_ block: borrowing RenderBlock) {
    let count = Int(block.frameCount)
    let left = block.input(0, 0), right = block.input(0, 1)
    let leftOut = block.output(0, 0), rightOut = block.output(0, 1)
    lfo.begin(at: block.frame)
    var start = 0
    while start < count && isMoving {
      let x = backline_stereo_load(left + start, right + start)
      let octaves = octaves(block, start)
      backline_stereo_store(
        backline_stereo_limit(filter.next(x, octaves: octaves)), leftOut + start, rightOut + start)
      advance()
      start &+= 1
    }
    if start == count { return }
    // Both find their place again when they are next needed.
    lfo.lose()
    envelope.reset()
    for frame in start..<count {
      let x = backline_stereo_load(left + frame, right + frame)
      backline_stereo_store(backline_stereo_limit(filter.next(x)), leftOut + frame, rightOut + frame)
    }
  }

  private var isMoving: Bool {
    @inline(__always) @_noLocks
    get {
      envelopeDepth.value != 0 || modulationDepth.value != 0 || lfoDepth.value != 0 || filter.isMoving || lfo.isMoving
        || envelope.isMoving
        || !(envelopeDepth.isSettled && sensitivity.isSettled && modulationDepth.isSettled && lfoDepth.isSettled
          && spread.isSettled)
    }
  }

  /// How far the cutoff is moved at a frame.
  @inline(__always) @_noLocks
  private mutating func octaves(_ block: borrowing RenderBlock, _ frame: Int) -> SIMD2<Float> {
    let peak = max(abs(block.input(0, 0)[frame]), abs(block.input(0, 1)[frame])) * sensitivity.value
    let level = Float(envelope.next(peak < 1 ? peak : 1)) * envelopeDepth.value
    let depth = lfoDepth.value
    let first = lfo.value
    let second = spread.value == 0 ? first : lfo.value(ahead: LFO.phase(turns: spread.value))
    let keyLeft = Self.bounded(block.input(1, 0)[frame]), keyRight = Self.bounded(block.input(1, 1)[frame])
    let key = modulationDepth.value
    return SIMD2(level + first * depth + keyLeft * key, level + second * depth + keyRight * key)
  }

  /// Held to the range in which it can still matter.
  @inline(__always) @_noLocks
  private static func bounded(_ x: Float) -> Float { x > -4 ? (x < 4 ? x : 4) : -4 }

  @inline(__always) @_noLocks
  private mutating func advance() {
    lfo.advance()
    envelopeDepth.advance()
    sensitivity.advance()
    modulationDepth.advance()
    lfoDepth.advance()
    spread.advance()
  }

  // MARK: Control

  @_noLocks
  mutating func set(_ parameter: Int, to value: Float, over frames: Int32) {
    switch Parameter(rawValue: parameter) {
    case .mode: filter.setMode(value, over: frames)
    case .slope: filter.setSlope(value, over: frames)
    case .cutoffFrequency: filter.setCutoff(value, over: frames)
    case .resonance: filter.setResonance(value, over: frames)
    case .envelopeDepth: envelopeDepth.move(to: max(-12, min(value, 12)), over: frames)
    case .envelopeSensitivity: sensitivity.move(to: Decibels.gain(min(value, 80)), over: frames)
    case .envelopeAttack: envelope.setAttack(value, over: frames)
    case .envelopeRelease: envelope.setRelease(value, over: frames)
    case .modulationDepth: modulationDepth.move(to: max(-12, min(value, 12)), over: frames)
    case .lfoDepth: lfoDepth.move(to: max(0, min(value, 12)), over: frames)
    case .lfoSpread: spread.move(to: max(0, min(value, 360)) / 360, over: frames)
    case .lfoShape: lfo.set(.shape, to: value, over: frames)
    case .lfoRate: lfo.set(.rate, to: value, over: frames)
    case .lfoDivision: lfo.set(.division, to: value, over: frames)
    case .tempo: lfo.set(.tempo, to: value, over: frames)
    case nil: break
    }
  }

  @_noLocks
  mutating func reset() {
    filter.reset()
    lfo.reset()
    envelope.reset()
    envelopeDepth.settle()
    sensitivity.settle()
    modulationDepth.settle()
    lfoDepth.settle()
    spread.settle()
  }

  /// The frames until filter and envelope have come to rest, at the lowest cutoff that modulation can reach.
  @_noLocks
  func tail() -> Int64 {
    let lowered =
      max(0, -min(envelopeDepth.value, envelopeDepth.target)) + max(lfoDepth.value, lfoDepth.target)
      + 4 * max(abs(modulationDepth.value), abs(modulationDepth.target))
    let frames = filter.tail(loweredBy: lowered, sampleRate: sampleRate) + Double(envelope.tail())
    return frames < 60 * sampleRate ? Int64(frames) : Tail.frames(Tail.longestSeconds, sampleRate: sampleRate)
  }
}

@_noLocks
private func filterRender(_ state: UnsafeMutableRawPointer, _ block: UnsafePointer<RenderBlock>) {
  state.assumingMemoryBound(to: Filter.self).pointee.render(block.pointee)
}

@_noLocks
private func filterSet(_ state: UnsafeMutableRawPointer, _ parameter: Int32, _ value: Float, _ rampFrames: Int32) {
  state.assumingMemoryBound(to: Filter.self).pointee.set(Int(parameter), to: value, over: rampFrames)
}

@_noLocks
private func filterReset(_ state: UnsafeMutableRawPointer) {
  state.assumingMemoryBound(to: Filter.self).pointee.reset()
}

@_noLocks
private func filterTail(_ state: UnsafeMutableRawPointer) -> Int64 {
  state.assumingMemoryBound(to: Filter.self).pointee.tail()
}
