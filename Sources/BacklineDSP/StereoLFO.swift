import BacklineRealtime

/// An LFO for both channels, the right one some part of a turn ahead.
struct StereoLFO {
  /// The parameter of the distance; the unit puts it before those of the `LFO`.
  static func spread(_ summary: String, default degrees: Float) -> ParameterDescription {
    .init("spread", summary, 0...180, default: degrees, measure: .degrees)
  }

  private var lfo: LFO
  private var spread: Ramp
  private var ahead: UInt64

  init(sampleRate: Double, rate: Float, shape: Int32 = 0, spread degrees: Float) {
    lfo = LFO(sampleRate: sampleRate, rate: rate, shape: shape)
    spread = Ramp(degrees / 360)
    ahead = LFO.phase(turns: degrees / 360)
  }

  @inline(__always) @_noLocks
  mutating func begin(at frame: Int64) { lfo.begin(at: frame) }

  /// The values at the present frame, -1 to 1, or those that come `extra` later (2^64 is a turn).
  @inline(__always) @_noLocks
  func values(ahead extra: UInt64 = 0) -> SIMD2<Float> {
    let left = lfo.value(ahead: extra)
    return SIMD2(left, ahead == 0 ? left : lfo.value(ahead: ahead &+ extra))
  }

  /// Moves on by one frame.
  @inline(__always) @_noLocks
  mutating func advance() {
    lfo.advance()
    if !spread.isSettled {
      spread.advance()
      ahead = LFO.phase(turns: spread.value)
    }
  }

  /// The values at the present frame; moves on by one frame.
  @inline(__always) @_noLocks
  mutating func next() -> SIMD2<Float> {
    let values = values()
    advance()
    return values
  }

  /// Sets the distance in degrees for index 0, then shape, rate, division and tempo.
  @_noLocks
  mutating func set(_ index: Int, to value: Float, over frames: Int32) {
    switch index {
    case 0:
      spread.move(to: max(0, min(value, 360)) / 360, over: frames)
      ahead = LFO.phase(turns: spread.value)
    case 1: lfo.set(.shape, to: value, over: frames)
    case 2: lfo.set(.rate, to: value, over: frames)
    case 3: lfo.set(.division, to: value, over: frames)
    case 4: lfo.set(.tempo, to: value, over: frames)
    default: break
    }
  }

  @_noLocks
  mutating func reset() {
    lfo.reset()
    spread.settle()
    ahead = LFO.phase(turns: spread.value)
  }
}
