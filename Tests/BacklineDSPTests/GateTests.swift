import BacklineDSP
import BacklineTestSupport
import CBackline
import Testing

@Suite("Gate")
struct GateTests {
  static let rates = [44_100.0, 48_000, 96_000]

  private func constant(_ decibels: Double, frames: Int) -> [Float] {
    [Float](repeating: Float(Measured.factor(decibels)), count: frames)
  }

  private func level(_ sample: Float) -> Double { Measured.decibels(Double(abs(sample))) }

  @Test("a constant level ends on the static curve of an expander", arguments: rates)
  func staticCurve(rate: Double) {
    var worst = 0.0
    for (ratio, range) in [(2.0, 60.0), (4, 40), (1.5, 90), (20, 30)] {
      for input in [-80.0, -60, -50, -42, -40.5, -39.5, -30, 0, 20] {
        let signal = constant(input, frames: Int(rate / 4))
        let output = UnitHarness(
          Gate.description, sampleRate: rate,
          parameters: [
            "threshold": -40, "ratio": Float(ratio), "range": Float(range), "attackTime": 0.001, "releaseTime": 0.005,
            "holdTime": 0, "sidechainHighPass": 20,
          ]
        ).render([[signal, signal], [tone(input, rate), tone(input, rate)]])[0][0]
        let expected = input >= -40 ? input : input - min(range, (-40 - input) * (ratio - 1))
        worst = max(worst, abs(level(output[output.count - 1]) - expected))
      }
    }
    print("measured: gate's static curve off by at most \(Measured.text(worst)) dB at \(Int(rate)) Hz")
    #expect(worst < 0.1)
  }

  /// A tone that passes the side chain's filters, its peaks at this level.
  private func tone(_ decibels: Double, _ rate: Double) -> [Float] {
    Signals.sine(1000, frames: Int(rate / 4), amplitude: Float(Measured.factor(decibels)), sampleRate: rate)
  }

  @Test("attack and release cover 63 % of the way in decibels in their times", arguments: rates)
  func times(rate: Double) {
    var worst = 0.0
    for (attack, release, hold) in [(0.001, 0.05, 0.02), (0.02, 0.2, 0), (0.005, 0.02, 0.1)] {
      let part = Int(rate), low = Measured.factor(-60), high = Measured.factor(-10)
      let key = Signals.sine(2000, frames: 3 * part, sampleRate: rate).enumerated().map { frame, sample -> Float in
        sample * Float(frame / part == 1 ? high : low)
      }
      let ones = [Float](repeating: 1, count: 3 * part)
      let output = UnitHarness(
        Gate.description, sampleRate: rate,
        parameters: [
          "threshold": -30, "ratio": 100, "range": 40, "attackTime": Float(attack), "releaseTime": Float(release),
          "holdTime": Float(hold),
        ]
      ).render([[ones, ones], [key, key]])[0][0]
      func crossing(_ from: Int, _ test: (Double) -> Bool) -> Double {
        Double((from..<3 * part).first { test(level(output[$0])) } ?? 0)
      }
      // From the frame where the gain begins to move.
      let opening = crossing(part) { $0 > -40 + 0.001 }
      let opened = crossing(part) { $0 > -40 * 0.367_88 }
      let closing = crossing(2 * part) { $0 < -0.001 }
      let closed = crossing(2 * part) { $0 < -40 * 0.632_12 }
      worst = max(worst, abs((opened - opening) / rate / attack - 1), abs((closed - closing) / rate / release - 1))
      // It stays open while the peaks of the last 10 ms are loud, and for the hold time.
      #expect(abs((closing - Double(2 * part)) / rate - hold - 0.01) < 0.002)
    }
    print("measured: gate's times off by at most \(Measured.text(worst * 100)) % at \(Int(rate)) Hz")
    #expect(worst < 0.05)
  }

  @Test("with hysteresis it opens at the threshold and stays open until the level has fallen below both")
  func hysteresis() {
    func gain(_ levels: [Double]) -> [Double] {
      let key = levels.flatMap { level in
        Signals.sine(1000, frames: 9600, amplitude: Float(Measured.factor(level)))
      }
      let ones = [Float](repeating: 1, count: key.count)
      let output = UnitHarness(
        Gate.description,
        parameters: ["threshold": -30, "hysteresis": 10, "range": 50, "releaseTime": 0.005, "holdTime": 0]
      ).render([[ones, ones], [key, key]])[0][0]
      return levels.indices.map { level(output[$0 * 9600 + 9599]) }
    }
    let found = gain([-35, -29, -35, -38.5, -41, -35, -29.5])
    for (found, expected) in zip(found, [-45.0, 0, 0, 0, -50, -45, 0]) { #expect(abs(found - expected) < 0.6) }
  }

  @Test("the side chain's filters keep out what should not open it")
  func filters() {
    func isOpen(_ frequency: Double, _ parameters: [String: Float]) -> Bool {
      let key = Signals.sine(frequency, frames: 24_000, amplitude: 0.1)
      let output = UnitHarness(Gate.description, parameters: parameters.merging(["threshold": -30]) { $1 })
        .render([[key, key], []])[0][0]
      return Signals.peak(output[20_000...]) > 0.08
    }
    #expect(isOpen(60, [:]) && isOpen(8000, [:]))
    #expect(!isOpen(60, ["sidechainHighPass": 1000]) && isOpen(8000, ["sidechainHighPass": 1000]))
    #expect(isOpen(60, ["sidechainLowPass": 500]) && !isOpen(8000, ["sidechainLowPass": 500]))
  }

  @Test("look-ahead delays the signal by its latency, and lets the first edge through")
  func lookAhead() throws {
    let parameters: [String: Float] = ["lookAhead": 0.005, "attackTime": 0.000_5, "threshold": -20]
    let values = Gate.description.parameters.map { parameters[$0.name] ?? $0.defaultValue }
    #expect(Gate.description.latency(48_000, values) == 240)
    let burst = [Float](repeating: 0, count: 1000) + Signals.sine(5000, frames: 1000, amplitude: 0.5)
    let output = UnitHarness(Gate.description, parameters: parameters).render([[burst, burst], []])[0][0]
    for i in 1000..<1700 { #expect(abs(output[i + 240] - burst[i]) < 0.01) }
  }
}
