import BacklineDSP
import BacklineTestSupport
import CBackline
import Testing

/// A complex number, as far as a frequency response needs it.
private struct Complex {
  var real: Double
  var imaginary = 0.0

  var magnitude: Double { backline_sqrt(real * real + imaginary * imaginary) }
}

@Suite("The equalizer's frequency response")
struct EqualizerResponseTests {
  static let types = [
    "parametric", "lowPass", "highPass", "resonantLowPass", "resonantHighPass", "bandPass", "bandStop", "lowShelf",
    "highShelf", "resonantLowShelf", "resonantHighShelf",
  ]

  /// The magnitude of the cookbook's analogue prototype where the bilinear transform puts the frequency: nothing of the
  /// digital coefficients enters here.
  private func expected(
    _ type: String, _ frequency: Double, centre: Double, gain: Double, q: Double, sampleRate: Double
  ) -> Double {
    let s = backline_tan(.pi * frequency / sampleRate) / backline_tan(.pi * centre / sampleRate)  // times i
    let a = backline_pow(10, gain / 40)
    let isPlain = ["lowPass", "highPass", "lowShelf", "highShelf"].contains(type)
    let d = 1 / (isPlain ? backline_sqrt(0.5) : q)
    let root = backline_sqrt(a) * d
    // Polynomials in is: (is)² = -s².
    let top: Complex
    var bottom = Complex(real: 1 - s * s, imaginary: d * s)
    switch type {
    case "lowPass", "resonantLowPass": top = Complex(real: 1)
    case "highPass", "resonantHighPass": top = Complex(real: -s * s)
    case "bandPass": top = Complex(real: 0, imaginary: d * s)
    case "bandStop": top = Complex(real: 1 - s * s)
    case "parametric":
      top = Complex(real: 1 - s * s, imaginary: d * a * s)
      bottom.imaginary = d / a * s
    case "lowShelf", "resonantLowShelf":
      top = Complex(real: a * (a - s * s), imaginary: a * root * s)
      bottom = Complex(real: 1 - a * s * s, imaginary: root * s)
    default:
      top = Complex(real: a * (1 - a * s * s), imaginary: a * root * s)
      bottom = Complex(real: a - s * s, imaginary: root * s)
    }
    return top.magnitude / bottom.magnitude
  }

  private func decibels(_ magnitude: Double) -> Double { 20 * backline_log(magnitude) / backline_log(10) }

  @Test("every type follows the cookbook within 0.05 dB", arguments: types, [44_100.0, 48_000, 96_000])
  func magnitude(type: String, sampleRate: Double) throws {
    let index = try #require(Self.types.firstIndex(of: type))
    for (centre, gain, q) in [(1000.0, 9.0, 2.0), (150.0, -18.0, 0.5), (9000.0, 24.0, 0.9)] {
      let unit = UnitHarness(
        Equalizer.description, sampleRate: sampleRate,
        parameters: [
          "band3Type": Float(index), "band3Frequency": Float(centre), "band3Gain": Float(gain), "band3Q": Float(q),
          "band3Enabled": 1,
        ])
      let impulse = Signals.impulse(frames: 16_384)
      let silence = [Float](repeating: 0, count: 16_384)
      let output = unit.render([[impulse, silence]])[0]
      #expect(output[1].allSatisfy { $0 == 0 })
      for frequency in [31.5, 150, 400, 1000, 2500, 9000, 16_000] {
        // A response of N frames measured as a full-scale sine would be: undo the factor 2 / N.
        let found = Signals.amplitude(of: frequency, in: output[0], sampleRate: sampleRate) * 8192
        let right = expected(type, frequency, centre: centre, gain: gain, q: q, sampleRate: sampleRate)
        if right > 1e-3 {
          #expect(abs(decibels(found) - decibels(right)) < 0.05, "\(frequency) Hz of \(centre) Hz")
        } else {
          #expect(found < 1.1e-3, "\(frequency) Hz of \(centre) Hz")
        }
      }
    }
  }

  @Test(
    "all types together are off the cookbook by hardly anything, also near half the rate",
    arguments: [44_100.0, 48_000, 96_000])
  func worstOfAll(sampleRate: Double) {
    var worst = 0.0
    for (index, type) in Self.types.enumerated() {
      for (centre, gain, q) in [(60.0, 12.0, 4.0), (1000, -9, 0.7), (18_000, 6, 1)] {
        let unit = UnitHarness(
          Equalizer.description, sampleRate: sampleRate,
          parameters: [
            "band2Type": Float(index), "band2Frequency": Float(centre), "band2Gain": Float(gain), "band2Q": Float(q),
            "band2Enabled": 1,
          ])
        let impulse = Signals.impulse(frames: 32_768)
        let output = unit.render([[impulse, impulse]], cuts: [4096])[0][0]
        for frequency in [40.0, 60, 250, 1000, 4000, 12_000, 18_000, 20_500] {
          let right = decibels(
            expected(type, frequency, centre: centre, gain: gain, q: q, sampleRate: sampleRate))
          if right < -60 { continue }
          worst = max(worst, abs(Measured.response(at: frequency, output, sampleRate: sampleRate) - right))
        }
      }
    }
    print("measured: equalizer off the cookbook by at most \(Measured.text(worst)) dB at \(Int(sampleRate)) Hz")
    #expect(worst < 0.05)
  }

  @Test("bands in series multiply, whatever the order they were switched on in")
  func series() {
    let settings: [String: Float] = [
      "band1Gain": 6, "band1Frequency": 200, "band7Gain": -9, "band7Frequency": 2000, "band12Gain": 4,
      "band12Frequency": 8000, "globalGain": -3,
    ]
    let impulse = Signals.impulse(frames: 16_384)
    func render(_ order: [Int]) -> [Float] {
      let unit = UnitHarness(Equalizer.description, parameters: settings)
      for band in order { unit.set("band\(band)Enabled", 1, ramp: 0) }
      return unit.render([[impulse, impulse]])[0][0]
    }
    let output = render([1, 7, 12])
    #expect(render([12, 1, 7]) == output)
    for frequency in [100.0, 1000, 5000] {
      let found = decibels(Signals.amplitude(of: frequency, in: output) * 8192)
      let right = [(200.0, 6.0), (2000, -9), (8000, 4)].reduce(-3.0) { sum, band in
        sum
          + decibels(
            expected("parametric", frequency, centre: band.0, gain: band.1, q: 0.7071, sampleRate: 48_000))
      }
      #expect(abs(found - right) < 0.05)
    }
  }
}
