import BacklineTestSupport
import CBackline
import Testing

@testable import BacklineDSP

@Suite("Saturation")
struct SaturationTests {
  private func render(_ parameters: [String: Float], _ signal: [Float], rate: Double = 48_000) -> [Float] {
    UnitHarness(Saturation.description, sampleRate: rate, parameters: ["outputGain": 0].merging(parameters) { $1 })
      .render([[signal, signal]])[0][0]
  }

  @Test("a slow loop ends on Langevin's curve and is open where the bias is low")
  func loop() {
    // Up to a field of 8 shapes, where the loop has closed.
    for (reversible, opens) in [(0.98, false), (0.2, true)] {
      var tape = TapeHysteresis()
      var rising: [Double] = [], falling: [Double] = []
      for step in 0..<100_000 {
        let field = 8.0 / 3 * backline_sin(2 * .pi * Double(step) / 40_000)
        let magnetisation = tape.next(SIMD2(field, 0), reversible: reversible).x
        if step == 80_000 - 40_000 { rising.append(magnetisation) }
        if step == 60_000 { falling.append(magnetisation) }
        if step == 50_000 {
          let x = 8.0
          let expected = (1 + backline_exp(-2 * x)) / (1 - backline_exp(-2 * x)) - 1 / x
          #expect(abs(magnetisation - expected) < 0.02, "\(magnetisation) for \(expected)")
        }
      }
      #expect((falling[0] - rising[0] > 0.2) == opens, "remanence \(falling) \(rising)")
    }
  }

  @Test("a third harmonic rises by two dB a dB at low levels", arguments: [44_100.0, 48_000, 96_000])
  func harmonics(rate: Double) {
    func third(_ drive: Float) -> Double {
      let tone = Signals.sine(1000, frames: Int(rate), amplitude: 0.1, sampleRate: rate)
      let output = Array(render(["drive": drive, "bias": 100], tone, rate: rate).suffix(Int(rate) / 2))
      return Spectra.decibels(
        Signals.amplitude(of: 3000, in: output, sampleRate: rate)
          / Signals.amplitude(of: 1000, in: output, sampleRate: rate))
    }
    // x/3 - x³/45: of a sine of height a at the curve, a² · 9 / 45 / 4 · … = (3 a)² / 60.
    let at0 = third(0)
    let expected = Spectra.decibels(0.09 / 60)
    #expect(abs(at0 - expected) < 2, "\(at0) dB for \(expected)")
    #expect(abs(third(6) - at0 - 12) < 1.5)
    print("measured: saturation third harmonic at -20 dBFS, \(rate) Hz: \(at0) dB, by the formula \(expected) dB")
  }

  @Test(
    "aliases of a 5 kHz tone lie below -80 dB at the default drive", arguments: [44_100, 48_000, 96_000])
  func aliases(rate: Int) {
    let tone = Signals.sine(5000, frames: rate / 2, amplitude: 0.5, sampleRate: Double(rate))
    let output = render([:], tone, rate: Double(rate))
    let alias = Spectra.worstAlias(output, frequency: 5000, sampleRate: rate, limit: min(20_000, 0.417 * Double(rate)))
    #expect(alias < -80)
    print("measured: saturation worst alias of 5 kHz, \(rate) Hz: \(alias) dB")
  }

  @Test("the slower the tape, the darker")
  func speed() {
    func level(_ speed: Float) -> Double {
      let tone = Signals.sine(12_000, frames: 9600, amplitude: 0.01)
      return Signals.amplitude(of: 12_000, in: Array(render(["speed": speed], tone).suffix(4800)))
    }
    #expect(level(0) < 0.9 * level(1) && level(1) < 0.99 * level(2))
  }
}
