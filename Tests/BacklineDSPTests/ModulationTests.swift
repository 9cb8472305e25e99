import BacklineTestSupport
import CBackline
import Testing

@testable import BacklineDSP

@Suite("Chorus, flanger, phaser, tremolo, vibrato, rotary speaker, ring modulator")
struct ModulationTests {
  static let rates = [44_100.0, 48_000, 96_000]

  private func render(
    _ description: UnitDescription, _ parameters: [String: Float], _ signal: [Float], rate: Double = 48_000,
    events: [UnitHarness.Event] = []
  ) -> [[Float]] {
    UnitHarness(description, sampleRate: rate, parameters: parameters).render([[signal, signal]], events: events)[0]
  }

  /// The magnitude of a response that has died away, at a frequency.
  private func magnitude(_ response: [Float], _ frequency: Double, _ rate: Double) -> Double {
    Signals.amplitude(of: frequency, in: response, sampleRate: rate) * Double(response.count) / 2
  }

  @Test("tremolo is the stated gain at every frame, the sides apart by the spread", arguments: rates)
  func tremolo(rate: Double) {
    let ones = [Float](repeating: 1, count: Int(rate))
    let output = render(Tremolo.description, ["depth": 80, "rate": 4, "spread": 90], ones, rate: rate)
    var worst = 0.0
    for frame in stride(from: 0, to: ones.count, by: 97) {
      let turn = 2 * .pi * 4 * Double(frame) / rate
      let left = 1 - 0.4 * (1 - backline_sin(turn)), right = 1 - 0.4 * (1 - backline_cos(turn))
      worst = max(worst, abs(Double(output[0][frame]) - left), abs(Double(output[1][frame]) - right))
    }
    #expect(worst < 1e-5)
    print("measured: tremolo against its formula, \(rate) Hz: \(worst)")
  }

  @Test("ring modulation gives sum and difference, half as loud, and nothing else", arguments: rates)
  func ringModulator(rate: Double) {
    let tone = Signals.sine(1000, frames: Int(rate), sampleRate: rate)
    let output = render(RingModulator.description, ["wetDryMix": 100, "rate": 300], tone, rate: rate)[0]
    for frequency in [700.0, 1300] {
      #expect(abs(Signals.amplitude(of: frequency, in: output, sampleRate: rate) - 0.5) < 1e-4)
    }
    for frequency in [300.0, 1000, 1600] {
      #expect(Signals.amplitude(of: frequency, in: output, sampleRate: rate) < 1e-4)
    }
  }

  @Test("vibrato bends by its depth in cents whatever the rate", arguments: rates)
  func vibrato(rate: Double) {
    var worst = 0.0
    for (hertz, cents) in [(5, 50), (3, 20), (8, 100)] as [(Float, Float)] {
      let tone = Signals.sine(2000, frames: Int(rate), sampleRate: rate)
      let output = render(Vibrato.description, ["depth": cents, "rate": hertz], tone, rate: rate)[0].suffix(
        Int(rate * 0.9))
      let values = Array(output)
      let crossings = values.indices.dropFirst().compactMap { i -> Double? in
        let (a, b) = (Double(values[i - 1]), Double(values[i]))
        return a < 0 && b >= 0 ? Double(i - 1) - a / (b - a) : nil
      }
      // The pitch over sixteen periods: 8 ms, in which the slowest swing hardly moves.
      let pitches = crossings.indices.dropFirst(16).map {
        1200 * backline_log(16 / (crossings[$0] - crossings[$0 - 16]) * rate / 2000) / backline_log(2)
      }
      // The slope of the delay is the same both ways, which is a little more in cents downwards.
      let slope = backline_pow(2, Double(cents) / 1200) - 1
      let down = -1200 * backline_log(1 - slope) / backline_log(2)
      worst = max(worst, abs((pitches.max() ?? 0) / Double(cents) - 1), abs(-(pitches.min() ?? 0) / down - 1))
    }
    #expect(worst < 0.02)
    print("measured: vibrato depth off by at most \(worst * 100) %, \(rate) Hz")
  }

  @Test("the flanger's comb has its teeth where the distance says", arguments: rates)
  func flangerComb(rate: Double) {
    let parameters: [String: Float] = ["depth": 0, "delayTime": 0.001, "feedback": 0]
    let response = render(Flanger.description, parameters, Signals.impulse(frames: 4800), rate: rate)[0]
    for tooth in 0..<4 {
      #expect(magnitude(response, (Double(tooth) + 0.5) * 1000, rate) < 0.01)
      #expect(abs(magnitude(response, Double(tooth + 1) * 1000, rate) - 1) < 0.01)
    }
  }

  @Test("the flanger goes through zero: an inverted copy cancels the dry one there")
  func throughZero() {
    let noise = Signals.noise(frames: 48_000)
    let parameters: [String: Float] = [
      "depth": 0.002, "delayTime": 0, "feedback": 0, "isInverted": 1, "rate": 1,
    ]
    let output = render(Flanger.description, parameters, noise)[0]
    let latency = Flanger.description.latency(48_000, [])
    // The sine passes zero at every half second.
    let near = Signals.rms(output[23_997..<24_004]), far = Signals.rms(output[11_000..<13_000])
    #expect(near < 0.05 * far, "\(near) \(far)")
    let dry = render(Flanger.description, ["wetDryMix": 0], Signals.impulse(frames: 2000))[0]
    #expect(dry.firstIndex { $0 != 0 } == latency && latency == 242)
  }

  @Test("flanger feedback rings as the comb filter it is")
  func flangerFeedback() {
    let parameters: [String: Float] = ["depth": 0, "delayTime": 0.001, "feedback": 80, "wetDryMix": 100]
    let response = render(Flanger.description, parameters, Signals.impulse(frames: 9600))[0]
    #expect(abs(magnitude(response, 1000, 48_000) - 5) < 0.05)
    #expect(abs(magnitude(response, 1500, 48_000) - 1 / 1.8) < 0.01)
  }

  @Test(
    "the phaser's notches lie where the formula says, two filters a notch", arguments: [0, 1, 2, 3, 4] as [Float], rates
  )
  func phaser(choice: Float, rate: Double) {
    let count = 4 + 2 * Int(choice)
    let parameters: [String: Float] = ["stages": choice, "depth": 0, "feedback": 0, "frequency": 700]
    let response = render(Phaser.description, parameters, Signals.impulse(frames: Int(rate / 4)), rate: rate)[0]
    let warped = backline_tan(.pi * 700 / rate)
    var worst = 0.0
    for k in 0..<count / 2 {
      let phase = backline_tan(Double(2 * k + 1) * .pi / Double(2 * count))
      let frequency = backline_atan2(warped * phase, 1) * rate / .pi
      worst = max(worst, magnitude(response, frequency, rate))
      // Between the notches the two add up.
      let between = backline_atan2(warped * backline_tan(Double(k) * .pi / Double(count)), 1) * rate / .pi
      if k > 0 { #expect(abs(magnitude(response, between, rate) - 1) < 0.01) }
    }
    #expect(worst < 0.01)
    if choice == 4 { print("measured: phaser depth of its notches, \(rate) Hz: \(Spectra.decibels(worst)) dB") }
  }

  @Test("the phaser changes its number of filters without a click")
  func phaserStages() {
    let tone = Signals.sine(300, frames: 24_000, amplitude: 0.5)
    let output = render(
      Phaser.description, ["depth": 0], tone, events: [.init(9001, "stages", 4), .init(9101, "stages", 0)])[0]
    #expect(Signals.largestStep(output) < 0.03)
  }

  @Test("chorus voices come at the delay and are as loud as one together", arguments: rates)
  func chorus(rate: Double) {
    for voices in 1...4 {
      let parameters: [String: Float] = ["voices": Float(voices), "depth": 0, "delayTime": 0.01, "wetDryMix": 100]
      let output = render(Chorus.description, parameters, Signals.impulse(frames: Int(rate / 10)), rate: rate)[0]
      // All voices lie on each other where nothing swings.
      let sum = output.reduce(0, +)
      #expect(abs(sum - Float(backline_sqrt(Double(voices)))) < 1e-4)
      let centre = output.enumerated().reduce(0.0) { $0 + Double($1.offset) * Double($1.element) } / Double(sum)
      #expect(abs(centre - 0.01 * rate) < 0.01)
    }
    let noise = Signals.noise(frames: Int(rate))
    let output = render(Chorus.description, ["voices": 4, "wetDryMix": 100, "depth": 0.004], noise, rate: rate)[0]
    let level = Spectra.decibels(Double(Signals.rms(output.suffix(Int(rate / 2))) / Signals.rms(noise)))
    #expect(abs(level) < 1.5)
  }

  @Test("rotors turn at exactly their speed, and reach it with their inertia", arguments: rates)
  func rotor(rate: Double) {
    var rotor = Rotor(sampleRate: rate, radius: 0.18, shade: 0.7)
    defer { rotor.deallocate() }
    rotor.aim(0.8, time: 0.5)
    rotor.reset()
    rotor.aim(6.7, time: 0.5)
    let constant = Int(rate / 2)
    for _ in 0..<constant { _ = rotor.next(1, width: 0, depth: 1) }
    let expected = 0.8 + 5.9 * (1 - backline_exp(-1))
    #expect(abs(rotor.speed / expected - 1) < 0.001)
    for _ in 0..<8 * Int(rate) { _ = rotor.next(1, width: 0, depth: 1) }
    #expect(rotor.speed == 6.7)
    // Fifty turns by the level, which is loudest where it faces the microphone.
    var crossings: [Double] = []
    var before: Float = 1
    for frame in 0..<Int(8 * rate) {
      let level = rotor.next(1, width: 0, depth: 1).x
      if before < 0.65 && level >= 0.65 {
        crossings.append(Double(frame) - Double((level - 0.65) / (level - before)))
      }
      before = level
    }
    let turns = Double(crossings.count - 1)
    let found = turns * rate / (crossings[crossings.count - 1] - crossings[0])
    #expect(turns > 50 && abs(found / 6.7 - 1) < 1e-4)
    print("measured: rotary horn speed \(found) turns a second for 6.7, \(rate) Hz")
  }

  @Test("the rotary speaker's halves add up to the whole where nothing turns")
  func rotary() {
    let parameters: [String: Float] = ["speed": 0, "depth": 0]
    let response = render(Rotary.description, parameters, Signals.impulse(frames: 9600))[0]
    for frequency in [50.0, 400, 800, 1600, 10_000] {
      #expect(abs(Spectra.decibels(magnitude(response, frequency, 48_000))) < 0.1, "\(frequency) Hz")
    }
    let tone = Signals.sine(3000, frames: 96_000)
    let output = render(Rotary.description, ["speed": 2, "width": 180], tone)
    // The horn faces one microphone while it turns away from the other.
    let left = stride(from: 48_000, to: 95_000, by: 480).map { Signals.rms(output[0][$0..<$0 + 480]) }
    let right = stride(from: 48_000, to: 95_000, by: 480).map { Signals.rms(output[1][$0..<$0 + 480]) }
    let mean = left.reduce(0, +) / Float(left.count), other = right.reduce(0, +) / Float(right.count)
    #expect(zip(left, right).reduce(0) { $0 + ($1.0 - mean) * ($1.1 - other) } < 0)
    #expect(Signals.peak(left) > 1.5 * (left.min() ?? 1))
  }
}
