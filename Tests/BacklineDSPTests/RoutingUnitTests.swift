import BacklineDSP
import BacklineTestSupport
import CBackline
import Testing

@Suite("Width, balance, polarity, channel map, crossfade and DC blocker")
struct RoutingUnitTests {
  private let left = Signals.noise(frames: 3000, seed: 1)
  private let right = Signals.noise(frames: 3000, seed: 2)

  private func render(
    _ description: UnitDescription, _ parameters: [String: Float], events: [UnitHarness.Event] = []
  ) -> [[Float]] {
    UnitHarness(description, parameters: parameters).render([[left, right]], events: events)[0]
  }

  @Test("a width of 100 % leaves every bit, 0 is mono, 200 doubles the side")
  func width() {
    #expect(render(Width.description, [:]) == [left, right])
    let mono = render(Width.description, ["width": 0])
    let wide = render(Width.description, ["width": 200])
    for i in left.indices {
      #expect(abs(mono[0][i] - (left[i] + right[i]) / 2) < 1e-6 && abs(mono[0][i] - mono[1][i]) < 1e-6)
      #expect(abs(wide[0][i] - wide[1][i] - 2 * (left[i] - right[i])) < 1e-5)
    }
  }

  @Test("bass below the frequency is mono, the rest keeps its place")
  func monoBass() {
    func side(_ frequency: Double) -> Double {
      let tone = Signals.sine(frequency, frames: 48_000), inverse = tone.map { -$0 }
      let output = UnitHarness(Width.description, parameters: ["monoBelow": 200]).render([[tone, inverse]])[0]
      return Measured.decibels(Signals.amplitude(of: frequency, in: Array(output[0][24_000...])))
    }
    #expect(abs(side(200) - -3.01) < 0.05)
    #expect(abs(side(5000)) < 0.05)
    #expect(abs(side(20) - -20.04) < 0.1)
  }

  @Test("balance turns down the far side alone, trims are in dB")
  func balance() {
    #expect(render(Balance.description, [:]) == [left, right])
    #expect(render(Balance.description, ["balance": 0.25]) == [left.map { $0 * 0.75 }, right])
    #expect(render(Balance.description, ["balance": -1]) == [left, right.map { $0 * 0 }])
    let trimmed = render(Balance.description, ["leftGain": -20, "rightGain": -96])
    #expect(zip(trimmed[0], left).allSatisfy { abs($0 - $1 / 10) < 1e-6 } && trimmed[1].allSatisfy { $0 == 0 })
  }

  @Test("polarity is exact, and a switch does not click")
  func polarity() {
    #expect(render(Polarity.description, [:]) == [left.map { -$0 }, right.map { -$0 }])
    #expect(render(Polarity.description, ["invertLeft": 0]) == [left, right.map { -$0 }])
    let steady = [Float](repeating: 1, count: 3000)
    let output = UnitHarness(Polarity.description).render([[steady, steady]], events: [.init(1001, "invertLeft", 0)])[0]
    #expect(Signals.largestStep(output[0]) < 2.01 / 480 && output[0][2999] == 1)
  }

  @Test("each output carries what it is told to")
  func channelMap() {
    #expect(render(ChannelMap.description, [:]) == [left, right])
    #expect(render(ChannelMap.description, ["leftSource": 1, "rightSource": 0]) == [right, left])
    #expect(render(ChannelMap.description, ["rightSource": 0]) == [left, left])
    let sides = render(ChannelMap.description, ["leftSource": 2, "rightSource": 3])
    #expect(sides[0] == zip(left, right).map { 0.5 * $0 + 0.5 * $1 })
    #expect(sides[1] == zip(left, right).map { 0.5 * $0 + -0.5 * $1 })
    #expect(render(ChannelMap.description, ["leftSource": 4])[0].allSatisfy { $0 == 0 })
    let moved = render(ChannelMap.description, [:], events: [.init(1001, "leftSource", 1)])
    #expect(moved[0][1500...] == right[1500...])
  }

  @Test("the crossfade goes from the one input to the other by its law")
  func crossfade() {
    func render(_ position: Float, _ law: Float) -> [Float] {
      UnitHarness(Crossfader.description, parameters: ["position": position, "law": law])
        .render([[left, left], [right, right]])[0][0]
    }
    #expect(render(0, 0) == left && render(1, 0) == right)
    for (law, gain) in [(0, 0.707_106_8), (1, 0.5)] as [(Float, Float)] {
      let middle = render(0.5, law)
      #expect(zip(middle, zip(left, right)).allSatisfy { abs($0 - gain * ($1.0 + $1.1)) < 1e-6 })
    }
    let alone = UnitHarness(Crossfader.description, parameters: ["position": 1]).render([[left, left], []])[0][0]
    #expect(alone.allSatisfy { abs($0) < 1e-6 })
  }

  @Test("a constant offset goes, what is above the cutoff stays", arguments: [44_100.0, 48_000, 96_000])
  func dcBlocker(rate: Double) {
    let frames = Int(rate * 2)
    let tone = Signals.sine(100, frames: frames, amplitude: 0.5, sampleRate: rate).map { $0 + 0.4 }
    let output = UnitHarness(DCBlocker.description, sampleRate: rate).render([[tone, tone]])[0][0]
    let rest = Array(output[(frames / 2)...])
    let offset = rest.reduce(0.0) { $0 + Double($1) } / Double(rest.count)
    #expect(abs(offset) < 1e-6)
    #expect(abs(Measured.decibels(Signals.amplitude(of: 100, in: rest, sampleRate: rate) / 0.5)) < 0.02)
    let impulse = Signals.impulse(frames: frames)
    let response = UnitHarness(DCBlocker.description, sampleRate: rate, parameters: ["cutoffFrequency": 20])
      .render([[impulse, impulse]])[0][0]
    for frequency in [5.0, 20, 200] {
      let right = -10 * backline_log(1 + 400 / frequency / frequency) / backline_log(10)
      #expect(abs(Measured.response(at: frequency, response, sampleRate: rate) - right) < 0.05)
    }
  }
}
