import CBackline

/// A static curve applied to one channel with second-order antiderivative antialiasing, one frame late.
///
/// Between two samples the input is taken as a straight line; the curve is applied to that continuous signal, which is
/// smoothed by a triangle two frames wide and sampled again, all in closed form (Parker, Zavalishin and Le Bivic, "Reducing the
/// aliasing of nonlinear waveshaping using continuous-time convolution", DAFx 2016; Bilbao, Esqueda, Parker and Välimäki,
/// "Antiderivative antialiasing for memoryless nonlinearities", IEEE Signal Processing Letters 24, 2017). The triangle's
/// zeros lie on the multiples of the sample rate, where what aliases into the middle of the band comes from. A straight curve
/// passes (2 + cos ω) / 3 of a tone, ω being the phase that it goes through in a frame.
struct AntialiasedShaper {
  private var last = 0.0
  private var lastFirst = 0.0
  private var lastSecond = 0.0
  /// The part of the output that the segment before has already given.
  private var carried = 0.0

  @_noLocks
  init() {}

  /// Starts on the curve at a resting input of `bias`.
  @_noLocks
  mutating func reset(_ curve: Int32, bias: Double) {
    last = bias
    (lastFirst, lastSecond) = ShapingCurve.integrals(curve, bias)
    carried = Self.halfRest(curve, bias)
  }

  /// What comes out, to the bit, when `bias` has gone in for two frames.
  @inline(__always) @_noLocks
  static func rest(_ curve: Int32, _ bias: Double) -> Double { halfRest(curve, bias) + halfRest(curve, bias) }

  @inline(__always) @_noLocks
  private static func halfRest(_ curve: Int32, _ bias: Double) -> Double { 0.5 * ShapingCurve.value(curve, bias) }

  /// Takes one sample, held to ±4096, and returns the shaped one before it.
  @inline(__always) @_noLocks
  mutating func next(_ curve: Int32, _ input: Double) -> Double {
    let x = max(-4096, min(input, 4096))
    let (first, second) = ShapingCurve.integrals(curve, x)
    let d = x - last
    let rising: Double, falling: Double
    let isBent = abs(x) < 40 || abs(last) < 40 || (x < 0) != (last < 0)
    if isBent && abs(d) > 1e-3 {
      let slope = 1 / d
      let difference = (second - lastSecond) * slope * slope
      rising = first * slope - difference
      falling = difference - lastFirst * slope
    } else {
      // A short or straight piece: Gauss's two points, without the division by nearly nothing.
      let low = 0.211_324_865_405_187_1, high = 0.788_675_134_594_812_9
      let a = ShapingCurve.value(curve, last + low * d), b = ShapingCurve.value(curve, last + high * d)
      // Written so that a constant input gives its value to the bit.
      rising = 0.5 * (a + high * (b - a))
      falling = 0.5 * (a + low * (b - a))
    }
    let output = carried + falling
    carried = rising
    last = x
    lastFirst = first
    lastSecond = second
    return output
  }
}
