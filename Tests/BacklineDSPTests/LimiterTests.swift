import BacklineDSP
import BacklineTestSupport
import CBackline
import Testing

@Suite("Limiter")
struct LimiterTests {
  static let rates = [44_100.0, 48_000, 96_000]

  /// Signals that are hard on a limiter, each about a twentieth of a second.
  private func programmes(_ rate: Double) -> [(String, [Float])] {
    let frames = Int(rate / 16)
    let noise = Signals.noise(frames: frames, seed: 9)
    // Inter-sample peaks 3 dB above the samples.
    let quarter = (0..<frames).map { frame in Float(backline_sin(.pi / 2 * Double(frame) + .pi / 4)) }
    let high = Signals.sine(0.43 * rate, frames: frames, sampleRate: rate)
    let clicks = noise.enumerated().map { frame, sample -> Float in
      frame % 997 == 500 ? 1 : frame % 1501 == 700 ? -1 : 0.01 * sample
    }
    let square = (0..<frames).map { frame -> Float in frame / 50 % 2 == 0 ? 1 : -1 }
    let bursts = noise.enumerated().map { frame, sample -> Float in frame / 800 % 3 == 0 ? sample : 0.05 * sample }
    let music = [(55.0, Float(0.5)), (987, 0.4), (7919, 0.3)].map {
      Signals.sine($0, frames: frames, amplitude: $1, sampleRate: rate)
    }.reduce([Float](repeating: 0, count: frames)) { sum, tone in zip(sum, tone).map { $0 + $1 } }
    return [
      ("noise", noise), ("quarter", quarter), ("high", high), ("clicks", clicks), ("square", square),
      ("bursts", bursts),
      ("music", music),
    ]
  }

  @Test("no true peak is above the ceiling by more than 0.1 dB, 4 and 16 times oversampled", arguments: rates)
  func ceiling(rate: Double) {
    var worst = -100.0
    for (name, signal) in programmes(rate) {
      for (gain, release) in [(12, 0.01), (30, 0.2)] as [(Float, Float)] {
        let output = UnitHarness(
          Limiter.description, sampleRate: rate, parameters: ["gain": gain, "ceiling": -2, "releaseTime": release]
        ).render([[signal, signal]], frames: signal.count + 1000)[0][0]
        for factor in [4, 16] {
          let over = Measured.decibels(Measured.truePeak(output, factor: factor)) + 2
          #expect(over < 0.1, "\(name) at \(gain) dB, \(factor) times")
          worst = max(worst, over)
        }
        #expect(Measured.decibels(Double(Signals.peak(output))) <= -2)
        if name == "noise" { #expect(Measured.decibels(Measured.truePeak(output, factor: 4)) > -3) }
      }
    }
    print("measured: limiter's worst true peak over the ceiling \(Measured.text(worst)) dB at \(Int(rate)) Hz")
  }

  @Test("what is below the ceiling passes bit by bit, later by the latency", arguments: rates)
  func transparent(rate: Double) {
    let signal = Signals.noise(frames: 4000, amplitude: 0.4)
    let output = UnitHarness(Limiter.description, sampleRate: rate).render([[signal, signal]])[0]
    let latency = Limiter.description.latency(rate, [])
    #expect(latency == Int(rate * 0.002 + 0.5) + 48)
    #expect(Array(output[0][latency...]) == Array(signal[..<(4000 - latency)]))
    #expect(output[0] == output[1])
  }

  @Test("a constant level ends at the ceiling, and the reading tells the reduction", arguments: rates)
  func staticCurve(rate: Double) {
    var worst = 0.0
    for input in [-20.0, -6, -5, 0, 12, 30] {
      let signal = [Float](repeating: Float(Measured.factor(input)), count: Int(rate / 6))
      let unit = UnitHarness(
        Limiter.description, sampleRate: rate, parameters: ["ceiling": -6, "releaseTime": 0.01])
      let output = unit.render([[signal, signal]])[0][0]
      worst = max(worst, abs(Measured.decibels(Double(output[signal.count - 1])) - min(input, -6)))
      worst = max(worst, abs(Double(unit.reading("gainReduction")) - max(0, input + 6)))
    }
    print("measured: limiter's static curve off by at most \(Measured.text(worst)) dB at \(Int(rate)) Hz")
    #expect(worst < 0.1)
  }

  @Test("the gain comes back by 63 % in the release time", arguments: rates)
  func release(rate: Double) {
    var worst = 0.0
    for release in [0.05, 0.3] {
      let frames = Int(rate)
      let signal = (0..<2 * frames).map { Float($0 < frames ? 4 : 0.1) }
      let output = UnitHarness(
        Limiter.description, sampleRate: rate, parameters: ["ceiling": 0, "releaseTime": Float(release)]
      ).render([[signal, signal]])[0][0]
      // From 8 dB of reduction to 37 % of that.
      func time(_ reduction: Double) -> Double {
        Double((frames + 500..<2 * frames).first { Measured.decibels(Double(output[$0])) + 20 >= -reduction } ?? 0)
      }
      worst = max(worst, abs((time(8 * 0.367_88) - time(8)) / rate / release - 1))
    }
    print("measured: limiter's release off by at most \(Measured.text(worst * 100)) % at \(Int(rate)) Hz")
    #expect(worst < 0.05)
  }

  @Test("the gain glides: no click where it sets in")
  func smooth() {
    let tone = Signals.sine(100, frames: 9600).enumerated().map { $0 > 4800 ? 2 * $1 : 0.5 * $1 }
    let output = UnitHarness(Limiter.description).render([[tone, tone]])[0][0]
    #expect(Signals.largestStep(output) < 0.06)
  }
}
