/// The waves of the oscillator, each a function of the phase alone: no state, the same however a signal is cut.
///
/// Jumps are rounded by a polynomial band-limited step over the two samples around them (PolyBLEP; Välimäki and
/// Huovilainen, "Antialiasing oscillators in subtractive synthesis", IEEE Signal Processing Magazine, 2007), corners by
/// its integral (PolyBLAMP; Esqueda, Välimäki and Bilbao, "Rounding corners with BLAMP", DAFx 2016).
enum Waveform {
  /// One sample at `phase` (2^64 is a turn) of the wave with this index among the oscillator's values; `increment` is the
  /// phase of one frame, at most half a turn.
  @inline(__always) @_noLocks
  static func value(_ index: Int32, _ phase: UInt64, _ increment: UInt64) -> Float {
    switch index {
    case 0: Sine.value(UInt32(truncatingIfNeeded: phase >> 32))
    case 1: triangle(phase, increment)
    case 2: square(phase, increment)
    default: sawtooth(phase, increment)
    }
  }

  /// From 0 up to 1 at a quarter turn, down to -1 at three quarters.
  @inline(__always) @_noLocks
  private static func triangle(_ phase: UInt64, _ increment: UInt64) -> Float {
    let step = turns(increment)
    let fromTop = distance(phase &- quarter), fromBottom = distance(phase &+ quarter)
    let naive = 4 * (fromTop < 0 ? -fromTop : fromTop)
    return 1 - naive + 8 * step * (corner(fromBottom, step) - corner(fromTop, step))
  }

  /// 1 for half a turn, then -1.
  @inline(__always) @_noLocks
  private static func square(_ phase: UInt64, _ increment: UInt64) -> Float {
    let step = turns(increment)
    let naive: Float = phase < half ? 1 : -1
    return naive + jump(distance(phase), step) - jump(distance(phase &+ half), step)
  }

  /// From 0 up to 1 at half a turn, there down to -1.
  @inline(__always) @_noLocks
  private static func sawtooth(_ phase: UInt64, _ increment: UInt64) -> Float {
    2 * distance(phase) - jump(distance(phase &+ half), turns(increment))
  }

  /// What to add at a distance from a jump by 2 upwards.
  @inline(__always) @_noLocks
  private static func jump(_ distance: Float, _ step: Float) -> Float {
    if distance >= step || distance <= -step { return 0 }
    let rest = 1 - (distance < 0 ? -distance : distance) / step
    return distance < 0 ? rest * rest : -rest * rest
  }

  /// What to add at a distance from a corner, for each unit that the slope per frame rises there.
  @inline(__always) @_noLocks
  private static func corner(_ distance: Float, _ step: Float) -> Float {
    if distance >= step || distance <= -step { return 0 }
    let rest = 1 - (distance < 0 ? -distance : distance) / step
    return rest * rest * rest * (1 / 6)
  }

  private static var quarter: UInt64 { @_noLocks get { 1 << 62 } }
  private static var half: UInt64 { @_noLocks get { 1 << 63 } }

  /// A phase as turns since the nearest turn's start, -0.5 to 0.5: most precise around it.
  @inline(__always) @_noLocks
  private static func distance(_ phase: UInt64) -> Float { Float(Int64(bitPattern: phase)) * 0x1p-64 }

  /// A phase as turns, 0 to 1.
  @inline(__always) @_noLocks
  private static func turns(_ phase: UInt64) -> Float { Float(phase) * 0x1p-64 }
}
