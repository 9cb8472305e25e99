import BacklineDSP
import BacklineTestSupport
import Testing

@Suite("Gain")
struct GainTests {
  private let ones = [Float](repeating: 1, count: 1000)

  @Test("a level in dB is the factor 10^(dB/20), and the bottom of the range is silence")
  func level() {
    let signal = Signals.noise(frames: 100)
    let output = UnitHarness(Gain.description, parameters: ["gain": -6]).render([[signal, signal]])
    for (x, y) in zip(signal, output[0][1]) { #expect(abs(y - x * 0.501_187_2) < 1e-6) }
    let silent = UnitHarness(Gain.description, parameters: ["gain": -96]).render([[signal, signal]])
    #expect(silent[0][0].allSatisfy { $0 == 0 })
  }

  @Test("at 0 dB the signal passes bit by bit")
  func unity() {
    let signal = Signals.noise(frames: 1000)
    #expect(UnitHarness(Gain.description).render([[signal, signal]]) == [[signal, signal]])
  }

  @Test("a change goes in equal steps from its frame on and ends exactly on its last")
  func ramp() {
    let output = UnitHarness(Gain.description).render(
      [[ones, ones]], events: [.init(101, "gain", -96, ramp: 100)])[0][0]
    #expect(output[0...101].allSatisfy { $0 == 1 })
    for frame in 101...200 { #expect(abs(output[frame] - (1 - Float(frame - 101) / 100)) < 1e-5) }
    #expect(output[201...].allSatisfy { $0 == 0 })
  }

  @Test("a change over no frames is complete at its frame")
  func jump() {
    let output = UnitHarness(Gain.description).render([[ones, ones]], events: [.init(33, "gain", -96, ramp: 0)])[0][0]
    #expect(output[32] == 1)
    #expect(output[33] == 0)
  }

  @Test("a new target in the middle of a change is approached from where the gain is")
  func retarget() {
    let output = UnitHarness(Gain.description).render(
      [[ones, ones]], events: [.init(0, "gain", -96, ramp: 100), .init(50, "gain", 0, ramp: 100)])[0][0]
    #expect(Signals.largestStep(output) <= 0.0101)
    #expect(abs(output[50] - 0.5) < 1e-5)
    #expect(output[150...].allSatisfy { $0 == 1 })
  }
}
