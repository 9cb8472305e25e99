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
      #expect(meter.reading(parameter.name) == -96)
    }
    _ = meter.render(UnitChecks.silence(for: Meter.description, frames: 48_000))
    for parameter in Meter.description.parameters where parameter.isReadOnly {
      #expect(meter.reading(parameter.name) == -96)
    }
  }

  @Test("readings do not depend on how the signal is cut")
  func cuts() {
    let signal = Signals.noise(frames: 30_011)
    let readings = UnitChecks.cuts.map { cuts in
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
