import BacklineRealtime
import CBackline

/// The control of one band of an equalizer: what its parameters are, and where its filter is on the way to them.
///
/// Frequency, gain and Q move the coefficients: those for the end of a quantum are computed at its first frame and
/// approached in equal steps. On or off and another type are crossfaded instead, because on the way between far
/// coefficients a filter may resonate: the old filter (the identity, where the band was off) runs on beside the new.
/// Such a change in the middle of a fade waits for the fade's end.
struct EqualizerBand {
  private var type: Int32 = 0  // of EqualizerFilterType
  private var isEnabled = false
  private var wantedType: Int32 = 0
  private var wantsEnabled = false
  private var fadeFrames: Int32 = 0
  private var frequency: QuantumRamp  // log2 of Hz
  private var gain = QuantumRamp(0)
  private var q: QuantumRamp  // log2
  private var exactFrequency: Float
  private var exactQ: Float = 0.7071
  private var target = BiquadCoefficients.identity
  private var step: StereoBiquad
  private var outgoing = BiquadSection.identity
  private var fade = Ramp(1)
  private let sampleRate: Double

  @_noLocks
  init(frequency: Float, sampleRate: Double) {
    exactFrequency = frequency
    self.frequency = QuantumRamp(backline_log2f(frequency))
    q = QuantumRamp(backline_log2f(exactQ))
    step = StereoBiquad(target.step(to: target, over: 1))
    self.sampleRate = sampleRate
  }

  // MARK: Parameters

  @_noLocks
  mutating func setFrequency(_ value: Float, _ section: inout BiquadSection, over frames: Int32, phase: Int32) {
    exactFrequency = min(max(value, 1), 1e6)
    frequency.move(to: backline_log2f(exactFrequency), over: isUnheard ? 0 : frames, phase: phase)
    follow(&section, over: frames)
  }

  @_noLocks
  mutating func setGain(_ value: Float, _ section: inout BiquadSection, over frames: Int32, phase: Int32) {
    gain.move(to: value, over: isUnheard ? 0 : frames, phase: phase)
    follow(&section, over: frames)
  }

  @_noLocks
  mutating func setQ(_ value: Float, _ section: inout BiquadSection, over frames: Int32, phase: Int32) {
    exactQ = min(max(value, 0.01), 100)
    q.move(to: backline_log2f(exactQ), over: isUnheard ? 0 : frames, phase: phase)
    follow(&section, over: frames)
  }

  @_noLocks
  mutating func setType(_ value: Int32, _ section: inout BiquadSection, over frames: Int32) {
    wantedType = value
    switchOver(&section, over: frames)
  }

  @_noLocks
  mutating func setEnabled(_ value: Bool, _ section: inout BiquadSection, over frames: Int32) {
    wantsEnabled = value
    switchOver(&section, over: frames)
  }

  // MARK: State

  /// True while the band's filter has to run.
  var isActive: Bool { @_noLocks get { isEnabled || !fade.isSettled } }

  /// True while coefficients move or a fade runs.
  private(set) var isMoving = false

  /// True where a jump of the filter's parameters would not be heard.
  private var isUnheard: Bool { @_noLocks get { !isEnabled || (fade.value == 0 && !fade.isSettled) } }

  /// The frames until its sound has ended, after the input has.
  @_noLocks
  func tail(_ section: borrowing BiquadSection) -> Double {
    (isEnabled ? section.tail : 2) + (fade.isSettled ? 0 : outgoing.tail)
  }

  // MARK: Movement

  /// Where nothing ramps, takes the parameters over at once.
  @_noLocks
  private mutating func follow(_ section: inout BiquadSection, over frames: Int32) {
    if frames > 0 && !isUnheard {
      isMoving = true
    } else {
      jump(&section)
    }
  }

  /// Sets the coefficients to the present values of the parameters.
  @_noLocks
  private mutating func jump(_ section: inout BiquadSection) {
    target = present
    section.coefficients = StereoBiquad(target)
    step = StereoBiquad(target.step(to: target, over: 1))
  }

  /// The coefficients for the end of the present quantum.
  private var present: BiquadCoefficients {
    @_noLocks get {
      if !isEnabled { return .identity }
      return BiquadCoefficients(
        EqualizerFilterType(index: type),
        frequency: Double(frequency.isSettled ? exactFrequency : backline_exp2f(frequency.value)),
        gain: Double(gain.value), q: Double(q.isSettled ? exactQ : backline_exp2f(q.value)), sampleRate: sampleRate)
    }
  }

  /// Goes to the wanted type and state.
  @_noLocks
  private mutating func switchOver(_ section: inout BiquadSection, over frames: Int32) {
    fadeFrames = frames
    if frames <= 0 {
      takeWanted()
      fade.settle()
      jump(&section)
    } else if fade.isSettled {
      beginFade(&section)
    } else if fade.value == 0 {
      takeWanted()
      jump(&section)
    }
  }

  @_noLocks
  private mutating func takeWanted() {
    if !wantsEnabled || !isEnabled {
      frequency.settle()
      gain.settle()
      q.settle()
    }
    type = wantedType
    isEnabled = wantsEnabled
  }

  @_noLocks
  private mutating func beginFade(_ section: inout BiquadSection) {
    if wantsEnabled == isEnabled && (wantedType == type || !isEnabled) {
      type = wantedType
      return
    }
    outgoing = section
    takeWanted()
    jump(&section)
    fade = Ramp(0)
    fade.move(to: 1, over: fadeFrames)
    isMoving = true
  }

  /// At a quantum edge: goes on to the coming quantum.
  @_noLocks
  mutating func beginQuantum(_ section: inout BiquadSection) {
    let isRamping = !(frequency.isSettled && gain.isSettled && q.isSettled)
    let start = target
    if isRamping {
      frequency.advance()
      gain.advance()
      q.advance()
      target = present
    }
    section.coefficients = StereoBiquad(start)
    step = StereoBiquad(start.step(to: target, over: Double(Quantum.frames)))
    isMoving = isRamping || !fade.isSettled
    if fade.isSettled { beginFade(&section) }
  }

  /// Ends every movement and forgets the past sound.
  @_noLocks
  mutating func reset(_ section: inout BiquadSection) {
    takeWanted()
    frequency.settle()
    gain.settle()
    q.settle()
    fade.settle()
    jump(&section)
    section.clear()
    isMoving = false
  }

  /// Filters `count` frames in place while the band moves.
  @_noLocks
  mutating func run(_ section: inout BiquadSection, _ samples: UnsafeMutablePointer<SIMD2<Double>>, _ count: Int) {
    for frame in 0..<max(0, count) { samples[frame] = next(samples[frame], &section) }
  }

  @inline(__always) @_noLocks
  private mutating func next(_ x: SIMD2<Double>, _ section: inout BiquadSection) -> SIMD2<Double> {
    var y = section.next(x)
    section.coefficients = backline_stereo_advance(section.coefficients, step)
    if !fade.isSettled {
      let old = outgoing.next(x)
      y = backline_stereo_mix(old, y, Double(fade.next()))
    }
    return y
  }
}
