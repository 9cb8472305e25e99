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
      let u = min(a * (1 / 1.875), 1)
      return sign * u * (1.875 + u * u * (-1.25 + 0.375 * u * u))
    case 1:
      let u = min(a * (1 / 1.5), 1)
      return sign * u * (1.5 - 0.5 * u * u)
    case 2: return sign * exponential(a).0
    case 3: return sign * min(a, 1)
    case 4: return x < 0 ? -exponential(a).0 : min(a, 1)
    default: return x < 0 ? 0 : min(a, 1)
    }
  }

  /// The first and the second antiderivative.
  ///
  /// Without branches where they can be had: where a wave passes the end of a curve cannot be foreseen.
  @inline(__always) @_noLocks
  static func integrals(_ curve: Int32, _ x: Double) -> (first: Double, second: Double) {
    let a = x < 0 ? -x : x
    let sign: Double = x < 0 ? -1 : 1
    switch curve {
    case 0:
      // (15 u - 10 u³ + 3 u⁵) / 8 up to u = 1, flat to the second order there.
      let s = 1.875, u = a * (1 / s), inner = min(u, 1), v = u - inner, w = inner * inner
      let first = w * (15.0 / 16 - w * (5.0 / 16 - w * (1.0 / 16)))
      let second = inner * w * (5.0 / 16 - w * (1.0 / 16 - w * (1.0 / 112)))
      return (s * (first + v), sign * s * s * (second + v * (11.0 / 16 + 0.5 * v)))
    case 1:
      // (3 u - u³) / 2 up to u = 1.
      let s = 1.5, u = a * (1 / s), inner = min(u, 1), v = u - inner, w = inner * inner
      let first = w * (0.75 - 0.125 * w), second = inner * w * (0.25 - 0.025 * w)
      return (s * (first + v), sign * s * s * (second + v * (0.625 + 0.5 * v)))
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
    default: return clipped(max(x, 0))
    }
  }

  @inline(__always) @_noLocks
  private static func clipped(_ a: Double) -> (first: Double, second: Double) {
    let inner = min(a, 1), v = a - inner, w = inner * inner
    return (0.5 * w + v, inner * w * (1.0 / 6) + v * (0.5 + 0.5 * v))
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
