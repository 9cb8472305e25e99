import CBackline

/// The mean square of a signal's louder channel over about 10 ms: a one-pole average with that time constant, in Double.
struct MeanSquare {
  private static var seconds: Float { @_noLocks get { 0.01 } }
  /// What counts as none: -180 dB.
  private static var negligible: Double { @inline(__always) @_noLocks get { 1e-18 } }
  /// The loudest that is told apart, as a factor.
  private static var loudest: Float { @inline(__always) @_noLocks get { 1_048_576 } }

  private(set) var value = 0.0
  private let coefficient: Double

  @_noLocks
  init(sampleRate: Double) { coefficient = Double(TimeConstant.coefficient(Self.seconds, sampleRate: sampleRate)) }

  /// Takes a frame; returns the mean square.
  @inline(__always) @_noLocks
  mutating func next(_ left: Float, _ right: Float) -> Double {
    let a = abs(left), b = abs(right)
    let larger = a > b ? a : b
    let peak = Double(larger < Self.loudest ? larger : Self.loudest)
    value += (peak * peak - value) * coefficient
    if peak == 0 && value < Self.negligible { value = 0 }
    return value
  }

  @_noLocks
  mutating func reset() { value = 0 }

  /// The frames until a silent input has been forgotten.
  @_noLocks
  func tail() -> Int64 {
    value > Self.negligible
      ? Int64(backline_log(Self.negligible / value) / backline_log(1 - coefficient)) + 2 : 0
  }
}
