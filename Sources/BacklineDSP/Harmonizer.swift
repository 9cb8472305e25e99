import BacklineRealtime
import CBackline

/// Up to three more voices at fixed intervals.
///
/// The voices share the analysis of a phase vocoder (`SpectralFrames`, `SpectralPeaks`, `SpectralShift`), which is why three cost
/// less than three pitch shifters. They are late by the length of a frame, 43 ms at 48 kHz, and so is the input with them.
/// Levels, places and intervals are taken at the next frame; overlapping frames blend them in.
public struct Harmonizer: ProcessingUnit, ~Copyable {
  private static var voiceCount: Int { @_noLocks get { 3 } }
  private static var inputGainIndex: Int { @_noLocks get { 9 } }

  public static let description = UnitDescription(
    kind: "harmonizer", title: "Harmonizer", summary: "Sings along: up to three voices at intervals of your choice.",
    inputs: [.init("input")], outputs: [.init("output")],
    parameters: (0..<3).flatMap { voice in
      [
        .init(
          "voice\(voice + 1)Interval", "How many semitones above the input (below 0: below) it sings.", -24...24,
          default: [4, 7, -12][voice]),
        .init(
          "voice\(voice + 1)Gain", "How loud it is; at the bottom of the range it is silent and costs nothing.",
          -96...12,
          default: [-6, -6, -96][voice], measure: .decibels),
        .init(
          "voice\(voice + 1)Pan", "Where it stands, from left (-1) to right (1).", -1...1,
          default: [-0.5, 0.5, 0][voice]),
      ]
    } + [
      .init(
        "inputGain", "How loud the input itself is, as late as the voices.", -96...12, default: 0, measure: .decibels)
    ],
    latency: { rate, _ in SpectralFrames.length(rate) },
    make: { UnitInstance(Harmonizer.self, $0) })

  public static let functions = UnitFunctions(
    render: harmonizerRender, set: harmonizerSet, reset: harmonizerReset, tail: harmonizerTail)

  private static var limit: Float { @_noLocks get { 1000 } }

  private var frames: SpectralFrames
  private var peaks: SpectralPeaks
  private var dry: StereoDelayLine
  private let voices: UnsafeMutablePointer<HarmonyVoice>
  private var inputGain = Ramp(1)

  public init(_ format: UnitFormat) {
    frames = SpectralFrames(sampleRate: format.sampleRate)
    peaks = SpectralPeaks(binCount: frames.binCount, hop: frames.hop)
    dry = StereoDelayLine(maximum: frames.length)
    voices = .allocate(capacity: Self.voiceCount)
    for index in 0..<Self.voiceCount {
      let shift = SpectralShift(binCount: frames.binCount, hop: frames.hop)
      (voices + index).initialize(
        to: HarmonyVoice(
          shift: shift, semitones: [4, 7, -12][index], level: Decibels.gain([-6, -6, -96][index]),
          pan: [-0.5, 0.5, 0][index]))
    }
  }

  deinit {
    for index in 0..<Self.voiceCount { voices[index].shift.deallocate() }
    voices.deallocate()
    frames.deallocate()
    peaks.deallocate()
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
      let output = dry.read(frames.length) * inputGain.next() + wet
      leftOut[i] = output.x
      rightOut[i] = output.y
    }
  }

  @_noLocks
  private mutating func work() {
    let sounds = frames.analyse()
    if sounds { peaks.find(frames) } else { peaks.clear() }
    for index in 0..<Self.voiceCount {
      if !sounds || voices[index].level == 0 {
        voices[index].shift.clear()
        continue
      }
      frames.clearNew()
      voices[index].shift.shift(frames, peaks, ratio: backline_exp2f(voices[index].semitones / 12))
      frames.synthesise(voices[index].gains)
    }
  }

  @_noLocks
  mutating func set(_ parameter: Int, to value: Float, over rampFrames: Int32) {
    if parameter == Self.inputGainIndex {
      inputGain.move(to: Decibels.gain(min(value, 40)), over: rampFrames)
      return
    }
    if parameter < 0 || parameter >= 3 &* Self.voiceCount { return }
    let voice = parameter / 3
    switch parameter &- 3 &* voice {
    case 0: voices[voice].semitones = max(-48, min(value, 48))
    case 1: voices[voice].level = Decibels.gain(min(value, 40))
    default: voices[voice].pan = max(-1, min(value, 1))
    }
  }

  @_noLocks
  mutating func reset() {
    frames.clear()
    peaks.clear()
    for index in 0..<Self.voiceCount { voices[index].shift.clear() }
    dry.clear()
    inputGain.settle()
  }

  /// The frames that still hold the sound.
  @_noLocks
  func tail() -> Int64 { Int64(2 &* frames.length) }
}

@_noLocks
private func harmonizerRender(_ state: UnsafeMutableRawPointer, _ block: UnsafePointer<RenderBlock>) {
  state.assumingMemoryBound(to: Harmonizer.self).pointee.render(block.pointee)
}

@_noLocks
private func harmonizerSet(_ state: UnsafeMutableRawPointer, _ parameter: Int32, _ value: Float, _ rampFrames: Int32) {
  state.assumingMemoryBound(to: Harmonizer.self).pointee.set(Int(parameter), to: value, over: rampFrames)
}

@_noLocks
private func harmonizerReset(_ state: UnsafeMutableRawPointer) {
  state.assumingMemoryBound(to: Harmonizer.self).pointee.reset()
}

@_noLocks
private func harmonizerTail(_ state: UnsafeMutableRawPointer) -> Int64 {
  state.assumingMemoryBound(to: Harmonizer.self).pointee.tail()
}
