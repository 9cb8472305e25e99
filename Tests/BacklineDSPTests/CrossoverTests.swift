import BacklineDSP
import BacklineTestSupport
import CBackline
import Testing

@Suite("Crossover")
struct CrossoverTests {
  static let rates = [44_100.0, 48_000, 96_000]
  static let frequencies = [30.0, 90, 200, 450, 1000, 2200, 5000, 9000, 14_000, 19_000]

  private func bands(_ count: Int, rate: Double) -> [[Float]] {
    let impulse = Signals.impulse(frames: 16_384)
    return UnitHarness(Crossover.description, sampleRate: rate, parameters: ["bands": Float(count)])
      .render([[impulse, impulse]]).map { $0[0] }
  }

  @Test("the bands add up to a flat level", arguments: rates)
  func sum(rate: Double) {
    var worst = 0.0
    for count in 2...4 {
      let bands = bands(count, rate: rate)
      let sum = bands[0].indices.map { frame in bands.reduce(0) { $0 + $1[frame] } }
      for frequency in Self.frequencies {
        worst = max(worst, abs(Measured.response(at: frequency, sum, sampleRate: rate)))
      }
    }
    print("measured: crossover's sum off flat by at most \(Measured.text(worst, 5)) dB at \(Int(rate)) Hz")
    #expect(worst < 0.01)
  }

  @Test("each band is a Linkwitz-Riley filter of the fourth order", arguments: rates)
  func response(rate: Double) {
    // The square of a Butterworth section: 6.02 dB down at the crossover, 24 dB an octave, where the bilinear transform
    // puts the frequency.
    func low(_ frequency: Double, _ crossover: Double) -> Double {
      let s = backline_tan(.pi * frequency / rate) / backline_tan(.pi * crossover / rate)
      return -20 * backline_log(1 + s * s * s * s) / backline_log(10)
    }
    func high(_ frequency: Double, _ crossover: Double) -> Double {
      let s = backline_tan(.pi * frequency / rate) / backline_tan(.pi * crossover / rate)
      return low(frequency, crossover) + 80 * backline_log(s) / backline_log(10)
    }
    let bands = bands(4, rate: rate)
    for frequency in Self.frequencies {
      let right = [
        low(frequency, 1000) + low(frequency, 200), low(frequency, 1000) + high(frequency, 200),
        high(frequency, 1000) + low(frequency, 5000), high(frequency, 1000) + high(frequency, 5000),
      ]
      for (band, right) in zip(bands, right) where right > -80 {
        #expect(abs(Measured.response(at: frequency, band, sampleRate: rate) - right) < 0.05)
      }
    }
  }

  @Test("unused bands are silent, and a change of their number does not click")
  func change() {
    let tone = Signals.sine(300, frames: 12_000, amplitude: 0.5)
    let output = UnitHarness(Crossover.description).render(
      [[tone, tone]],
      events: [
        .init(3001, "bands", 4), .init(3201, "bands", 3), .init(7001, "bands", 2),
        .init(9001, "crossover1Frequency", 3000),
      ])
    for band in output { #expect(Signals.largestStep(band[0]) < 0.5 * 2 * .pi * 300 / 48_000 + 0.005) }
    #expect(output[3][0][..<3001].allSatisfy { $0 == 0 } && output[3][0][4000...].allSatisfy { $0 == 0 })
    #expect(output[2][0][7600...].allSatisfy { $0 == 0 })
  }
}
