import BacklineTestSupport
import Testing

@testable import BacklineDSP

@Suite("Send and return")
struct OutsideUnitTests {
  @Test("a send gives the same to both ways, each at its own level; -96 dB is silence")
  func send() {
    let signal = Signals.noise(frames: 512)
    let unit = UnitHarness(Send.description, parameters: ["sendGain": 6.020_6, "throughGain": -96])
    let output = unit.render([[signal, signal]])
    #expect(zip(output[1][0], signal).allSatisfy { abs($0 - 2 * $1) < 1e-5 })
    #expect(Signals.peak(output[0][1]) == 0)
  }

  @Test("a return sums both ways, each at its own level, and is silent where neither is connected")
  func returned() {
    let signal = Signals.noise(frames: 512), back = Signals.noise(frames: 512, seed: 2)
    let unit = UnitHarness(Return.description, parameters: ["returnGain": -6.020_6])
    let output = unit.render([[signal, signal], [back, back]])[0][0]
    for index in signal.indices { #expect(abs(output[index] - signal[index] - 0.5 * back[index]) < 1e-6) }
    #expect(Signals.peak(UnitHarness(Return.description).render([[], []], frames: 64)[0][0]) == 0)
  }
}
