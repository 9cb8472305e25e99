import BacklineDSP
import BacklineTestSupport
import Testing

@Suite("Gain")
struct GainTests {
  @Test("a level in dB is the factor 10^(dB/20), and the bottom of the range is silence")
  func level() {
    let signal = Signals.noise(frames: 100)
    let output = UnitHarness(Gain.description, parameters: ["gain": -6]).render([[signal, signal]])
    for (x, y) in zip(signal, output[0][1]) { #expect(abs(y - x * 0.501_187_2) < 1e-6) }
    let silent = UnitHarness(Gain.description, parameters: ["gain": -96]).render([[signal, signal]])
    #expect(silent[0][0].allSatisfy { $0 == 0 })
  }
}
