import CBackline

/// The magnetisation of a stereo tape: the model of Jiles and Atherton ("Theory of ferromagnetic hysteresis", J. Magn. Magn.
/// Mater. 61, 1986), used as by Chowdhury ("Real-time physical modelling for analog tape machines", DAFx 2019).
///
/// The field moves in a straight line from sample to sample, so that the equation needs no time: dM/dH alone, by the midpoint
/// rule (`backline_tape_step`). The saturation magnetisation is 1 and the shape parameter 1/3, for a slope of 1 where the field is
/// weak. The recording bias is not rendered; a strong bias makes the magnetisation follow the curve without hysteresis, and
/// `reversible` (Jiles and Atherton's c) says how nearly.
struct TapeHysteresis {
  private var state = BacklineTape(field: .zero, magnetisation: .zero)

  @_noLocks
  init() {}

  /// Takes the next field strengths and returns the magnetisations.
  @inline(__always) @_noLocks
  mutating func next(_ strength: SIMD2<Double>, reversible: Double) -> SIMD2<Double> {
    state = backline_tape_step(state, strength, reversible)
    return state.magnetisation
  }
}
