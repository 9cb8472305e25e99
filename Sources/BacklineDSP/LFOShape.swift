/// The waves of an LFO: functions of the phase alone, -1 to 1.
///
/// What would jump goes over in an S-curve instead (`edge` turns long), so that a level or a cutoff moved by it does not
/// click. Random values are hashes of the number of the turn: the same in every run, and the same in both channels.
enum LFOShape {
  static let names = ["sine", "triangle", "square", "rampUp", "rampDown", "randomSteps", "randomGlide"]
  static var last: Int32 { @_noLocks get { 6 } }

  /// The value of the wave with this index in `names` at a phase (2^64 is a turn) of a turn.
  @inline(__always) @_noLocks
  static func value(_ index: Int32, phase: UInt64, turn: Int64, edge: Float) -> Float {
    switch index {
    case 0: Sine.value(UInt32(truncatingIfNeeded: phase >> 32))
    case 1: triangle(phase)
    case 2: square(phase, edge)
    case 3: ramp(phase, edge)
    case 4: -ramp(phase, edge)
    case 5: random(turn, min(1, turns(phase) / edge))
    default: random(turn, turns(phase))
    }
  }

  /// From 0 up to 1 at a quarter turn, down to -1 at three quarters.
  @inline(__always) @_noLocks
  private static func triangle(_ phase: UInt64) -> Float {
    let fromMiddle = turns(phase &+ (1 << 62)) - 0.5
    return 1 - 4 * (fromMiddle < 0 ? -fromMiddle : fromMiddle)
  }

  /// 1 for half a turn, then -1.
  @inline(__always) @_noLocks
  private static func square(_ phase: UInt64, _ edge: Float) -> Float {
    let intoHalf = turns(phase & ~(1 << 63))
    let value = 2 * curve(min(1, intoHalf / edge)) - 1
    return phase < 1 << 63 ? value : -value
  }

  /// From -1 at the start up to 1 at the end of a turn.
  @inline(__always) @_noLocks
  private static func ramp(_ phase: UInt64, _ edge: Float) -> Float {
    let position = turns(phase)
    return position < edge ? 1 - 2 * curve(position / edge) : -1 + 2 * (position - edge) / (1 - edge)
  }

  /// From the value of the turn before (0) to that of this turn (1).
  @inline(__always) @_noLocks
  private static func random(_ turn: Int64, _ position: Float) -> Float {
    let before = hash(turn &- 1)
    return before + (hash(turn) - before) * curve(position)
  }

  /// An S-curve from 0 to 1 without a corner at either end.
  @inline(__always) @_noLocks
  private static func curve(_ x: Float) -> Float { x * x * (3 - 2 * x) }

  /// A number from -1 to 1 that looks random: the finaliser of splitmix64 (Steele, Lea and Flood, "Fast splittable
  /// pseudorandom number generators", OOPSLA 2014).
  @inline(__always) @_noLocks
  private static func hash(_ turn: Int64) -> Float {
    var z = UInt64(bitPattern: turn) &* 0x9E37_79B9_7F4A_7C15
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return Float(Int64(bitPattern: z ^ (z >> 31)) >> 40) * 0x1p-23
  }

  /// A phase as turns, 0 to 1.
  @inline(__always) @_noLocks
  private static func turns(_ phase: UInt64) -> Float { Float(phase >> 32) * 0x1p-32 }
}
