import Testing

@testable import BacklineDSP

@Suite("The coefficients of second-order sections")
struct BiquadCoefficientsTests {
  @Test(
    "are finite, and the poles inside the unit circle, at every extreme",
    arguments: 0..<EqualizerFilterType.allCases.count, [8000, 44_100, 192_000, 768_000] as [Double])
  func extremes(type: Int, sampleRate: Double) {
    for frequency in [0, 20, 3999, 20_000, 1e9] {
      for gain in [-1000, -96, 0, 24, 1000] as [Double] {
        for q in [0, 0.1, 0.7071, 40, 1e9] {
          let c = BiquadCoefficients(
            EqualizerFilterType(index: Int32(type)), frequency: frequency, gain: gain, q: q, sampleRate: sampleRate)
          #expect([c.b0, c.b1, c.b2, c.a1, c.a2].allSatisfy { $0.isFinite })
          #expect(abs(c.a2) < 1)
          #expect(abs(c.a1) < 1 + c.a2)
          #expect(c.decay(from: 1).isFinite)
        }
      }
    }
  }

  @Test("an index that names no type is the first")
  func unknownType() {
    #expect(EqualizerFilterType(index: 11) == .parametric)
    #expect(EqualizerFilterType(index: -1) == .parametric)
  }
}
