import BacklineRealtime

/// The magnetisation of one channel of tape: the model of Jiles and Atherton ("Theory of ferromagnetic hysteresis", J. Magn.
/// Magn. Mater. 61, 1986), used as by Chowdhury ("Real-time physical modelling for analog tape machines", DAFx 2019).
///
/// The field moves in a straight line from sample to sample, so that the equation needs no time: dM/dH alone, by the midpoint
/// rule. The saturation magnetisation is 1 and the shape parameter 1/3, for a slope of 1 where the field is weak. The
/// recording bias is not rendered; a strong bias makes the magnetisation follow the curve without hysteresis, and `reversible`
/// (Jiles and Atherton's c) says how nearly.
struct TapeHysteresis {
  private static var shape: Double { @inline(__always) @_noLocks get { 1.0 / 3 } }
  private static var pinning: Double { @inline(__always) @_noLocks get { 0.35 } }
  private static var coupling: Double { @inline(__always) @_noLocks get { 1.6e-3 } }

  private var field = 0.0
  private var magnetisation = 0.0

  @_noLocks
  init() {}

  /// Takes the next field strength, held to ±50, and returns the magnetisation.
  @inline(__always) @_noLocks
  mutating func next(_ strength: Double, reversible: Double) -> Double {
    let target = max(-50, min(strength, 50))
    let step = target - field
    let direction: Double = step < 0 ? -1 : 1
    let half = 0.5 * step
    let first = Self.slope(field, magnetisation, direction, reversible)
    let middle = Self.slope(field + half, magnetisation + half * first, direction, reversible)
    field = target
    magnetisation = max(-1.2, min(magnetisation + step * middle, 1.2))
    return magnetisation
  }

  /// dM/dH.
  @inline(__always) @_noLocks
  private static func slope(
    _ field: Double, _ magnetisation: Double, _ direction: Double, _ reversible: Double
  ) -> Double {
    let (langevin, derivative) = langevin((field + coupling * magnetisation) * (1 / shape))
    let distance = langevin - magnetisation
    let irreversible = 1 - reversible
    // Where the field has turned, the walls stay until the curve is met again.
    let moves: Double = distance * direction > 0 ? 1 : 0
    let pinned = irreversible * direction * pinning - coupling * distance
    let bend = reversible * derivative * (1 / shape)
    return (moves * irreversible * distance + bend * pinned) / (pinned * (1 - coupling * bend))
  }

  /// coth x - 1/x and its derivative; by their series where those would lose their digits.
  @inline(__always) @_noLocks
  private static func langevin(_ x: Double) -> (value: Double, derivative: Double) {
    let magnitude = abs(x)
    if magnitude < 0.7 {
      let square = x * x
      let value =
        x * (1.0 / 3 - square * (1.0 / 45 - square * (2.0 / 945 - square * (1.0 / 4725 - square * 2 / 93_555))))
      let derivative = 1.0 / 3 - square * (1.0 / 15 - square * (2.0 / 189 - square * (1.0 / 675 - square * 2 / 10_395)))
      return (value, derivative)
    }
    let power = Double(FastMath.exp2(Float(-2 * 1.442_695_04 * min(magnitude, 40))))
    // Both quotients with one division.
    let quotient = 1 / (magnitude * (1 - power))
    let inverse = quotient * (1 - power)
    let value = (1 + power) * magnitude * quotient - inverse
    return (x < 0 ? -value : value, 1 - value * value - 2 * value * inverse)
  }
}
