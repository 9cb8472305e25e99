import BacklineDSP
import BacklineTestSupport
import CBackline
import Testing

@Suite("Pan")
struct PanTests {
  private let ones = [Float](repeating: 1, count: 2000)

  private func gains(_ pan: Float, law: Float) -> (left: Double, right: Double) {
    let output = UnitHarness(Pan.description, parameters: ["pan": pan, "law": law]).render([[ones, ones]])[0]
    return (Double(output[0][0]), Double(output[1][0]))
  }

  @Test("balance turns down the far side only", arguments: [-1, -0.4, 0, 0.25, 1] as [Float])
  func balance(pan: Float) {
    let found = gains(pan, law: 0)
    #expect(abs(found.left - min(1, 1 - Double(pan))) < 1e-6)
    #expect(abs(found.right - min(1, 1 + Double(pan))) < 1e-6)
  }

  @Test("constant power is cosine and sine, and its powers add up to 1", arguments: [-1, -0.4, 0, 0.25, 1] as [Float])
  func constantPower(pan: Float) {
    let found = gains(pan, law: 1)
    let angle = (1 + Double(pan)) * .pi / 4
    #expect(abs(found.left - backline_cos(angle)) < 1e-6)
    #expect(abs(found.right - backline_sin(angle)) < 1e-6)
    #expect(abs(found.left * found.left + found.right * found.right - 1) < 1e-6)
  }

  @Test("linear gains add up to 1", arguments: [-1, -0.4, 0, 0.25, 1] as [Float])
  func linear(pan: Float) {
    let found = gains(pan, law: 2)
    #expect(abs(found.left - (1 - Double(pan)) / 2) < 1e-6)
    #expect(abs(found.left + found.right - 1) < 1e-6)
  }

  @Test("in the middle, balance passes a stereo signal bit by bit")
  func centre() {
    let left = Signals.noise(frames: 1000, seed: 1), right = Signals.noise(frames: 1000, seed: 2)
    #expect(UnitHarness(Pan.description).render([[left, right]]) == [[left, right]])
  }

  @Test("at the ends the other side is exactly silent in every law", arguments: [0, 1, 2] as [Float])
  func ends(law: Float) {
    #expect(gains(-1, law: law).right == 0)
    #expect(gains(1, law: law).left == 0)
  }

  @Test("a move from end to end and a change of law go smoothly")
  func smooth() {
    let output = UnitHarness(Pan.description).render(
      [[ones, ones]],
      events: [
        .init(0, "pan", -1, ramp: 0), .init(100, "pan", 1, ramp: 480), .init(700, "law", 1, ramp: 480),
        .init(900, "law", 2, ramp: 480), .init(1500, "pan", 0, ramp: 480),
      ])[0]
    for channel in output { #expect(Signals.largestStep(channel) < 2.0 / 480 * 1.7) }
    #expect(output[0][1999] == 0.5)
    #expect(output[1][1999] == 0.5)
  }
}
