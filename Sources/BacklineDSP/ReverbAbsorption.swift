import CBackline

/// The loss of each line of the reverb: one high shelf of the first order a line, all sixteen in one vector.
///
/// A line of m frames must lose 60 · m / (T · rate) dB a pass for all of the room to lose 60 dB in T seconds (Jot and
/// Chaigne, "Digital delay networks for designing artificial reverberators", AES 90, 1991). T is one time at low and
/// middle frequencies and a shorter one above the shelf's crossover.
struct ReverbAbsorption {
  private struct Coefficients {
    var b0 = SIMD16<Float>(repeating: 0)
    var b1 = SIMD16<Float>(repeating: 0)
    var a1 = SIMD16<Float>(repeating: 0)
  }

  /// Above it, in Hz, the high decay time holds.
  private static var crossover: Double { @_noLocks get { 6000 } }

  private let sampleRate: Double
  private let warped: Float
  private var now = Coefficients()
  private var step = Coefficients()
  private var goal = Coefficients()
  private var remaining: Int32 = 0
  private var state = SIMD16<Float>(repeating: 0)

  init(sampleRate: Double) {
    self.sampleRate = sampleRate
    warped = Float(backline_tan(.pi * min(Self.crossover / sampleRate, 0.4)))
  }

  /// Moves to the loss of lines of these lengths over `frames` frames; at once when there are none.
  ///
  /// `decayTime` in seconds; `highRatio` is the decay time above the crossover as a part of it, 0 to 1.
  @_noLocks
  mutating func move(lengths: SIMD16<Int32>, decayTime: Float, highRatio: Float, over frames: Int32) {
    let perFrame = -6.907_755_3 / (Float(sampleRate) * decayTime)
    let slope = 0.5 * (1 / highRatio - 1)
    for line in 0..<16 {
      let logarithm = perFrame * Float(lengths[line])
      let gain = backline_expf(logarithm)
      // At most 80 dB a pass between low and high, which keeps the pole away from 1.
      let root = max(backline_expf(logarithm * slope), 0.01)
      // The analogue shelf (1 + s·root) / (1 + s/root) by the bilinear transform.
      let scale = 1 / (warped + 1 / root)
      goal.b0[line] = gain * (warped + root) * scale
      goal.b1[line] = gain * (warped - root) * scale
      goal.a1[line] = (warped - 1 / root) * scale
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
