import BacklineDSP
import BacklineTestSupport
import CBackline
import Testing

@Suite("Spectrum, correlation and tuner")
struct AnalysisUnitTests {
  static let rates = [44_100.0, 48_000, 96_000]

  @Test("the signal passes bit for bit", arguments: ["spectrum", "correlation", "tuner"])
  func transparent(kind: String) throws {
    let left = Signals.noise(frames: 10_000), right = Signals.noise(frames: 10_000, seed: 2)
    let unit = UnitHarness(try #require(UnitCatalog.standard[kind]))
    #expect(unit.render([[left, right]], cuts: [64, 1, 333])[0] == [left, right])
  }

  @Test("readings do not depend on how the signal is cut", arguments: ["spectrum", "correlation", "tuner"])
  func cuts(kind: String) throws {
    let description = try #require(UnitCatalog.standard[kind])
    let tone = Signals.sine(330, frames: 20_011), noise = Signals.noise(frames: 20_011, amplitude: 0.1)
    let readings = [[64], [1000, 77], [1]].map { cuts in
      let unit = UnitHarness(description)
      _ = unit.render([[tone, zip(tone, noise).map { $0 + $1 }]], cuts: cuts)
      return description.parameters.filter(\.isReadOnly).map { unit.reading($0.name) }
    }
    #expect(readings[0] == readings[1] && readings[0] == readings[2])
  }

  @Test("a tone is at its level in its third of an octave and nowhere else", arguments: rates)
  func spectrum(rate: Double) {
    var worst = 0.0
    for band in [2, 8, 13, 14, 22, 29] {
      let frequency = 1000 * backline_pow(10, Double(band - 17) / 10)
      let tone = Signals.sine(frequency, frames: Int(rate * 1.5), amplitude: 0.1, sampleRate: rate)
      let unit = UnitHarness(Spectrum.description, sampleRate: rate, parameters: ["responseTime": 0.05])
      _ = unit.render([[tone, tone]], cuts: [4096])
      worst = max(worst, abs(Double(unit.reading("band\(band + 1)Level")) - -23.01))
      for other in 0..<31 where abs(other - band) > 1 {
        #expect(unit.reading("band\(other + 1)Level") < -50, "\(other + 1) beside \(band + 1)")
      }
    }
    print("measured: spectrum's level of a tone off by at most \(Measured.text(worst)) dB at \(Int(rate)) Hz")
    #expect(worst < 0.5)
  }

  @Test("white noise rises by 1 dB a third of an octave, and falls to the bottom after it has ended")
  func noise() {
    let noise = Signals.noise(frames: 48_000, amplitude: 0.5)
    let unit = UnitHarness(Spectrum.description, parameters: ["responseTime": 0.5])
    _ = unit.render([[noise, noise]])
    // The power in a third of the whole: its width over half the rate.
    for band in [14, 17, 20, 23, 26, 29] {
      let width = 1000 * backline_pow(10, Double(band - 17) / 10) * (backline_pow(10, 0.05) - backline_pow(10, -0.05))
      let right = 10 * backline_log(0.25 / 3 * width / 24_000 * (1 - backline_exp(-2))) / backline_log(10)
      #expect(abs(Double(unit.reading("band\(band + 1)Level")) - right) < 1.5)
    }
    _ = unit.render([[[], []]], frames: Int(unit.tail()))
    #expect((1...31).allSatisfy { unit.reading("band\($0)Level") < -90 })
  }

  @Test("the correlation is 1 for mono, -1 for its inverse, 0 for strangers, and as computed between", arguments: rates)
  func correlation(rate: Double) {
    let frames = Int(rate)
    let a = Signals.noise(frames: frames, amplitude: 0.5, seed: 1),
      b = Signals.noise(frames: frames, amplitude: 0.5, seed: 2)
    func measure(_ left: [Float], _ right: [Float]) -> UnitHarness {
      let unit = UnitHarness(Correlation.description, sampleRate: rate, parameters: ["responseTime": 0.2])
      _ = unit.render([[left, right]])
      return unit
    }
    #expect(abs(measure(a, a).reading("correlation") - 1) < 1e-4)
    #expect(abs(measure(a, a.map { -$0 }).reading("correlation") + 1) < 1e-4)
    #expect(abs(measure(a, b).reading("correlation")) < 0.05)
    // A mixture of equal powers: 1 / √2.
    #expect(abs(measure(a, zip(a, b).map { $0 + $1 }).reading("correlation") - 0.7071) < 0.03)
    let mono = measure(a, a)
    #expect(abs(mono.reading("midLevel") - -10.79) < 0.2 && mono.reading("sideLevel") == -96)
    #expect(abs(measure(a, a.map { $0 / 2 }).reading("balance") - -0.6) < 1e-3)
    #expect(measure(a, []).reading("balance") == -1)
    #expect(measure([], []).reading("correlation") == 0)
  }

  @Test("notes from E1 to E6 are within a cent, plain and as strings", arguments: rates)
  func tuner(rate: Double) {
    var worst: Float = 0
    for note in [28, 33, 40, 45, 52, 64, 76, 88] {
      for (offset, isString) in [(-37.0, false), (12.3, true), (49, true)] {
        let frequency = 440 * backline_pow(2, (Double(note - 69) + offset / 100) / 12)
        let unit = UnitHarness(Tuner.description, sampleRate: rate)
        _ = unit.render([[string(frequency, rate, isString), []]])
        #expect(unit.reading("note") == Float(note), "\(note) and \(offset)")
        #expect(unit.reading("confidence") > 0.9)
        worst = max(worst, abs(unit.reading("cents") - Float(offset)))
      }
    }
    print("measured: tuner off by at most \(Measured.text(Double(worst))) cents from E1 to E6 at \(Int(rate)) Hz")
    #expect(worst < 1)
  }

  /// A quarter of a second of a sine, or of eight harmonics of different phases that decay.
  private func string(_ frequency: Double, _ rate: Double, _ isString: Bool) -> [Float] {
    let frames = Int(rate / 4)
    if !isString { return Signals.sine(frequency, frames: frames, amplitude: 0.3, sampleRate: rate) }
    return (0..<frames).map { frame in
      let t = Double(frame) / rate
      var sum = 0.0
      for harmonic in 1...8 where Double(harmonic) * frequency < 0.45 * rate {
        let h = Double(harmonic)
        sum += backline_exp(-h * t) / h * backline_sin(2 * .pi * frequency * h * t + h * h)
      }
      return Float(0.2 * sum)
    }
  }

  @Test("silence and noise are no note, another reference moves the cents, and mute is silent")
  func tunerRest() {
    let unit = UnitHarness(Tuner.description)
    _ = unit.render([[[], []]], frames: 24_000)
    #expect(unit.reading("note") == 0 && unit.reading("confidence") == 0)
    let noise = Signals.noise(frames: 24_000)
    _ = unit.render([[noise, noise]])
    #expect(unit.reading("confidence") < 0.9)
    let tone = Signals.sine(442, frames: 24_000, amplitude: 0.2)
    _ = unit.render([[tone, tone]])
    #expect(abs(unit.reading("cents") - 7.85) < 1 && abs(unit.reading("frequency") - 442) < 0.2)
    unit.set("referencePitch", 442)
    unit.set("mute", 1)
    let output = unit.render([[tone, tone]])[0][0]
    #expect(abs(unit.reading("cents")) < 1 && output[500...].allSatisfy { $0 == 0 })
  }
}
