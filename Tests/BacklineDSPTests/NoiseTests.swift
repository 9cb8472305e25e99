import BacklineDSP
import BacklineTestSupport
import CBackline
import Testing

@Suite("Noise")
struct NoiseTests {
  private func render(_ parameters: [String: Float], frames: Int, rate: Double = 48_000) -> [[Float]] {
    UnitHarness(Noise.description, sampleRate: rate, parameters: parameters).render([], frames: frames, cuts: [4096])[0]
  }

  /// The mean power at `count` frequencies spread over an octave from `start`, each measured over pieces of 4800 frames.
  private func power(_ samples: [Float], octaveFrom start: Double) -> Double {
    var sum = 0.0
    let frequencies = (0..<6).map { (start * (1 + Double($0) / 6) / 10).rounded() * 10 }
    for piece in stride(from: 0, to: samples.count - 4799, by: 4800) {
      let part = Array(samples[piece..<piece + 4800])
      for frequency in frequencies {
        let amplitude = Signals.amplitude(of: frequency, in: part)
        sum += amplitude * amplitude
      }
    }
    return sum / Double(frequencies.count * (samples.count / 4800))
  }

  @Test("white at 0 dB fills the range with the RMS of a uniform distribution, and has no offset")
  func white() {
    let output = render(["gain": 0], frames: 96_000)
    for channel in output {
      #expect(Signals.peak(channel) <= 1 && Signals.peak(channel) > 0.999)
      #expect(abs(Signals.rms(channel) - 0.577_35) < 0.005)
      #expect(abs(channel.reduce(0, +)) / 96_000 < 0.01)
    }
  }

  @Test("pink has the RMS level of white")
  func pinkLevel() {
    let pink = render(["gain": -20, "color": 1], frames: 96_000)
    #expect(abs(20 * backline_log10f(Signals.rms(pink[0]) / 0.057_735)) < 0.7)
  }

  @Test("left, right and another seed have nothing in common")
  func independence() {
    let output = render(["gain": 0], frames: 48_000)
    let other = render(["gain": 0, "seed": 1], frames: 48_000)
    for second in [output[1], other[0], Array(output[0].dropFirst()) + [0]] {
      let product = zip(output[0], second).reduce(0.0) { $0 + Double($1.0 * $1.1) }
      // The correlation of independent noise has a standard deviation of 1 over the root of the count.
      #expect(abs(product / 48_000 * 3) < 5 / 219)
    }
  }

  @Test("white is flat, and pink falls by 3 dB an octave", arguments: [("white", 0, 0.0), ("pink", 1, -3.01)])
  func slope(name: String, color: Int, expected: Double) {
    let samples = render(["gain": 0, "color": Float(color)], frames: 96_000)[0]
    let low = 10 * backline_log(power(samples, octaveFrom: 200)) / backline_log(10)
    let high = 10 * backline_log(power(samples, octaveFrom: 6400)) / backline_log(10)
    #expect(abs((high - low) / 5 - expected) < 0.4)
  }

  @Test("a change of colour moves over the ramp")
  func colorChange() {
    let harness = UnitHarness(Noise.description, parameters: ["gain": 0])
    let moving = harness.render([], frames: 2000, events: [.init(501, "color", 1, ramp: 1000)])[0][0]
    let white = render(["gain": 0], frames: 2000)[0]
    #expect(Array(moving[..<502]) == Array(white[..<502]))
    for frame in 502..<600 { #expect(abs(moving[frame] - white[frame]) < 0.3) }
  }
}
