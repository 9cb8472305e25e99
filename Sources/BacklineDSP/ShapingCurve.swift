import CBackline

/// The static curves of distortion, as numbers in the order of `names`. What they are stands beside the loops that use them, in
/// `Shaper.h`.
enum ShapingCurve {
  static let names = ["soft", "warm", "diode", "hard", "fuzz", "rectifier"]

  static var soft: Int32 { @inline(__always) @_noLocks get { 0 } }
  static var warm: Int32 { @inline(__always) @_noLocks get { 1 } }

  /// The curve itself.
  static func value(_ curve: Int32, _ x: Double) -> Double { backline_curve(curve, StereoVector(x, x)).x }

  /// The first and the second antiderivative.
  static func integrals(_ curve: Int32, _ x: Double) -> (first: Double, second: Double) {
    let integrals = backline_curve_integrals(curve, StereoVector(x, x))
    return (integrals.first.x, integrals.second.x)
  }
}
