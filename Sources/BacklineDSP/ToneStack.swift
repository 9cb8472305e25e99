import CBackline

/// The treble, middle and bass controls of a Fender '59 Bassman: the passive network of three capacitors, three potentiometers and
/// a resistor, exactly, after Yeh and Smith ("Discretization of the '59 Fender Bassman tone stack", DAFx 2006).
///
/// The third-order transfer function follows from the components and the positions of the potentiometers; it is made
/// discrete by the bilinear transform without prewarping, at a rate high enough for that not to matter. Stereo, in Double.
struct ToneStack {
  /// A transfer function of the third order; a0 is 1.
  struct Coefficients {
    var b0 = 0.0
    var b1 = 0.0
    var b2 = 0.0
    var b3 = 0.0
    var a1 = 0.0
    var a2 = 0.0
    var a3 = 0.0

    @_noLocks
    init() {}

    /// The network with its potentiometers at `treble`, `middle`, `bass`, 0 to 1; the bass one is of the logarithmic kind.
    @_noLocks
    init(treble t: Double, middle m: Double, bass: Double, sampleRate: Double) {
      let l = backline_exp((bass - 1) * 3.4)
      let r1 = 250e3, r2 = 1e6, r3 = 25e3, r4 = 56e3
      let c1 = 250e-12, c2 = 20e-9, c3 = 20e-9
      let c12 = c1 * c2, c13 = c1 * c3, c23 = c2 * c3, c123 = c12 * c3
      // Sums in steps, for the compiler's sake.
      let n1 = t * c1 * r1 + m * c3 * r3 + l * (c1 + c2) * r2 + (c1 + c2) * r3
      var n2 = t * (c12 + c13) * r1 * r4 - m * m * (c13 + c23) * r3 * r3
      n2 += m * (c13 * r1 * r3 + (c13 + c23) * r3 * r3)
      n2 += l * (c12 * r1 * r2 + (c12 + c13) * r2 * r4) + l * m * (c13 + c23) * r2 * r3
      n2 += c12 * r1 * r3 + (c12 + c13) * r3 * r4
      let rm = c123 * r3 * r3 * (r1 + r4)
      var n3 = l * m * c123 * r2 * r3 * (r1 + r4) - m * m * rm + m * rm
      n3 += t * c123 * r1 * r3 * r4 * (1 - m) + t * l * c123 * r1 * r2 * r4
      let d1 = c1 * (r1 + r3) + c2 * (r3 + r4) + c3 * r4 + m * c3 * r3 + l * (c1 + c2) * r2
      var d2 = m * (c13 * r1 * r3 - c23 * r3 * r4 + (c13 + c23) * r3 * r3)
      d2 += l * m * (c13 + c23) * r2 * r3 - m * m * (c13 + c23) * r3 * r3
      d2 += l * (c12 * r2 * r4 + c12 * r1 * r2 + c13 * r2 * r4 + c23 * r2 * r4)
      d2 += c12 * r1 * r4 + c13 * r1 * r4 + c12 * r3 * r4 + c12 * r1 * r3 + c13 * r3 * r4 + c23 * r3 * r4
      var d3 = l * m * c123 * r2 * r3 * (r1 + r4) - m * m * rm
      d3 += m * (rm - c123 * r1 * r3 * r4) + l * c123 * r1 * r2 * r4 + c123 * r1 * r3 * r4
      let k = 2 * sampleRate
      let p1 = n1 * k, p2 = n2 * k * k, p3 = n3 * k * k * k
      let q1 = d1 * k, q2 = d2 * k * k, q3 = d3 * k * k * k
      let scale = 1 / (1 + q1 + q2 + q3)
      b0 = (p1 + p2 + p3) * scale
      b1 = (p1 - p2 - 3 * p3) * scale
      b2 = (-p1 - p2 + 3 * p3) * scale
      b3 = (-p1 + p2 - p3) * scale
      a1 = (3 + q1 - q2 - 3 * q3) * scale
      a2 = (3 - q1 - q2 + 3 * q3) * scale
      a3 = (1 - q1 + q2 - q3) * scale
    }

    @inline(__always) @_noLocks
    fileprivate mutating func add(_ step: Coefficients) {
      b0 += step.b0
      b1 += step.b1
      b2 += step.b2
      b3 += step.b3
      a1 += step.a1
      a2 += step.a2
      a3 += step.a3
    }

    @_noLocks
    fileprivate func step(to goal: Coefficients, over frames: Double) -> Coefficients {
      var step = Coefficients()
      step.b0 = (goal.b0 - b0) / frames
      step.b1 = (goal.b1 - b1) / frames
      step.b2 = (goal.b2 - b2) / frames
      step.b3 = (goal.b3 - b3) / frames
      step.a1 = (goal.a1 - a1) / frames
      step.a2 = (goal.a2 - a2) / frames
      step.a3 = (goal.a3 - a3) / frames
      return step
    }
  }

  private struct Channel {
    var s1 = 0.0
    var s2 = 0.0
    var s3 = 0.0

    @inline(__always) @_noLocks
    mutating func next(_ x: Double, _ c: Coefficients) -> Double {
      let y = c.b0 * x + s1
      s1 = c.b1 * x - c.a1 * y + s2
      s2 = c.b2 * x - c.a2 * y + s3
      s3 = c.b3 * x - c.a3 * y
      return y
    }
  }

  private var now = Coefficients()
  private var goal = Coefficients()
  private var step = Coefficients()
  private var remaining: Int32 = 0
  private var left = Channel()
  private var right = Channel()

  @_noLocks
  init() {}

  /// Moves to other coefficients over `frames` frames of its own rate; at once for 0.
  @_noLocks
  mutating func move(to coefficients: Coefficients, over frames: Int32) {
    goal = coefficients
    remaining = frames
    if frames <= 0 { now = goal } else { step = now.step(to: goal, over: Double(frames)) }
  }

  /// Filters one frame.
  @inline(__always) @_noLocks
  mutating func next(_ input: SIMD2<Double>) -> SIMD2<Double> {
    if remaining > 0 {
      remaining &-= 1
      if remaining == 0 { now = goal } else { now.add(step) }
    }
    return SIMD2(left.next(input.x, now), right.next(input.y, now))
  }

  /// Forgets the past and ends the movement.
  @_noLocks
  mutating func clear() {
    now = goal
    remaining = 0
    left = Channel()
    right = Channel()
  }
}
