import BacklineDSP
import BacklineTestSupport
import CBackline
import Testing

@Suite("Graphic equalizer")
struct GraphicEqualizerTests {
  static let rates = [44_100.0, 48_000, 96_000]

  private func centre(_ band: Int) -> Double { 1000 * backline_pow(10, Double(band - 17) / 10) }

  private func response(_ gains: [Float], rate: Double) -> [Double] {
    let impulse = Signals.impulse(frames: 32_768)
    let parameters = Dictionary(uniqueKeysWithValues: gains.enumerated().map { ("band\($0 + 1)Gain", $1) })
    let output = UnitHarness(GraphicEqualizer.description, sampleRate: rate, parameters: parameters)
      .render([[impulse, impulse]])[0][0]
    return gains.indices.map { Measured.response(at: centre($0), output, sampleRate: rate) }
  }

  @Test("at the centres, the response is within 1 dB of the sliders", arguments: rates)
  func accuracy(rate: Double) {
    var random = SeededGenerator(5)
    var settings: [[Float]] = [
      [Float](repeating: 12, count: 31), [Float](repeating: -12, count: 31),
      (0..<31).map { $0 < 15 ? 12 : -12 }, (0..<31).map { $0 % 6 < 3 ? 12 : -12 },
      (0..<31).map { $0 == 17 ? 12 : 0 }, (0..<31).map { $0 == 3 || $0 == 29 ? -12 : 0 },
    ]
    settings.append((0..<31).map { _ in Float.random(in: -12...12, using: &random) })
    var worst = 0.0
    for gains in settings {
      for (found, gain) in zip(response(gains, rate: rate), gains) { worst = max(worst, abs(found - Double(gain))) }
    }
    print("measured: graphic equalizer off its sliders by at most \(Measured.text(worst)) dB at \(Int(rate)) Hz")
    #expect(worst < 1)
  }

  @Test("with all sliders in the middle the signal passes bit by bit, before and after they have moved")
  func flat() {
    let noise = Signals.noise(frames: 12_000)
    let output = UnitHarness(GraphicEqualizer.description).render(
      [[noise, noise]], events: [.init(1001, "band9Gain", 12), .init(3001, "band9Gain", 0)])[0][0]
    #expect(Array(output[..<1001]) == Array(noise[..<1001]))
    #expect(output[2500] != noise[2500])
    for (x, y) in zip(output[4000...], noise[4000...]) { #expect(abs(x - y) < 1e-3) }
  }

  @Test("sliders move without a click")
  func smooth() {
    let tone = Signals.sine(200, frames: 12_000, amplitude: 0.25)
    let output = UnitHarness(GraphicEqualizer.description).render(
      [[tone, tone]],
      events: [
        .init(2001, "band11Gain", 12), .init(4001, "band11Gain", -12), .init(4101, "band12Gain", 6),
        .init(7001, "band11Gain", 0), .init(7301, "band12Gain", 0),
      ])[0][0]
    #expect(Signals.largestStep(output) < 0.04)
  }
}
