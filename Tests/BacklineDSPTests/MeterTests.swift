import BacklineDSP
import BacklineTestSupport
import CBackline
import CEBUR128
import Testing

@Suite("Meter")
struct MeterTests {
  static let rates = [44_100.0, 48_000, 96_000, 192_000]

  /// What libebur128 says of a stereo signal: momentary, short-term, integrated.
  private func reference(_ left: [Float], _ right: [Float], rate: Double) -> (Double, Double, Double) {
    let mode = EBUR128_MODE_S.rawValue | EBUR128_MODE_I.rawValue
    var state = ebur128_init(2, UInt(rate), Int32(mode))
    defer { ebur128_destroy(&state) }
    let interleaved = zip(left, right).flatMap { [$0, $1] }
    _ = ebur128_add_frames_float(state, interleaved, left.count)
    var momentary = 0.0, shortTerm = 0.0, integrated = 0.0
    _ = ebur128_loudness_momentary(state, &momentary)
    _ = ebur128_loudness_shortterm(state, &shortTerm)
    _ = ebur128_loudness_global(state, &integrated)
    return (momentary, shortTerm, integrated)
  }

  private func measure(_ left: [Float], _ right: [Float], rate: Double = 48_000) -> UnitHarness {
    let harness = UnitHarness(Meter.description, sampleRate: rate)
    _ = harness.render([[left, right]], cuts: [1000, 77])
    return harness
  }

  @Test("the signal passes bit for bit")
  func transparent() {
    let left = Signals.noise(frames: 10_000), right = Signals.noise(frames: 10_000, seed: 2)
    let output = UnitHarness(Meter.description).render([[left, right]], cuts: [64, 1, 333])
    #expect(output[0] == [left, right])
  }

  @Test("a stereo sine of 1 kHz at -23 dBFS is -23 LUFS", arguments: rates)
  func calibration(rate: Double) {
    let tone = Signals.sine(1000, frames: Int(rate / 2), amplitude: 0.070_794_6, sampleRate: rate)
    let meter = measure(tone, tone, rate: rate)
    for name in ["loudnessMomentary", "loudnessIntegrated"] {
      #expect(abs(meter.reading(name) + 23) < 0.1, "\(name)")
    }
  }

  @Test("the readings are those of libebur128", arguments: [16_000.0, 44_100])
  func library(rate: Double) {
    // Loud, soft (below the relative gate), silent (below the absolute one), middle: whole tenths of a second.
    let levels: [Float] = [0.3, 0.3, 0.01, 0, 0.1, 0.2]
    let left = levels.enumerated().flatMap { index, level in
      Signals.noise(frames: Int(rate) * 8 / 10, amplitude: level, seed: UInt64(index + 1))
    }
    let right = Signals.sine(220, frames: left.count, amplitude: 0.05, sampleRate: rate).enumerated().map {
      $0 < left.count / 2 ? $1 : 0
    }
    let meter = measure(left, right, rate: rate)
    let (momentary, shortTerm, integrated) = reference(left, right, rate: rate)
    #expect(abs(Double(meter.reading("loudnessMomentary")) - momentary) < 0.01)
    #expect(abs(Double(meter.reading("loudnessShortTerm")) - shortTerm) < 0.01)
    #expect(abs(Double(meter.reading("loudnessIntegrated")) - integrated) < 0.05)
  }

  @Test("peak and RMS are those of a sine, each of its own channel")
  func levels() {
    let left = Signals.sine(1000, frames: 24_000, amplitude: 0.5)
    let right = Signals.sine(997, frames: 24_000, amplitude: 0.05)
    let meter = measure(left, right)
    #expect(abs(meter.reading("peakLeft") + 6.02) < 0.02)
    #expect(abs(meter.reading("rmsLeft") + 9.03) < 0.02)
    #expect(abs(meter.reading("peakRight") + 26.02) < 0.02)
    #expect(abs(meter.reading("rmsRight") + 29.03) < 0.02)
  }

  @Test("the peak falls by 20 dB in 1.7 s, and RMS is silent after its window")
  func ballistics() {
    let signal = [Float](repeating: 1, count: 480) + [Float](repeating: 0, count: 81_600)
    let meter = measure(signal, signal)
    #expect(abs(meter.reading("peakLeft") + 20) < 0.05)
    #expect(meter.reading("rmsLeft") == -96)
  }

  @Test("silence reads as the bottom of the range, from the first moment on")
  func silence() {
    let meter = UnitHarness(Meter.description)
    for parameter in Meter.description.parameters where parameter.isReadOnly {
      #expect(meter.reading(parameter.name) == parameter.defaultValue)
    }
    _ = meter.render(Meter.description.silence(frames: 48_000))
    for parameter in Meter.description.parameters where parameter.isReadOnly {
      #expect(meter.reading(parameter.name) == parameter.defaultValue)
    }
  }

  @Test("the loudness range is that of libebur128", arguments: [44_100.0, 48_000, 96_000])
  func range(rate: Double) {
    // Two seconds of each level, at a rate of its own in hardly any time: noise would take long to make.
    let levels: [Float] = [0.2, 0.05, 0.01, 0.3, 0.15, 0.4, 0.02, 0.001]
    let tone = Signals.sine(997, frames: Int(rate) * 2, sampleRate: rate)
    let signal = levels.flatMap { level in tone.map { $0 * level } }
    let meter = measure(signal, signal, rate: rate)
    let mode = EBUR128_MODE_LRA.rawValue | EBUR128_MODE_I.rawValue | EBUR128_MODE_HISTOGRAM.rawValue
    var state = ebur128_init(2, UInt(rate), Int32(mode))
    defer { ebur128_destroy(&state) }
    _ = ebur128_add_frames_float(state, signal.flatMap { [$0, $0] }, signal.count)
    var range = 0.0, integrated = 0.0
    _ = ebur128_loudness_range(state, &range)
    _ = ebur128_loudness_global(state, &integrated)
    let rangeError = abs(Double(meter.reading("loudnessRange")) - range)
    let integratedError = abs(Double(meter.reading("loudnessIntegrated")) - integrated)
    print(
      "measured: loudness off libebur128 by \(Measured.text(integratedError)) LU, range (\(Measured.text(range, 1)) LU) by \(Measured.text(rangeError)) LU at \(Int(rate)) Hz"
    )
    #expect(range > 10 && rangeError < 0.11 && integratedError < 0.05)
  }

  @Test("true peaks are those between the samples", arguments: [44_100.0, 48_000, 96_000])
  func truePeak(rate: Double) {
    var worst = 0.0
    for (frequency, phase, amplitude) in [
      (rate / 4, 0.125, 0.5), (rate / 6, 0.0833, 0.25), (997, 0, 1), (0.41 * rate, 0.1, 0.8), (0.333 * rate, 0.2, 0.9),
    ] {
      let tone = (0..<4800).map { frame -> Float in
        // Faded in and out, so that the peak is that of the tone.
        let fade = min(1, Double(min(frame, 4800 - frame)) / 1000)
        return Float(fade * amplitude * backline_sin(2 * .pi * (frequency / rate * Double(frame) + phase)))
      }
      let meter = measure(tone + [Float](repeating: 0, count: 600), [], rate: rate)
      worst = max(worst, abs(Double(meter.reading("truePeakLeft")) - Measured.decibels(amplitude)))
      #expect(meter.reading("truePeakRight") == -96)
    }
    let noise = Signals.noise(frames: 9600, amplitude: 0.5)
    // Music hardly holds anything above 0.44 of the rate.
    let soft = UnitHarness(
      Filter.description, sampleRate: rate, parameters: ["slope": 1, "cutoffFrequency": Float(0.25 * rate)]
    ).render([[noise, noise], []], frames: 10_000)[0][0]
    let meter = measure(soft, soft, rate: rate)
    worst = max(
      worst, abs(Double(meter.reading("truePeakLeft")) - Measured.decibels(Measured.truePeak(soft, factor: 16))))
    print("measured: true peak off by at most \(Measured.text(worst)) dB at \(Int(rate)) Hz")
    #expect(worst < 0.1)
  }

  @Test("readings do not depend on how the signal is cut")
  func cuts() {
    let signal = Signals.noise(frames: 30_011)
    let readings = [[1], [7], [64], [333], [8192], [5, 1, 90, 31, 32, 33, 257, 2, 700]].map { cuts in
      let meter = UnitHarness(Meter.description)
      _ = meter.render([[signal, signal]], cuts: cuts)
      return Meter.description.parameters.filter(\.isReadOnly).map { meter.reading($0.name) }
    }
    for other in readings.dropFirst() { #expect(other == readings[0]) }
  }

  @Test("a reset clears the levels and keeps the programme; switching on begins a new one")
  func integration() {
    let loud = Signals.sine(1000, frames: 48_000, amplitude: 0.1)
    let soft = Signals.sine(1000, frames: 48_000, amplitude: 0.05)
    let meter = measure(loud, loud)
    let first = meter.reading("loudnessIntegrated")
    meter.reset()
    #expect(meter.reading("loudnessIntegrated") == first)
    #expect(meter.reading("peakLeft") == -96 && meter.reading("loudnessMomentary") == -96)
    meter.set("integrating", 0)
    _ = meter.render([[soft, soft]])
    #expect(meter.reading("loudnessIntegrated") == first)
    meter.set("integrating", 1)
    #expect(meter.reading("loudnessIntegrated") == -96)
    _ = meter.render([[soft, soft]])
    #expect(abs(meter.reading("loudnessIntegrated") - (first - 6.02)) < 0.1)
  }
}
