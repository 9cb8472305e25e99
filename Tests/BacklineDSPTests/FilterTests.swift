import BacklineDSP
import BacklineTestSupport
import CBackline
import Testing

@Suite("Filter")
struct FilterTests {
  static let rates = [44_100.0, 48_000, 96_000]

  /// The magnitude in dB of an analogue section, where the bilinear transform puts the frequency.
  private func section(_ mode: Int, _ s: Double, _ q: Double) -> Double {
    let real = 1 - s * s, imaginary = s / q
    let bottom = real * real + imaginary * imaginary
    let top =
      switch mode {
      case 0: 1.0
      case 1: s * s * s * s
      case 2: imaginary * imaginary
      case 3: real * real
      default: bottom
      }
    return 10 * backline_log(max(top / bottom, 1e-30)) / backline_log(10)
  }

  private func expected(_ mode: Int, steep: Bool, _ frequency: Double, cutoff: Double, q: Double, rate: Double)
    -> Double
  {
    let s = backline_tan(.pi * frequency / rate) / backline_tan(.pi * cutoff / rate)
    if !steep { return section(mode, s, q) }
    if mode >= 2 { return 2 * section(mode, s, q) }
    return section(mode, s, 0.541_196_1) + section(mode, s, 1.306_563 * q / 0.7071)
  }

  private func impulseResponse(_ parameters: [String: Float], rate: Double, key: [Float] = []) -> [Float] {
    let impulse = Signals.impulse(frames: 16_384)
    return UnitHarness(Filter.description, sampleRate: rate, parameters: parameters)
      .render([[impulse, impulse], key.isEmpty ? [] : [key, key]])[0][0]
  }

  @Test("every mode follows its analogue prototype within 0.05 dB, also near half the rate", arguments: rates)
  func magnitude(rate: Double) {
    var worst = 0.0
    for mode in 0..<5 {
      for steep in [false, true] {
        for (cutoff, q) in [(100.0, 0.7071), (1000, 6), (9000, 1.5), (18_000, 0.7071)] {
          let response = impulseResponse(
            [
              "mode": Float(mode), "slope": steep ? 1 : 0, "cutoffFrequency": Float(cutoff), "resonance": Float(q),
            ], rate: rate)
          for frequency in [40.0, 100, 300, 1000, 3000, 9000, 15_000, 18_000, 20_000] {
            let right = expected(mode, steep: steep, frequency, cutoff: cutoff, q: q, rate: rate)
            if right < -70 { continue }
            worst = max(worst, abs(Measured.response(at: frequency, response, sampleRate: rate) - right))
          }
        }
      }
    }
    print("measured: filter off its analogue prototype by at most \(Measured.text(worst)) dB at \(Int(rate)) Hz")
    #expect(worst < 0.05)
  }

  @Test("a signal at the modulation input moves the cutoff by octaves")
  func modulation() {
    let key = [Float](repeating: 0.5, count: 16_384)
    let moved = impulseResponse(["cutoffFrequency": 500, "modulationDepth": 4, "resonance": 3], rate: 48_000, key: key)
    for frequency in [500.0, 1500, 2000, 4000] {
      let right = expected(0, steep: false, frequency, cutoff: 2000, q: 3, rate: 48_000)
      #expect(abs(Measured.response(at: frequency, moved, sampleRate: 48_000) - right) < 0.05)
    }
  }

  @Test("the LFO moves the cutoff by its depth and comes back, each side on its own phase")
  func lfo() {
    // A square LFO of 2 Hz: a quarter of a second an octave up, then one down.
    let tone = Signals.sine(1000, frames: 48_000)
    let output = UnitHarness(
      Filter.description,
      parameters: ["lfoDepth": 1, "lfoRate": 2, "lfoShape": 2, "lfoSpread": 180, "cutoffFrequency": 1000]
    ).render([[tone, tone], []])[0]
    func level(_ channel: Int, _ from: Int) -> Double {
      Measured.decibels(Signals.amplitude(of: 1000, in: Array(output[channel][from..<from + 4800])))
    }
    let up = expected(0, steep: false, 1000, cutoff: 2000, q: 0.7071, rate: 48_000)
    let down = expected(0, steep: false, 1000, cutoff: 500, q: 0.7071, rate: 48_000)
    for (channel, values) in [(0, [up, down, up, down]), (1, [down, up, down, up])] {
      for (part, value) in values.enumerated() {
        #expect(abs(level(channel, part * 12_000 + 6000) - value) < 0.1)
      }
    }
  }

  @Test("a loud input opens the filter, a soft one leaves it")
  func envelope() {
    func level(_ amplitude: Float) -> Double {
      let tone = Signals.sine(3000, frames: 24_000, amplitude: amplitude)
      let output = UnitHarness(
        Filter.description, parameters: ["cutoffFrequency": 300, "slope": 1, "envelopeDepth": 5, "envelopeRelease": 1]
      ).render([[tone, tone], []])[0][0]
      return Measured.decibels(Signals.amplitude(of: 3000, in: Array(output[14_400...])) / Double(amplitude))
    }
    #expect(level(1) > -3)
    #expect(level(0.01) < -70)
  }

  @Test("no change of mode, slope, cutoff or resonance clicks")
  func smooth() {
    let tone = Signals.sine(200, frames: 24_000, amplitude: 0.5)
    let output = UnitHarness(Filter.description, parameters: ["cutoffFrequency": 300]).render(
      [[tone, tone], []],
      events: [
        .init(3001, "mode", 1), .init(6001, "slope", 1), .init(9001, "cutoffFrequency", 5000), .init(12_001, "mode", 3),
        .init(15_001, "resonance", 4), .init(18_001, "mode", 0), .init(21_001, "slope", 0),
      ])[0][0]
    #expect(Signals.largestStep(output) < 0.04)
  }
}
