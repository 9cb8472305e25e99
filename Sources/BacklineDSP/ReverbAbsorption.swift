import CBackline

/// The loss of each line of the reverb: one high shelf of the first order a line, all sixteen in one vector.
///
/// A line of m frames must lose 60 · m / (T · rate) dB a pass for all of the room to lose 60 dB in T seconds (Jot and
/// Chaigne, "Digital delay networks for designing artificial reverberators", AES 90, 1991). T is the decay time at 800 Hz,
/// where the gain is set, and within a tenth of it from 500 to 1000 Hz; above the shelf's crossover it is shorter.
struct ReverbAbsorption {
  private struct Coefficients {
    var b0 = SIMD16<Float>(repeating: 0)
    var b1 = SIMD16<Float>(repeating: 0)
    var a1 = SIMD16<Float>(repeating: 0)
  }

  /// Above it, in Hz, the high decay time holds.
  private static var crossover: Double { 6000 }
  /// Where, in Hz, the decay time holds.
  private static var middle: Double { 800 }

  private let sampleRate: Double
  private let warped: Float
  /// The square of the middle frequency over the crossover.
  private let middleSquare: Float
  private var now = Coefficients()
  private var step = Coefficients()
  private var goal = Coefficients()
  private var remaining: Int32 = 0
  private var state = SIMD16<Float>(repeating: 0)

  init(sampleRate: Double) {
    self.sampleRate = sampleRate
    let warped = backline_tan(.pi * min(Self.crossover / sampleRate, 0.4))
    let middle = backline_tan(.pi * min(Self.middle / sampleRate, 0.2)) / warped
    self.warped = Float(warped)
    middleSquare = Float(middle * middle)
  }

  /// Moves to the loss of lines of these lengths over `frames` frames; at once when there are none.
  ///
  /// `decayTime` in seconds; `highRatio` is the decay time above the crossover as a part of it, 0 to 1.
  @_noLocks
  mutating func move(lengths: SIMD16<Int32>, decayTime: Float, highRatio: Float, over frames: Int32) {
    let perFrame = -6.907_755_3 / (Float(sampleRate) * decayTime)
    let slope = 0.25 * (1 / highRatio - 1)
    for line in 0..<16 {
      let logarithm = perFrame * Float(lengths[line])
      // The analogue shelf (1 + s·q³) / (1 + s/q), whose gain at infinity is q⁴: where that is much, the pole moves down less
      // than the zero moves up, so that the middle is spared. At most 80 dB a pass, which keeps the pole away from 1.
      let q = max(backline_expf(logarithm * slope), 0.1)
      let numerator = q * q * q, denominator = 1 / q
      let atMiddle = (1 + middleSquare * numerator * numerator) / (1 + middleSquare * denominator * denominator)
      let gain = backline_expf(logarithm) / Float(backline_sqrt(Double(atMiddle)))
      let scale = 1 / (warped + denominator)
      goal.b0[line] = gain * (warped + numerator) * scale
      goal.b1[line] = gain * (warped - numerator) * scale
      goal.a1[line] = (warped - denominator) * scale
    }
    if frames <= 0 {
      settle()
      return
    }
    let part = 1 / Float(frames)
    step.b0 = (goal.b0 - now.b0) * part
    step.b1 = (goal.b1 - now.b1) * part
    step.a1 = (goal.a1 - now.a1) * part
    remaining = frames
  }

  /// Filters one frame of all lines.
  @inline(__always) @_noLocks
  mutating func process(_ input: SIMD16<Float>) -> SIMD16<Float> {
    let output = now.b0 * input + state
    state = now.b1 * input - now.a1 * output
    if remaining > 0 { advance() }
    return output
  }

  /// Forgets the past and ends the movement.
  @_noLocks
  mutating func reset() {
    settle()
    state = SIMD16(repeating: 0)
  }

  @_noLocks
  private mutating func advance() {
    remaining &-= 1
    if remaining == 0 {
      now = goal
    } else {
      now.b0 += step.b0
      now.b1 += step.b1
      now.a1 += step.a1
    }
  }

  @_noLocks
  private mutating func settle() {
    now = goal
    remaining = 0
  }
}
