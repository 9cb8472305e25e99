import BacklineDSP
import BacklineTestSupport
import CBackline
import Testing

@Suite("Oscillator")
struct OscillatorTests {
  static let rates = [44_100.0, 48_000, 96_000, 192_000]

  private func render(
    _ parameters: [String: Float], frames: Int, rate: Double = 48_000, events: [UnitHarness.Event] = []
  ) -> [Float] {
    UnitHarness(Oscillator.description, sampleRate: rate, parameters: parameters)
      .render([], frames: frames, events: events)[0][0]
  }

  @Test("a sine is within -120 dB of the sine of arithmetic", arguments: rates)
  func sine(rate: Double) {
    let output = render(["gain": 0, "frequency": 997], frames: 20_000, rate: rate)
    let error = output.enumerated().map { abs(Double($1) - backline_sin(2 * .pi * 997 * Double($0) / rate)) }
    #expect(error.max() ?? 1 < 1e-6)
  }

  @Test("both channels are the same, and gain is the peak in dB")
  func level() {
    let output = UnitHarness(Oscillator.description, parameters: ["gain": -12]).render([], frames: 4800)
    #expect(output[0][0] == output[0][1])
    #expect(abs(Signals.peak(output[0][0]) - 0.251_188_6) < 1e-4)
    #expect(render(["gain": -96], frames: 100).allSatisfy { $0 == 0 })
  }

  @Test("after an hour the phase is within a millionth of a radian")
  func drift() {
    // The phase after n frames is n increments; the unit's increment is 2^64 · f / rate as a whole number.
    for (frequency, rate) in [(440.0, 44_100.0), (12_345.6, 48_000), (0.1, 192_000), (19_999, 96_000)] {
      let increment = UInt64(frequency * (0x1p64 / rate))
      let frames = UInt64(3600 * rate)
      let turns = Double(increment &* frames) * 0x1p-64
      // The exact number of turns in an hour is 3600 · f; its fraction is what is left of the phase.
      let exact = 3600 * frequency
      let difference = turns - (exact - exact.rounded(.down))
      #expect(abs(difference - difference.rounded()) * 2 * .pi < 1e-6)
    }
  }

  @Test("a change of frequency goes on from the phase reached")
  func continuity() {
    let output = render(
      ["gain": 0, "frequency": 200], frames: 9000,
      events: [.init(3001, "frequency", 900), .init(6001, "frequency", 70, ramp: 0)])
    let ownStep: Float = 2 * .pi * 900 / 48_000
    #expect(Signals.largestStep(output) < ownStep * 1.01)
  }

  @Test("a change of waveform and of gain is without a step beyond the wave's own")
  func waveformChange() {
    let output = render(
      ["gain": 0, "frequency": 100], frames: 6000, events: [.init(1111, "waveform", 1), .init(3333, "gain", -20)])
    let ownStep: Float = 2 * .pi * 100 / 48_000
    #expect(Signals.largestStep(output) < ownStep + 2.0 / 480)
  }

  @Test(
    "harmonics are those of the wave", arguments: [("triangle", 1), ("square", 2), ("sawtooth", 3)])
  func harmonics(name: String, index: Int) {
    // 4800 frames hold whole periods of 100 Hz.
    let output = render(["gain": 0, "frequency": 100, "waveform": Float(index)], frames: 4800)
    for harmonic in 1...9 {
      let n = Double(harmonic)
      let isOdd = harmonic % 2 == 1
      let expected =
        switch index {
        case 1: isOdd ? 8 / (.pi * .pi * n * n) : 0
        case 2: isOdd ? 4 / (.pi * n) : 0
        default: 2 / (.pi * n)
        }
      #expect(abs(Signals.amplitude(of: 100 * n, in: output) - expected) < 0.003, "\(name) \(harmonic)")
    }
  }

  @Test("aliases of a high tone are far below those of a naive wave", arguments: [1, 2, 3])
  func aliases(waveform: Int) {
    // The harmonics of 5 kHz at 48 kHz: the first above the middle, 25 kHz (odd: 25 kHz too), comes back at 23 kHz, the 35 kHz at 13 kHz.
    let output = render(["gain": 0, "frequency": 5000, "waveform": Float(waveform)], frames: 48_000)
    let fundamental = Signals.amplitude(of: 5000, in: output)
    let alias = Signals.amplitude(of: 13_000, in: output)
    // Naively the seventh harmonic: 1/7 (square, sawtooth) or 1/49 (triangle) of the first.
    #expect(alias / fundamental < (waveform == 1 ? 0.0025 : 0.05))
    #expect(abs(output.reduce(0.0) { $0 + Double($1) }) / 48_000 < 1e-3)
  }

  @Test("it never ends by itself")
  func endless() {
    #expect(UnitHarness(Oscillator.description).tail() > Int64(768_000) * 3600 * 24 * 365)
  }
}
