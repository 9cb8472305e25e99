import BacklineRealtime

/// How a position p between left (-1) and right (1) becomes two gains.
enum PanLaw {
  typealias Gains = (left: Float, right: Float)

  /// The far side is turned down, the near side stays: min(1, 1 - p) and min(1, 1 + p).
  @inline(__always) @_noLocks
  static func balance(_ pan: Float) -> Gains {
    (pan > 0 ? 1 - pan : 1, pan < 0 ? 1 + pan : 1)
  }

  /// The sum of the powers stays: cos((1 + p) π/4) and sin((1 + p) π/4), -3 dB in the middle.
  @inline(__always) @_noLocks
  static func constantPower(_ pan: Float) -> Gains {
    (FastMath.quarterSine(1 - pan), FastMath.quarterSine(1 + pan))
  }

  /// The sum of the gains stays: (1 - p) / 2 and (1 + p) / 2, -6 dB in the middle.
  @inline(__always) @_noLocks
  static func linear(_ pan: Float) -> Gains {
    (0.5 - 0.5 * pan, 0.5 + 0.5 * pan)
  }
}
