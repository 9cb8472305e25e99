import BacklineTestSupport
import CBackline
import Testing

@testable import BacklineDSP

@Suite("Distortion")
struct DistortionTests {
  private let open: [String: Float] = ["highCut": 20_000, "lowCut": 20, "outputGain": 0]

  private func render(
    _ parameters: [String: Float], _ signal: [Float], rate: Double = 48_000, events: [UnitHarness.Event] = []
  ) -> [Float] {
    UnitHarness(Distortion.description, sampleRate: rate, parameters: open.merging(parameters) { $1 })
      .render([[signal, signal]], events: events)[0][0]
  }

  @Test("at 8x the aliases of a 5 kHz tone lie below -80 dB, whatever the curve", arguments: [44_100, 48_000, 96_000])
  func aliases(rate: Int) {
    var worst = -200.0
    for curve in ShapingCurve.names.indices {
      for drive: Float in [20, 40, 60] {
        let tone = Signals.sine(5000, frames: rate / 4, amplitude: 0.5, sampleRate: Double(rate))
        let output = render(["curve": Float(curve), "drive": drive], tone, rate: Double(rate))
        // As far as the filters are stated to be flat: 20 kHz at 48 kHz.
        let alias = Spectra.worstAlias(
          output, frequency: 5000, sampleRate: rate, limit: min(20_000, 0.417 * Double(rate)))
        #expect(alias < -80, "\(ShapingCurve.names[curve]) at \(drive) dB: \(alias) dB")
        worst = max(worst, alias)
      }
    }
    print("measured: distortion worst alias of 5 kHz at 8x, \(rate) Hz: \(worst) dB")
  }

  @Test("the static curve is the formula's, within one percent", arguments: ShapingCurve.names.indices)
  func staticCurve(curve: Int) {
    // A tone so low that filters and antialiasing have nothing to do; its peak is the curve's value.
    for drive: Float in [0, 12, 24] {
      let tone = Signals.sine(1000, frames: 24_000, amplitude: 0.5)
      let output = render(["curve": Float(curve), "drive": drive], tone).suffix(480)
      let gain = Double(backline_powf(10, drive / 20)) * 0.5
      // The mean square against that of the curve itself, without its mean.
      let shaped = (0..<9600).map { ShapingCurve.value(Int32(curve), gain * backline_sin(2 * .pi * Double($0) / 9600)) }
      let mean = shaped.reduce(0, +) / 9600
      let expected = backline_sqrt(shaped.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / 9600)
      #expect(abs(Double(Signals.rms(output)) / expected - 1) < 0.01, "\(drive) dB")
    }
  }

  @Test("antiderivatives are the integrals of their curves", arguments: ShapingCurve.names.indices)
  func integrals(curve: Int) {
    for x in stride(from: -6.0, through: 6, by: 0.37) {
      let h = 1e-4
      let below = ShapingCurve.integrals(Int32(curve), x - h), above = ShapingCurve.integrals(Int32(curve), x + h)
      let at = ShapingCurve.integrals(Int32(curve), x)
      #expect(abs((above.first - below.first) / (2 * h) - ShapingCurve.value(Int32(curve), x)) < 1e-4)
      #expect(abs((above.second - below.second) / (2 * h) - at.first) < 1e-6)
    }
  }

  @Test("a soft tone comes through as it is, exactly the latency later", arguments: [0, 1, 2] as [Float])
  func transparency(oversampling: Float) {
    for frequency in [100.0, 1000, 10_000] {
      let tone = Signals.sine(frequency, frames: 9600, amplitude: 0.001)
      let output = render(["curve": 3, "drive": 0, "oversampling": oversampling, "lowCut": 20], tone)
      let latency = Distortion.description.latency(48_000, [])
      let from = Signals.amplitude(of: frequency, in: Array(tone[4800 - latency..<9600 - latency]))
      let to = Signals.amplitude(of: frequency, in: Array(output[4800...]))
      // What the straight curve passes at the high rate, and the three filters of the first order around it.
      func decibels(_ square: Double) -> Double { 10 * backline_log(square) / backline_log(10) }
      let shaper = (2 + backline_cos(2 * .pi * frequency / (48_000 * Double(2 << Int(oversampling))))) / 3
      let top = backline_tan(.pi * frequency / 48_000) / backline_tan(.pi * 20_000 / 48_000)
      let low = (1 + 400 / (frequency * frequency)) * (1 + 100 / (frequency * frequency))
      let expected = 2 * decibels(shaper) - decibels(1 + top * top) - decibels(low)
      #expect(abs(Spectra.decibels(to / from) - expected) < 0.02, "\(frequency) Hz")
      if frequency == 1000 {
        let error = zip(tone[4800 - latency..<9600 - latency], output[4800...]).map { $0 - $1 }
        // What the filters turn the phase by at 1 kHz.
        #expect(Signals.rms(error) < 0.07 * Signals.rms(tone))
      }
    }
  }

  @Test("the dry part is as late as the wet one")
  func dry() {
    let output = render(["wetDryMix": 0], Signals.impulse(frames: 100))
    #expect(output.firstIndex { $0 != 0 } == Distortion.description.latency(48_000, []) && Signals.peak(output) == 1)
  }

  @Test("asymmetry makes even harmonics where there were none")
  func asymmetry() {
    func second(_ asymmetry: Float) -> Double {
      let output = render(["asymmetry": asymmetry], Signals.sine(1000, frames: 9600, amplitude: 0.3))
      return Spectra.lines(output.suffix(480))[20]
    }
    #expect(second(0) < 1e-5 && second(50) > 0.01)
  }

  @Test("curves and factors change without a click, also when changed during the change")
  func changes() {
    let tone = Signals.sine(200, frames: 24_000, amplitude: 0.5)
    let events = [
      (5001, "curve", 3), (5101, "curve", 1), (5201, "oversampling", 0), (9000, "curve", 5),
      (12_000, "oversampling", 1),
      (15_000, "asymmetry", 60), (17_000, "drive", 40),
    ].map { UnitHarness.Event($0.0, $0.1, Float($0.2)) }
    let output = render(["drive": 6], tone, events: events)
    #expect(Signals.largestStep(Array(output[2000..<16_500])) < 0.06)
  }

  @Test("an idle unit is silent whatever its asymmetry")
  func idle() {
    let output = render(["asymmetry": 70, "drive": 60], [Float](repeating: 0, count: 4800))
    #expect(output.allSatisfy { $0 == 0 })
  }
}
