import BacklineRealtime
import CBackline

/// Another pitch at the same speed.
///
/// - A phase vocoder that moves the peaks of the spectrum (`SpectralShift`), not Rubber Band: its stretcher (3.1) allocates when it
///   processes and when the pitch changes, and after a reset gives other samples than a new one.
/// - The latency is the length of a frame (`SpectralFrames`), 43 ms at 48 kHz; the dry part is as late.
/// - A new pitch is taken at the next frame; overlapping frames blend it in.
public struct PitchShifter: ProcessingUnit, ~Copyable {
  enum Parameter: Int { case semitones, cents, wetDryMix, outputGain }

  public static let description = UnitDescription(
    kind: "pitchShifter", title: "Pitch shifter", summary: "Makes everything higher or lower, chords too.",
    inputs: [.init("input")], outputs: [.init("output")],
    parameters: [
      .init("semitones", "How far up or down; 12 is an octave.", -24...24, default: 12),
      .init("cents", "Hundredths of a semitone more, to detune.", -100...100, default: 0, measure: .cents),
      .init(
        "wetDryMix", "How much of the output is shifted: 0 is the input alone.", 0...100, default: 100,
        measure: .percent),
      .init("outputGain", "How loud the shifted part is.", -48...12, default: 0, measure: .decibels),
    ],
    latency: { rate, _ in SpectralFrames.length(rate) },
    make: { UnitInstance(PitchShifter.self, $0) })

  public static let functions = UnitFunctions(
    render: pitchShifterRender, set: pitchShifterSet, reset: pitchShifterReset, tail: pitchShifterTail)

  /// What goes into the spectra is held to this, +60 dB.
  private static var limit: Float { @_noLocks get { 1000 } }

  private var frames: SpectralFrames
  private var peaks: SpectralPeaks
  private let voice: SpectralShift
  private var dry: StereoDelayLine
  private var semitones: Float = 12
  private var cents: Float = 0
  private var mix = Ramp(1)
  private var level = Ramp(1)

  public init(_ format: UnitFormat) {
    frames = SpectralFrames(sampleRate: format.sampleRate)
    peaks = SpectralPeaks(binCount: frames.binCount, hop: frames.hop)
    voice = SpectralShift(binCount: frames.binCount, hop: frames.hop)
    dry = StereoDelayLine(maximum: frames.length)
  }

  deinit {
    frames.deallocate()
    peaks.deallocate()
    voice.deallocate()
    dry.deallocate()
  }

  @_noLocks
  mutating func render(_ block: borrowing RenderBlock) {
    let left = block.input(0, 0), right = block.input(0, 1)
    let leftOut = block.output(0, 0), rightOut = block.output(0, 1)
    for i in 0..<max(0, Int(block.frameCount)) {
      if frames.isDue(block.frame &+ Int64(i)) { work() }
      let input = SIMD2(left[i], right[i])
      dry.write(input)
      let wet = frames.exchange(
        SIMD2(max(-Self.limit, min(input.x, Self.limit)), max(-Self.limit, min(input.y, Self.limit))))
      let weight = mix.next(), gain = level.next()
      let output = dry.read(frames.length) * (1 - weight) + wet * (weight * gain)
      leftOut[i] = output.x
      rightOut[i] = output.y
    }
  }

  @_noLocks
  private mutating func work() {
    if !frames.analyse() {
      peaks.clear()
      voice.clear()
      return
    }
    peaks.find(frames)
    frames.clearNew()
    voice.shift(frames, peaks, ratio: backline_exp2f((semitones + cents / 100) / 12))
    frames.synthesise(SIMD2(1, 1))
  }

  @_noLocks
  mutating func set(_ parameter: Int, to value: Float, over rampFrames: Int32) {
    switch Parameter(rawValue: parameter) {
    case .semitones: semitones = max(-48, min(value, 48))
    case .cents: cents = max(-1200, min(value, 1200))
    case .wetDryMix: mix.move(to: max(0, min(value / 100, 1)), over: rampFrames)
    case .outputGain: level.move(to: Decibels.gain(min(value, 40)), over: rampFrames)
    case nil: break
    }
  }

  @_noLocks
  mutating func reset() {
    frames.clear()
    peaks.clear()
    voice.clear()
    dry.clear()
    mix.settle()
    level.settle()
  }

  /// The frames that still hold the sound.
  @_noLocks
  func tail() -> Int64 { Int64(2 &* frames.length) }
}

@_noLocks
private func pitchShifterRender(_ state: UnsafeMutableRawPointer, _ block: UnsafePointer<RenderBlock>) {
  state.assumingMemoryBound(to: PitchShifter.self).pointee.render(block.pointee)
}

@_noLocks
private func pitchShifterSet(_ state: UnsafeMutableRawPointer, _ parameter: Int32, _ value: Float, _ rampFrames: Int32)
{
  state.assumingMemoryBound(to: PitchShifter.self).pointee.set(Int(parameter), to: value, over: rampFrames)
}

@_noLocks
private func pitchShifterReset(_ state: UnsafeMutableRawPointer) {
  state.assumingMemoryBound(to: PitchShifter.self).pointee.reset()
}

@_noLocks
private func pitchShifterTail(_ state: UnsafeMutableRawPointer) -> Int64 {
  state.assumingMemoryBound(to: PitchShifter.self).pointee.tail()
}
