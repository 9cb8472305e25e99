import BacklineTestSupport
import CBackline
import Testing

@testable import BacklineDSP

@Suite("Pitch shifter, harmonizer, freeze")
struct PitchTests {
  static let rates = [44_100.0, 48_000, 96_000]

  private func render(
    _ description: UnitDescription, _ parameters: [String: Float], _ signal: [Float], rate: Double = 48_000,
    events: [UnitHarness.Event] = []
  ) -> [[Float]] {
    UnitHarness(description, sampleRate: rate, parameters: parameters).render([[signal, signal]], events: events)[0]
  }

  /// The frequency of a tone by its zero crossings over the whole signal.
  private func frequency(_ signal: [Float], rate: Double) -> Double {
    let crossings = signal.indices.dropFirst().compactMap { i -> Double? in
      let (a, b) = (Double(signal[i - 1]), Double(signal[i]))
      return a < 0 && b >= 0 ? Double(i - 1) - a / (b - a) : nil
    }
    guard let first = crossings.first, let last = crossings.last, crossings.count > 1 else { return .nan }
    return Double(crossings.count - 1) * rate / (last - first)
  }

  @Test("a tone comes out at its new pitch within a cent, and as loud", arguments: rates)
  func pitch(rate: Double) {
    var worst = 0.0, level = 0.0
    for (tone, semitones) in [(440, 7), (440, 12), (440, -12), (300, -5), (1234.5, 3.5), (220, 24), (880, -24)]
      as [(Double, Float)]
    {
      let signal = Signals.sine(tone, frames: Int(rate), amplitude: 0.5, sampleRate: rate)
      let output = Array(
        render(PitchShifter.description, ["semitones": semitones], signal, rate: rate)[0].suffix(Int(rate * 0.7)))
      let expected = tone * backline_pow(2, Double(semitones) / 12)
      worst = max(worst, abs(1200 * backline_log(frequency(output, rate: rate) / expected) / backline_log(2)))
      level = max(level, abs(Spectra.decibels(Double(Signals.rms(output)) / 0.353_553)))
    }
    #expect(worst < 1 && level < 0.5)
    print("measured: pitchShifter off by at most \(worst) cents and \(level) dB, \(rate) Hz")
  }

  @Test("what a shifted tone brings with it lies below -40 dB", arguments: rates)
  func purity(rate: Double) {
    let signal = Signals.sine(1000, frames: Int(rate), amplitude: 0.5, sampleRate: rate)
    var worst = -200.0
    for semitones: Float in [-12, -3, 4, 7, 12] {
      let output = Array(
        render(PitchShifter.description, ["semitones": semitones], signal, rate: rate)[0].suffix(Int(rate / 2)))
      let f = 1000 * backline_pow(2, Double(semitones) / 12)
      // What is left after the best fitting tone has been taken away.
      var (c, s) = (0.0, 0.0)
      for (i, sample) in output.enumerated() {
        c += Double(sample) * backline_cos(2 * .pi * f * Double(i) / rate)
        s += Double(sample) * backline_sin(2 * .pi * f * Double(i) / rate)
      }
      let scale = 2 / Double(output.count)
      let rest = output.enumerated().map { i, sample in
        let phase = 2 * .pi * f * Double(i) / rate
        return Float(Double(sample) - scale * (c * backline_cos(phase) + s * backline_sin(phase)))
      }
      worst = max(worst, Spectra.decibels(Double(Signals.rms(rest) / Signals.rms(output))))
    }
    #expect(worst < -40)
    print("measured: pitchShifter residue of a tone, \(rate) Hz: \(worst) dB")
  }

  @Test("without a shift the input comes out, exactly the latency later", arguments: rates)
  func identity(rate: Double) {
    let noise = Signals.noise(frames: Int(rate / 2), amplitude: 0.5)
    // Without the lowest bins, which are left out.
    let signal = UnitHarness(Equalizer.description, sampleRate: rate).render([[noise, noise]])[0][0]
    let output = render(PitchShifter.description, ["semitones": 0], signal, rate: rate)[0]
    let latency = PitchShifter.description.latency(rate, [])
    let error = zip(output[(2 * latency)...], signal[latency...]).map { $0 - $1 }
    let ratio = Spectra.decibels(Double(Signals.rms(error) / Signals.rms(signal)))
    #expect(ratio < -25)
    let tone = Signals.sine(700, frames: Int(rate / 2), sampleRate: rate)
    let still = render(PitchShifter.description, ["semitones": 0], tone, rate: rate)[0]
    let rest = zip(still[(2 * latency)...], tone[latency...]).map { $0 - $1 }
    #expect(Signals.rms(rest) < 1e-4)
    let dry = render(PitchShifter.description, ["wetDryMix": 0], Signals.impulse(frames: 9000), rate: rate)[0]
    #expect(dry.firstIndex { $0 != 0 } == latency)
  }

  @Test("the stereo picture stays: a tone on one side stays there")
  func stereo() {
    let tone = Signals.sine(440, frames: 24_000)
    let unit = UnitHarness(PitchShifter.description, parameters: ["semitones": 5])
    let output = unit.render([[tone, [Float](repeating: 0, count: 24_000)]])[0]
    #expect(Signals.rms(output[0]) > 0.5 && Signals.rms(output[1]) == 0)
  }

  @Test("the harmonizer sings its intervals, each as loud as set", arguments: rates)
  func harmonizer(rate: Double) {
    let signal = Signals.sine(500, frames: Int(rate), amplitude: 0.25, sampleRate: rate)
    let parameters: [String: Float] = [
      "voice1Interval": 12, "voice1Gain": -6, "voice1Pan": -1, "voice2Interval": -12, "voice2Gain": 0, "voice2Pan": 1,
      "voice3Interval": 19, "voice3Gain": -96,
    ]
    let output = render(Harmonizer.description, parameters, signal, rate: rate).map { Array($0.suffix(Int(rate / 2))) }
    func level(_ frequency: Double, _ channel: Int) -> Double {
      Signals.amplitude(of: frequency, in: output[channel], sampleRate: rate) / 0.25
    }
    #expect(abs(level(1000, 0) - 0.5012) < 0.02 && level(1000, 1) < 0.003)
    #expect(abs(level(250, 1) - 1) < 0.03 && level(250, 0) < 0.003)
    #expect(abs(level(500, 0) - 1) < 0.01 && abs(level(500, 1) - 1) < 0.01)
    print("measured: harmonizer voice levels \(level(1000, 0)) for 0.501, \(level(250, 1)) for 1, \(rate) Hz")
  }

  @Test("a held chord keeps its pitches and levels for as long as it is held", arguments: rates)
  func freeze(rate: Double) {
    let frames = Int(rate * 4)
    var chord = [Float](repeating: 0, count: Int(rate / 2))
    for frequency in [220.0, 277.2, 330] {
      let tone = Signals.sine(frequency, frames: chord.count, amplitude: 0.2, sampleRate: rate)
      for i in chord.indices { chord[i] += tone[i] }
    }
    let output = UnitHarness(Freeze.description, sampleRate: rate, parameters: ["heldGain": 0, "releaseTime": 0.5])
      .render(
        [[chord, chord]], frames: frames,
        events: [
          .init(Int(0.4 * rate), "isHeld", 1), .init(Int(3 * rate), "isHeld", 0),
        ])[0][0]
    // Level and pitch of each note from its phase and size in windows of 0.2 s, half a second apart.
    func part(_ frequency: Double, _ time: Double) -> (level: Double, phase: Double) {
      let start = Int(time * rate), count = Int(0.2 * rate)
      var (c, s, sum) = (0.0, 0.0, 0.0)
      for i in 0..<count {
        let window = 0.5 - 0.5 * backline_cos(2 * .pi * Double(i) / Double(count))
        let phase = 2 * .pi * frequency * Double(start + i) / rate
        c += Double(output[start + i]) * window * backline_cos(phase)
        s -= Double(output[start + i]) * window * backline_sin(phase)
        sum += window
      }
      return (2 * backline_sqrt(c * c + s * s) / sum, backline_atan2(s, c))
    }
    var worst = 0.0, cents = 0.0
    for frequency in [220.0, 277.2, 330] {
      for time in [0.8, 1.3, 1.8, 2.3] {
        let now = part(frequency, time), later = part(frequency, time + 0.3)
        worst = max(worst, abs(Spectra.decibels(now.level / 0.2)))
        var turn = later.phase - now.phase
        turn -= 2 * .pi * (turn / (2 * .pi)).rounded()
        cents = max(cents, abs(1200 * backline_log(1 + turn / (2 * .pi * 0.3) / frequency) / backline_log(2)))
      }
    }
    #expect(worst < 1 && cents < 3)
    print("measured: freeze holds levels within \(worst) dB and pitches within \(cents) cents, \(rate) Hz")
    // 60 dB in half a second.
    let early = Signals.rms(output[Int(3.1 * rate)..<Int(3.15 * rate)]),
      late = Signals.rms(output[Int(3.35 * rate)..<Int(3.4 * rate)])
    #expect(abs(Spectra.decibels(Double(late / early)) + 30) < 3)
    #expect(Signals.largestStep(Array(output[Int(0.6 * rate)...])) < 0.06 * Float(48_000 / rate) + 0.02)
  }
}
