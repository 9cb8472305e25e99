import BacklineRealtime
import CBackline

/// A valve guitar amplifier: three preamplifier stages, the tone stack of a '59 Bassman, and a power stage that sags.
///
/// - All of it runs at 8 times the sample rate between halfband filters (`Oversampler`), each bend antialiased in closed form.
/// - Preamplifier: stages in series, each a gain, an uneven bend, the low-pass of the valve's input and a coupling capacitor
///   (`TubeStage`; the staged structure of Pakarinen and Yeh, "A review of digital techniques for modeling vacuum-tube guitar
///   amplifiers", Computer Music J. 33, 2009). `channel` and `gain` say how much gain is spread over the three.
/// - Tone stack: `ToneStack`, at the place where it sits in the original, before the power stage.
/// - Power stage: an even bend whose headroom is the supply's voltage. The supply gives way to what is drawn, with time
///   constants of 15 ms down and 150 ms back; at full `sag` a steady full tone loses half its voltage.
/// - It has no loudspeaker: a `cabinet` belongs behind it.
public struct Amplifier: ProcessingUnit, ~Copyable {
  enum Parameter: Int {
    case channel, gain, bass, middle, treble, presence, master, sag, outputGain
  }

  public static let description = UnitDescription(
    kind: "amplifier", title: "Amplifier", summary: "A valve guitar amplifier; put a cabinet behind it.",
    inputs: [.init("input")], outputs: [.init("output")],
    parameters: [
      .discrete("channel", "How much gain there is to be had.", ["clean", "crunch", "lead"]),
      .init("gain", "How hard the preamplifier is driven.", 0...100, default: 50, measure: .percent),
      .init("bass", "The bass control of the tone stack.", 0...100, default: 50, measure: .percent),
      .init(
        "middle", "The middle control of the tone stack: low is scooped.", 0...100, default: 50, measure: .percent),
      .init("treble", "The treble control of the tone stack.", 0...100, default: 50, measure: .percent),
      .init("presence", "The bite of the power stage, above 3 kHz.", 0...100, default: 30, measure: .percent),
      .init("master", "How hard the power stage is driven.", 0...100, default: 50, measure: .percent),
      .init(
        "sag", "How much the supply gives way under a hard stroke: more is softer and breathes.", 0...100, default: 30,
        measure: .percent),
      .init(
        "outputGain", "How loud the result is; does not change the sound.", -48...12, default: -6, measure: .decibels),
    ],
    latency: { _, _ in Amplifier.latency },
    make: { UnitInstance(Amplifier.self, $0) })

  public static let functions = UnitFunctions(
    render: amplifierRender, set: amplifierSet, reset: amplifierReset, tail: amplifierTail)

  /// The oversampler's, and the four frames of the bends at the high rate, made up to a whole one.
  private static var latency: Int { @_noLocks get { Oversampler.latency + 1 } }
  private static var factor: Int { @_noLocks get { 8 } }
  /// Frames of the high rate that make the latency whole: of the four of the bends, the oversampler knows of one.
  private static var padding: Int { @_noLocks get { factor &- 3 } }
  private static var limit: Float { @_noLocks get { 1000 } }
  /// What the tone stack takes at its middle position.
  private static var makeUp: Float { @_noLocks get { 3 } }

  private let sampleRate: Double
  private let highRate: Double
  private let pieces: UnsafeMutablePointer<Float>
  private var left = Oversampler()
  private var right = Oversampler()
  private var circuit: AmplifierCircuit
  private let held: UnsafeMutablePointer<SIMD2<Float>>
  private var heldPlace = 0

  private var stageGain: Ramp
  private var presence = Ramp(0.3)
  private var master: Ramp
  private var sag = Ramp(0.3)
  private var level = Ramp(Decibels.gain(-6))
  // Read at quantum edges.
  private var bass = QuantumRamp(0.5)
  private var middle = QuantumRamp(0.5)
  private var treble = QuantumRamp(0.5)
  private var toneChanges = false
  private var channel: Float = 0
  private var gain: Float = 50
  /// How far behind a quantum edge the coming frame lies.
  private var phase: Int32 = 0

  public init(_ format: UnitFormat) {
    sampleRate = format.sampleRate
    highRate = format.sampleRate * Double(Self.factor)
    pieces = SampleMemory.allocate(6 * Oversampler.longestPiece)
    held = .allocate(capacity: Self.padding)
    held.initialize(repeating: .zero, count: Self.padding)
    circuit = AmplifierCircuit(sampleRate: highRate)
    stageGain = Ramp(Self.stageGain(0, 50))
    master = Ramp(Self.masterGain(50))
    circuit.tone.move(to: toneCoefficients(), over: 0)
  }

  deinit {
    SampleMemory.free(pieces)
    held.deallocate()
    left.deallocate()
    right.deallocate()
  }

  /// The gain of each of the three stages: 0 to 30 dB in all for clean, 12 to 54 for crunch, 30 to 84 for lead.
  @_noLocks
  private static func stageGain(_ channel: Float, _ percent: Float) -> Float {
    let part = max(0, min(percent / 100, 1))
    let decibels: Float = channel < 0.5 ? 30 * part : channel < 1.5 ? 12 + 42 * part : 30 + 54 * part
    return Decibels.gain(decibels / 3)
  }

  /// -40 to 20 dB into the power stage.
  @_noLocks
  private static func masterGain(_ percent: Float) -> Float { Decibels.gain(-40 + 0.6 * max(0, min(percent, 100))) }

  @_noLocks
  private func toneCoefficients() -> ToneStack.Coefficients {
    ToneStack.Coefficients(
      treble: Double(treble.value), middle: Double(middle.value), bass: Double(bass.value), sampleRate: highRate)
  }

  @_noLocks
  mutating func render(_ block: borrowing RenderBlock) {
    var cursor = QuantumCursor(frame: block.frame, count: block.frameCount)
    while cursor.next() {
      if cursor.startsQuantum { startQuantum() }
      let start = cursor.offset
      renderPiece(
        block.input(0, 0) + start, block.input(0, 1) + start, block.output(0, 0) + start, block.output(0, 1) + start,
        cursor.count)
    }
    phase = Int32((block.frame &+ Int64(block.frameCount)) & 31)
  }

  @_noLocks
  private mutating func startQuantum() {
    if bass.isSettled && middle.isSettled && treble.isSettled && !toneChanges { return }
    bass.advance()
    middle.advance()
    treble.advance()
    toneChanges = false
    circuit.tone.move(to: toneCoefficients(), over: Int32(Int(Quantum.frames) &* Self.factor))
  }

  @_noLocks
  private mutating func renderPiece(
    _ left: UnsafePointer<Float>, _ right: UnsafePointer<Float>, _ leftOut: UnsafeMutablePointer<Float>,
    _ rightOut: UnsafeMutablePointer<Float>, _ count: Int
  ) {
    let stride = Oversampler.longestPiece
    let leftIn = pieces, rightIn = pieces + stride
    let gains = pieces + 2 &* stride, masters = pieces + 3 &* stride
    let sags = pieces + 4 &* stride, bites = pieces + 5 &* stride
    for i in 0..<max(0, count) {
      leftIn[i] = max(-Self.limit, min(left[i], Self.limit))
      rightIn[i] = max(-Self.limit, min(right[i], Self.limit))
      gains[i] = stageGain.next()
      masters[i] = master.next() * Self.makeUp
      sags[i] = sag.next() * 0.5
      bites[i] = presence.next() * 2
    }
    self.left.up(leftIn, factor: Self.factor, count: count)
    self.right.up(rightIn, factor: Self.factor, count: count)
    var local = circuit  // in registers, away from the stores
    for frame in 0..<max(0, count) {
      for i in frame &* Self.factor..<(frame &+ 1) &* Self.factor {
        let input = SIMD2(self.left.samples[i], self.right.samples[i])
        let output = local.next(input, gains[frame], masters[frame], sags[frame], bites[frame])
        self.left.samples[i] = held[heldPlace].x
        self.right.samples[i] = held[heldPlace].y
        held[heldPlace] = output
        heldPlace = heldPlace &+ 1 == Self.padding ? 0 : heldPlace &+ 1
      }
    }
    circuit = local
    self.left.down(leftOut, factor: Self.factor, count: count)
    self.right.down(rightOut, factor: Self.factor, count: count)
    for i in 0..<max(0, count) {
      let gain = level.next()
      leftOut[i] *= gain
      rightOut[i] *= gain
    }
  }

  @_noLocks
  mutating func set(_ parameter: Int, to value: Float, over rampFrames: Int32) {
    switch Parameter(rawValue: parameter) {
    case .channel:
      channel = value
      stageGain.move(to: Self.stageGain(channel, gain), over: rampFrames)
    case .gain:
      gain = value
      stageGain.move(to: Self.stageGain(channel, gain), over: rampFrames)
    case .bass:
      bass.move(to: max(0, min(value / 100, 1)), over: rampFrames, phase: phase)
      changeTone(over: rampFrames)
    case .middle:
      middle.move(to: max(0, min(value / 100, 1)), over: rampFrames, phase: phase)
      changeTone(over: rampFrames)
    case .treble:
      treble.move(to: max(0, min(value / 100, 1)), over: rampFrames, phase: phase)
      changeTone(over: rampFrames)
    case .presence: presence.move(to: max(0, min(value / 100, 1)), over: rampFrames)
    case .master: master.move(to: Self.masterGain(value), over: rampFrames)
    case .sag: sag.move(to: max(0, min(value / 100, 1)), over: rampFrames)
    case .outputGain: level.move(to: Decibels.gain(min(value, 40)), over: rampFrames)
    case nil: break
    }
  }

  @_noLocks
  private mutating func changeTone(over rampFrames: Int32) {
    if rampFrames <= 0 { circuit.tone.move(to: toneCoefficients(), over: 0) } else { toneChanges = true }
  }

  @_noLocks
  mutating func reset() {
    stageGain.settle()
    presence.settle()
    master.settle()
    sag.settle()
    level.settle()
    bass.settle()
    middle.settle()
    treble.settle()
    toneChanges = false
    circuit.tone.move(to: toneCoefficients(), over: 0)
    circuit.clear()
    for i in 0..<Self.padding { held[i] = .zero }
    heldPlace = 0
    left.clear()
    right.clear()
  }

  /// The time that the slowest filters need, of which what is left is turned up by all stages.
  @_noLocks
  func tail() -> Int64 { Tail.frames(1.5, sampleRate: sampleRate) }
}

@_noLocks
private func amplifierRender(_ state: UnsafeMutableRawPointer, _ block: UnsafePointer<RenderBlock>) {
  state.assumingMemoryBound(to: Amplifier.self).pointee.render(block.pointee)
}

@_noLocks
private func amplifierSet(_ state: UnsafeMutableRawPointer, _ parameter: Int32, _ value: Float, _ rampFrames: Int32) {
  state.assumingMemoryBound(to: Amplifier.self).pointee.set(Int(parameter), to: value, over: rampFrames)
}

@_noLocks
private func amplifierReset(_ state: UnsafeMutableRawPointer) {
  state.assumingMemoryBound(to: Amplifier.self).pointee.reset()
}

@_noLocks
private func amplifierTail(_ state: UnsafeMutableRawPointer) -> Int64 {
  state.assumingMemoryBound(to: Amplifier.self).pointee.tail()
}
