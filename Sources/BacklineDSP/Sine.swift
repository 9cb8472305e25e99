/// The sine of a phase in fixed point, where 2^32 is one turn.
///
/// An odd polynomial of the ninth degree on a quarter turn, fitted at Chebyshev's points: the error stays below -130 dB,
/// most of it the rounding of `Float`. Needs no table and no library, and is the same on every machine.
enum Sine {
  /// sin(2π · phase / 2^32).
  @inline(__always) @_noLocks
  static func value(_ phase: UInt32) -> Float {
    let turn = Int32(bitPattern: phase)
    // In the two quarters around the half turn, sin(x) = sin(π - x) brings the phase back to the ones around zero.
    let isOuter = (turn ^ (turn &<< 1)) < 0
    let quarter = Float(isOuter ? Int32.min &- turn : turn) * 0x1p-30
    let square = quarter * quarter
    let outer = 0.079_688_474 + square * (-0.004_672_220_4 + square * 0.000_150_817_16)
    return quarter * (1.570_796_3 + square * (-0.645_963_37 + square * outer))
  }
}
