/// Polynomials in place of libm where a value is needed for every sample: pure arithmetic, so that loops over them
/// vectorise and give the same bits on every machine.
///
/// The coefficients are minimax fits (Remez), rounded to Float; the stated errors include the rounding of the evaluation.
public enum FastMath {
  /// The logarithm to base 2 of a positive, normal, finite number; off by at most 1e-7, or 1e-7 of the result.
  ///
  /// The mantissa is brought to √½ ..< √2, so that the logarithm of 1 is exactly 0.
  @inlinable @inline(__always) @_noLocks
  public static func log2(_ x: Float) -> Float {
    let bits = Int32(bitPattern: x.bitPattern)
    let exponent = (bits &- 0x3F35_04F3) &>> 23
    let f = Float(bitPattern: UInt32(bitPattern: bits &- (exponent &<< 23))) - 1
    var p: Float = -0.145_746_723
    p = p * f + 0.236_892_208
    p = p * f - 0.250_068_963
    p = p * f + 0.286_707_133
    p = p * f - 0.360_087_186
    p = p * f + 0.480_939_478
    p = p * f - 0.721_357_167
    p = p * f + 1.442_694_78
    return Float(exponent) + p * f
  }

  /// 2 to the power of `x`, which is taken as -126...126; off by at most 2e-7 of the result.
  ///
  /// The power of 0 is exactly 1.
  @inlinable @inline(__always) @_noLocks
  public static func exp2(_ x: Float) -> Float {
    let low = x > -126 ? x : -126
    let limited = low < 126 ? low : 126
    let magic: Float = 12_582_912  // 1.5 * 2^23: adding it rounds to a whole number, held in the low bits
    let rounded = limited + magic
    let f = limited - (rounded - magic)
    var p: Float = 0.001_326_467_49
    p = p * f + 0.009_671_511_13
    p = p * f + 0.055_507_339_5
    p = p * f + 0.240_222_424
    p = p * f + 0.693_147_004
    let scale = Float(bitPattern: (rounded.bitPattern &- magic.bitPattern &+ 127) &<< 23)
    return (p * f + 1) * scale
  }

  /// sin(u π/4) for 0...2, the quarter of a circle that panning needs; off by at most 2e-7 of the result.
  ///
  /// It is exactly 0 at 0 and exactly 1 at 2.
  @inlinable @inline(__always) @_noLocks
  public static func quarterSine(_ u: Float) -> Float {
    let z = u * u
    var p: Float = 2.958_666_13e-7
    p = p * z - 3.651_378_21e-5
    p = p * z + 0.002_490_302_31
    p = p * z - 0.080_745_466_1
    p = p * z + 0.785_398_185
    return p * u
  }
}
