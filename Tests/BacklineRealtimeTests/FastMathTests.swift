import BacklineRealtime
import CBackline
import Testing

@Suite("Fast mathematics")
struct FastMathTests {
  @Test("the logarithm is within 1e-7, absolute or of the result, from 1e-37 to 1e37")
  func logarithm() {
    var exponent: Float = -123
    while exponent < 123 {
      let x = backline_exp2f(exponent)
      let expected = backline_log(Double(x)) / backline_log(2)
      #expect(abs(Double(FastMath.log2(x)) - expected) <= 1e-7 * max(1, abs(expected)))
      exponent += 0.0173
    }
  }

  @Test("the logarithm of a power of 2 is exact")
  func exactLogarithms() {
    for exponent in -100...100 { #expect(FastMath.log2(backline_exp2f(Float(exponent))) == Float(exponent)) }
  }

  @Test("the power is within 2e-7 of the result and ends at the edges of its range")
  func power() {
    var x: Float = -126
    while x < 126 {
      let expected = backline_pow(2, Double(x))
      #expect(abs(Double(FastMath.exp2(x)) / expected - 1) <= 2e-7)
      x += 0.0137
    }
    #expect(FastMath.exp2(0) == 1)
    #expect(FastMath.exp2(1e9) == FastMath.exp2(126))
    #expect(FastMath.exp2(-1e9) == FastMath.exp2(-126))
  }

  @Test("the quarter sine is within 2e-7 of the result and exact at its ends")
  func quarterSine() {
    for step in 1...2000 {
      let u = Float(step) / 1000
      let expected = backline_sin(Double(u) * .pi / 4)
      #expect(abs(Double(FastMath.quarterSine(u)) / expected - 1) <= 2e-7)
    }
    #expect(FastMath.quarterSine(0) == 0)
    #expect(FastMath.quarterSine(2) == 1)
  }
}
