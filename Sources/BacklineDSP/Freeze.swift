import BacklineRealtime
import CBackline

/// Holds the sound of a moment for as long as wanted, while the input goes on over it.
///
/// The spectrum of the last 85 ms is kept, long enough to tell the notes of a chord apart, and the region of each of its peaks turns on at the peak's own frequency
/// (`SpectralPeaks`; phase locking after Laroche and Dolson, "Improved phase vocoder time-scale modification of audio", IEEE
/// Trans. Speech and Audio 7, 1999): a chord stands still without beating of its own. Frames lie on absolute multiples of their
/// distance. The input is not delayed; the held sound begins within 21 ms and takes 85 ms to its full level.
public struct Freeze: ProcessingUnit, ~Copyable {
  enum Parameter: Int { case isHeld, heldGain, inputGain, releaseTime }

  public static let description = UnitDescription(
    kind: "freeze", title: "Freeze", summary: "Holds the sound of a moment, to play over it.",
    inputs: [.init("input")], outputs: [.init("output")],
    parameters: [
      .toggle("isHeld", "Holds what sounds at this moment; off lets it fade.", default: false),
      .init("heldGain", "How loud the held sound is.", -48...12, default: -3, measure: .decibels),
      .init("inputGain", "How loud the input is.", -96...12, default: 0, measure: .decibels),
      .init(
        "releaseTime", "How long the held sound takes to fade by 60 dB after it is let go.", 0.02...20, default: 1,
        measure: .seconds, taper: .logarithmic),
    ],
    make: { UnitInstance(Freeze.self, $0) })

  public static let functions = UnitFunctions(
    render: freezeRender, set: freezeSet, reset: freezeReset, tail: freezeTail)

  private static var limit: Float { @_noLocks get { 1000 } }

  private let sampleRate: Double
  private var frames: SpectralFrames
  private var peaks: SpectralPeaks
  private let held: UnsafeMutablePointer<Float>
  /// The turn of each peak so far, in turns.
  private let turns: UnsafeMutablePointer<Float>
  private var isHeld = false
  private var hasCaptured = false
  private var sounds = false
  /// True where the spectrum before is the one a frame ago, which frequencies need.
  private var isWarm = true
  /// How loud the held sound still is.
  private var loudness: Float = 0
  private var releaseTime: Float = 1
  private var heldGain = Ramp(Decibels.gain(-3))
  private var inputGain = Ramp(1)

  public init(_ format: UnitFormat) {
    sampleRate = format.sampleRate
    frames = SpectralFrames(sampleRate: sampleRate, factor: 2)
    peaks = SpectralPeaks(binCount: frames.binCount, hop: frames.hop)
    held = SampleMemory.allocate(4 * frames.binCount)
    turns = SampleMemory.allocate(frames.binCount)
  }

  deinit {
    frames.deallocate()
    peaks.deallocate()
    SampleMemory.free(held)
    SampleMemory.free(turns)
  }

  @_noLocks
  mutating func render(_ block: borrowing RenderBlock) {
    let left = block.input(0, 0), right = block.input(0, 1)
    let leftOut = block.output(0, 0), rightOut = block.output(0, 1)
    for i in 0..<max(0, Int(block.frameCount)) {
      if frames.isDue(block.frame &+ Int64(i)) { work() }
      let input = SIMD2(left[i], right[i])
      let wet = frames.exchange(
        SIMD2(max(-Self.limit, min(input.x, Self.limit)), max(-Self.limit, min(input.y, Self.limit))))
      let output = input * inputGain.next() + wet * heldGain.next()
      leftOut[i] = output.x
      rightOut[i] = output.y
    }
  }

  @_noLocks
  private mutating func work() {
    if isHeld && !hasCaptured {
      if isWarm {
        capture()
      } else {
        if frames.analyse() { peaks.find(frames) } else { peaks.clear() }
        isWarm = true
        sounds = false
        return
      }
    } else if !hasCaptured && loudness == 0 {
      // The phases of the frame before are needed for the frequencies of the one that is held.
      if frames.analyse() { peaks.find(frames) } else { peaks.clear() }
      isWarm = true
      return
    }
    isWarm = false
    if !isHeld {
      loudness *= backline_expf(-6.907_755 * Float(frames.hop) / (releaseTime * Float(sampleRate)))
      if loudness < 1e-6 {
        loudness = 0
        hasCaptured = false
        sounds = false
      }
    }
    if sounds && loudness > 0 { turnOn() }
  }

  /// Keeps the spectrum of the last frame.
  @_noLocks
  private mutating func capture() {
    hasCaptured = true
    sounds = frames.analyse()
    loudness = 1
    if !sounds { return }
    peaks.find(frames)
    let count = frames.binCount
    for channel in 0..<2 {
      backline_copy(held + 2 &* channel &* count, frames.real(channel), Int64(count))
      backline_copy(held + (2 &* channel &+ 1) &* count, frames.imaginary(channel), Int64(count))
    }
    backline_zero(turns, Int64(count))
  }

  /// The next frame of the held sound.
  @_noLocks
  private mutating func turnOn() {
    frames.clearNew()
    let count = frames.binCount
    for index in 0..<max(0, peaks.count) {
      let peak = peaks[index]
      var turn = turns[index] + peak.frequency * Float(frames.hop) * (0.5 / .pi)
      turn -= backline_floorf(turn)
      turns[index] = turn
      let phase = UInt32(truncatingIfNeeded: Int64(turn * 0x1p32))
      let sine = Sine.value(phase), cosine = Sine.value(phase &+ 1 << 30)
      for channel in 0..<2 {
        let real = held + 2 &* channel &* count, imaginary = held + (2 &* channel &+ 1) &* count
        let newReal = frames.newReal(channel), newImaginary = frames.newImaginary(channel)
        for k in Int(peak.start)..<max(Int(peak.start), Int(peak.end)) {
          newReal[k] = real[k] * cosine - imaginary[k] * sine
          newImaginary[k] = real[k] * sine + imaginary[k] * cosine
        }
      }
    }
    frames.synthesise(SIMD2(loudness, loudness))
  }

  @_noLocks
  mutating func set(_ parameter: Int, to value: Float, over rampFrames: Int32) {
    switch Parameter(rawValue: parameter) {
    case .isHeld:
      let wanted = value >= 0.5
      // Held again before it has faded: the new moment takes over.
      if wanted && !isHeld { hasCaptured = false }
      isHeld = wanted
    case .heldGain: heldGain.move(to: Decibels.gain(min(value, 40)), over: rampFrames)
    case .inputGain: inputGain.move(to: Decibels.gain(min(value, 40)), over: rampFrames)
    case .releaseTime: releaseTime = max(0.01, min(value, 60))
    case nil: break
    }
  }

  @_noLocks
  mutating func reset() {
    frames.clear()
    peaks.clear()
    isWarm = true
    hasCaptured = false
    sounds = false
    loudness = 0
    heldGain.settle()
    inputGain.settle()
  }

  /// Without end while something is held.
  @_noLocks
  func tail() -> Int64 {
    if isHeld && (sounds || !hasCaptured) { return sounds ? Tail.endless : Int64(2 &* frames.length) }
    let fade = loudness > 0 && sounds ? Double(releaseTime) * 2 : 0
    return Tail.frames(fade, sampleRate: sampleRate) &+ Int64(2 &* frames.length)
  }
}

@_noLocks
private func freezeRender(_ state: UnsafeMutableRawPointer, _ block: UnsafePointer<RenderBlock>) {
  state.assumingMemoryBound(to: Freeze.self).pointee.render(block.pointee)
}

@_noLocks
private func freezeSet(_ state: UnsafeMutableRawPointer, _ parameter: Int32, _ value: Float, _ rampFrames: Int32) {
  state.assumingMemoryBound(to: Freeze.self).pointee.set(Int(parameter), to: value, over: rampFrames)
}

@_noLocks
private func freezeReset(_ state: UnsafeMutableRawPointer) {
  state.assumingMemoryBound(to: Freeze.self).pointee.reset()
}

@_noLocks
private func freezeTail(_ state: UnsafeMutableRawPointer) -> Int64 {
  state.assumingMemoryBound(to: Freeze.self).pointee.tail()
}
