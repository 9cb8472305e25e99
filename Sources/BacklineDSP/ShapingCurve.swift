import CBackline

/// Static curves of distortion with their first and second antiderivatives.
///
/// All have the slope 1 at 0 (the rectifier above it only) and end at ±1 (0 and 1); `F1` and `F2` are 0 at 0. Polynomials, or one exponential, so that the
/// antiderivatives are exact.
enum ShapingCurve {
  /// Their names, in the order of their numbers.
  static let names = ["soft", "warm", "diode", "hard", "fuzz", "rectifier"]

  /// The curve itself.
  @inline(__always) @_noLocks
  static func value(_ curve: Int32, _ x: Double) -> Double {
    let a = x < 0 ? -x : x
    let sign: Double = x < 0 ? -1 : 1
    switch curve {
    case 0:
      let u = a * (1 / 1.875)
      return sign * (u >= 1 ? 1 : u * (1.875 + u * u * (-1.25 + 0.375 * u * u)))
    case 1:
      let u = a * (1 / 1.5)
      return sign * (u >= 1 ? 1 : u * (1.5 - 0.5 * u * u))
    case 2: return sign * exponential(a).0
    case 3: return sign * min(a, 1)
    case 4: return x < 0 ? -exponential(a).0 : min(a, 1)
    default: return x < 0 ? 0 : min(a, 1)
    }
  }

  /// The first and the second antiderivative.
  @inline(__always) @_noLocks
  static func integrals(_ curve: Int32, _ x: Double) -> (first: Double, second: Double) {
    let a = x < 0 ? -x : x
    let sign: Double = x < 0 ? -1 : 1
    switch curve {
    case 0:
      // (15 u - 10 u³ + 3 u⁵) / 8, flat to the second order at its ends.
      let s = 1.875, u = a / s, w = u * u
      if u < 1 {
        return (
          s * w * (15.0 / 16 - w * (5.0 / 16 - w / 16)), sign * s * s * u * w * (5.0 / 16 - w * (1.0 / 16 - w / 112))
        )
      }
      let v = u - 1
      return (s * (11.0 / 16 + v), sign * s * s * (29.0 / 112 + v * (11.0 / 16 + 0.5 * v)))
    case 1:
      // (3 u - u³) / 2.
      let s = 1.5, u = a / s, w = u * u
      if u < 1 { return (s * w * (0.75 - 0.125 * w), sign * s * s * u * w * (0.25 - 0.025 * w)) }
      let v = u - 1
      return (s * (0.625 + v), sign * s * s * (0.225 + v * (0.625 + 0.5 * v)))
    case 2:
      let (_, first, second) = exponential(a)
      return (first, sign * second)
    case 3:
      let (first, second) = clipped(a)
      return (first, sign * second)
    case 4:
      if x < 0 {
        let (_, first, second) = exponential(a)
        return (first, -second)
      }
      return clipped(a)
    default: return x < 0 ? (0, 0) : clipped(a)
    }
  }

  @inline(__always) @_noLocks
  private static func clipped(_ a: Double) -> (first: Double, second: Double) {
    a < 1 ? (0.5 * a * a, a * a * a / 6) : (a - 0.5, 0.5 * a * (a - 1) + 1.0 / 6)
  }

  /// 1 - exp(-a), as a diode bends, with its antiderivatives.
  @inline(__always) @_noLocks
  private static func exponential(_ a: Double) -> (Double, first: Double, second: Double) {
    let e = backline_exp(-a)
    if a < 0.01 {
      // The series, where the differences would lose their digits.
      return (1 - e, a * a * (0.5 - a * (1.0 / 6 - a / 24)), a * a * a * (1.0 / 6 - a * (1.0 / 24 - a / 120)))
    }
    return (1 - e, a - 1 + e, 0.5 * a * a - a + 1 - e)
  }
}
