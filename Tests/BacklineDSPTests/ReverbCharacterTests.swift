import BacklineTestSupport
import CBackline
import Testing

@testable import BacklineDSP

@Suite("Reverb: decay per octave, density, colour, steadiness, characters, presets")
struct ReverbCharacterTests {
  static let rates = [44_100.0, 48_000, 96_000]

  private func render(
    _ parameters: [String: Float], _ left: [Float], frames: Int, rate: Double = 48_000,
    events: [UnitHarness.Event] = []
  ) -> [[Float]] {
    let own: [String: Float] = ["wetDryMix": 100, "preDelay": 0]
    return UnitHarness(Reverb.description, sampleRate: rate, parameters: own.merging(parameters) { $1 })
      .render([[left, left]], frames: frames, events: events)[0]
  }

  @Test("every octave falls by 60 dB in the set time within 10 %, where nothing is damped", arguments: rates)
  func octaves(rate: Double) {
    var worst = 0.0
    for (time, size) in [(0.6, 30), (1.2, 60)] as [(Float, Float)] {
      let response = render(
        ["decayTime": time, "size": size, "damping": 0, "highCut": 20_000, "lowCut": 10], [1],
        frames: Int(Double(time) * rate), rate: rate)[0]
      for frequency in [125.0, 250, 500, 1000, 2000, 4000, 8000] {
        worst = max(worst, abs(Spectra.decayTime(response, at: frequency, sampleRate: rate) / Double(time) - 1))
      }
    }
    #expect(worst < 0.1)
    print("measured: reverb decay off by at most \(worst * 100) % in any octave, \(rate) Hz")
  }

  @Test(
    "the echoes of halls are as dense as noise within 80 ms",
    arguments: [ReverbPreset.mediumHall, .largeHall, .largeHall2], rates)
  func density(preset: ReverbPreset, rate: Double) {
    let parameters = preset.parameters.merging(["preDelay": 0, "damping": 0, "highCut": 20_000]) { $1 }
    let response = render(parameters, [1], frames: Int(rate / 4), rate: rate)[0]
    let onset = response.firstIndex { abs($0) > 1e-6 } ?? 0
    // Abel and Huang, "A simple, robust measure of reverberation echo density", AES 121, 2006: the part of a window of 20 ms
    // that lies outside its standard deviation, over that of Gaussian noise.
    func density(_ time: Double) -> Double {
      let window = response[(onset + Int((time - 0.01) * rate))..<(onset + Int((time + 0.01) * rate))]
      let deviation = Signals.rms(window)
      return Double(window.count { abs($0) > deviation }) / Double(window.count) / 0.317_3
    }
    let values = stride(from: 0.080, through: 0.2, by: 0.005).map(density)
    let mean = values.reduce(0, +) / Double(values.count)
    #expect(mean > 0.9 && density(0.080) > 0.8)
    print(
      "measured: reverb \(preset.rawValue) echo density at 80 ms \(Measured.text(density(0.080))), from 80 to 200 ms \(Measured.text(mean)) of noise's, \(Int(rate)) Hz"
    )
  }

  @Test("the late tail is as flat as decaying noise", arguments: rates)
  func flatness(rate: Double) {
    func flatness(_ signal: ArraySlice<Float>) -> Double {
      let lines = Spectra.lines(signal)
      // 300 Hz to 8 kHz.
      let powers = (Int(300 * 4096 / rate)..<Int(8000 * 4096 / rate)).map { lines[$0] * lines[$0] }
      let mean = powers.reduce(0, +) / Double(powers.count)
      return backline_exp(powers.reduce(0) { $0 + backline_log($1) } / Double(powers.count)) / mean
    }
    let response = render(["decayTime": 2, "damping": 0, "highCut": 20_000], [1], frames: Int(rate), rate: rate)[0]
    let noise = Signals.noise(frames: Int(rate)).enumerated().map {
      $1 * backline_expf(-6.9 * Float($0) / Float(2 * rate))
    }
    var (tail, reference) = (0.0, 0.0)
    for start in [0.5, 0.625, 0.75, 0.875].map({ Int($0 * rate) }) {
      tail += flatness(response[start..<start + 4096]) / 4
      reference += flatness(noise[start..<start + 4096]) / 4
    }
    #expect(abs(tail / reference - 1) < 0.1)
    print("measured: reverb late tail flatness \(tail), of decaying noise \(reference), \(Int(rate)) Hz")
  }

  @Test("a piano-like tone does not waver by more than 3 cents", arguments: rates)
  func steadiness(rate: Double) {
    // A decaying tone with overtones; what is measured is its fundamental.
    let tone = (0..<Int(3 * rate)).map { i -> Float in
      let t = Double(i) / rate
      return Float(
        backline_exp(-t / 0.8)
          * (0.5 * backline_sin(2 * .pi * 440 * t) + 0.25 * backline_sin(2 * .pi * 880.6 * t)
            + 0.12 * backline_sin(2 * .pi * 1322 * t)))
    }
    let output = render(["decayTime": 2], tone, frames: Int(3 * rate), rate: rate)[0]
    // The phase against 440 Hz in windows of 0.1 s; its slope, weighed by the level, is the pitch.
    var phases: [(level: Double, phase: Double)] = []
    let count = Int(0.1 * rate)
    for start in stride(from: Int(0.3 * rate), to: Int(2.8 * rate), by: count / 2) {
      var (c, s) = (0.0, 0.0)
      for i in 0..<count {
        let window = 0.5 - 0.5 * backline_cos(2 * .pi * Double(i) / Double(count))
        let phase = 2 * .pi * 440 * Double(start + i) / rate
        c += Double(output[start + i]) * window * backline_cos(phase)
        s -= Double(output[start + i]) * window * backline_sin(phase)
      }
      phases.append((backline_sqrt(c * c + s * s), backline_atan2(s, c)))
    }
    var (sum, weight) = (0.0, 0.0)
    for (one, two) in zip(phases, phases.dropFirst()) {
      var turn = two.phase - one.phase
      turn -= 2 * .pi * (turn / (2 * .pi)).rounded()
      let cents = 1200 * backline_log(1 + turn / (2 * .pi * 0.05) / 440) / backline_log(2)
      let power = one.level * two.level
      sum += power * cents * cents
      weight += power
    }
    let wobble = backline_sqrt(sum / weight)
    #expect(wobble < 3)
    print("measured: reverb pitch wobble of a piano-like tone \(wobble) cents, \(rate) Hz")
  }

  @Test(
    "every character sounds, dies away by the decay time, and leaves nothing after its tail",
    arguments: [1, 2, 3] as [Float])
  func characters(character: Float) {
    let parameters: [String: Float] = ["character": character, "decayTime": 0.5, "damping": 0]
    let noise = Signals.noise(frames: 8000)
    let unit = UnitHarness(
      Reverb.description, sampleRate: 16_000, parameters: ["wetDryMix": 100, "preDelay": 0].merging(parameters) { $1 })
    let sound = unit.render([[noise, noise]])[0]
    let level = Spectra.decibels(Double(Signals.rms(sound[0].suffix(4000)) / Signals.rms(noise)))
    #expect(abs(level) < 6, "\(level) dB")
    let rest = unit.render([[[], []]], frames: Int(unit.tail()))[0]
    #expect(Signals.rms(rest[0][800..<1600]) > 1e-3)
    let after = unit.render([[[], []]], frames: 2000)[0]
    #expect(Signals.peak(after[0]) < 1e-6)
  }

  @Test("a spring's echo chirps: what comes later is higher")
  func chirp() {
    let response = render(["character": 2, "decayTime": 2, "highCut": 20_000, "lowCut": 10], [1], frames: 4800)[0]
    func arrival(_ frequency: Double) -> Double {
      let c = BiquadCoefficients(.bandPass, frequency: frequency, gain: 0, q: 6, sampleRate: 48_000)
      var (s1, s2) = (0.0, 0.0)
      var (energy, moment) = (0.0, 0.0)
      for (i, sample) in response[..<2400].enumerated() {
        let x = Double(sample), y = c.b0 * x + s1
        s1 = c.b1 * x - c.a1 * y + s2
        s2 = c.b2 * x - c.a2 * y
        energy += y * y
        moment += y * y * Double(i)
      }
      return moment / energy
    }
    // The chain's group delay: 60 stages of k (1 - a²) / (1 + 2 a cos kω + a²).
    func delay(_ frequency: Double) -> Double {
      let k = 6.0, a = 0.62, w = 2 * Double.pi * frequency / 48_000
      return 60 * k * (1 - a * a) / (1 + 2 * a * backline_cos(k * w) + a * a)
    }
    let found = arrival(3000) - arrival(1000), expected = delay(3000) - delay(1000)
    #expect(abs(found / expected - 1) < 0.1, "\(found) for \(expected)")
    print("measured: spring chirp from 1 to 3 kHz \(found) frames, by the formula \(expected)")
  }

  @Test("shimmer rises by an octave")
  func shimmer() {
    func octave(_ character: Float) -> Double {
      let tone = Signals.sine(440, frames: 96_000)
      let output = Array(
        render(["character": character, "shimmer": 80, "decayTime": 2], tone, frames: 96_000)[0].suffix(24_000))
      let around = [-4.0, -2, 0, 2, 4].map { Signals.amplitude(of: 880 + $0, in: output) }
      return around.reduce(0, +) / Signals.amplitude(of: 440, in: output)
    }
    #expect(octave(3) > 20 * octave(0))
  }

  @Test("a change of character does not click, and what sounded rings out")
  func change() {
    let tone = Signals.sine(200, frames: 24_000, amplitude: 0.5)
    let events = [(24_000, 2), (48_000, 1), (60_000, 3), (72_000, 2), (72_200, 0)].map {
      UnitHarness.Event($0.0, "character", Float($0.1))
    }
    let output = render(["decayTime": 1, "modulationDepth": 0], tone, frames: 96_000, events: events)[0]
    let steps = Signals.largestStep(Array(output[20_000...])) / Signals.peak(output)
    #expect(steps < 0.08)
    // Right after the change to springs, into which nothing goes, the room goes on.
    #expect(Signals.rms(output[26_000..<28_000]) > 0.1 * Signals.rms(output[20_000..<24_000]))
  }

  @Test(
    "there are Apple's thirteen presets, each within the ranges, each another sound", arguments: ReverbPreset.allCases)
  func presets(preset: ReverbPreset) throws {
    #expect(ReverbPreset.allCases.count == 13)
    for (name, value) in preset.parameters {
      let parameter = try #require(Reverb.description.parameters.first { $0.name == name })
      #expect(parameter.range.contains(value))
    }
    for other in ReverbPreset.allCases where other != preset { #expect(other.parameters != preset.parameters) }
    let noise = Signals.noise(frames: 8000)
    let output = UnitHarness(
      Reverb.description, sampleRate: 16_000, parameters: preset.parameters.merging(["wetDryMix": 50]) { $1 }
    ).render([[noise, noise]], frames: 16_000)[0]
    #expect(output.allSatisfy { Signals.isFinite($0) && Signals.peak($0) < 4 })
  }
}
