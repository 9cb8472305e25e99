import BacklineDSP
import BacklineTestSupport
import CBackline
import Testing

@Suite("Multiband compressor, de-esser and transient shaper")
struct DynamicsUnitTests {
  static let rates = [44_100.0, 48_000, 96_000]

  private func level(_ frequency: Double, _ samples: ArraySlice<Float>, _ rate: Double) -> Double {
    Measured.decibels(Signals.amplitude(of: frequency, in: Array(samples), sampleRate: rate))
  }

  @Test("each band follows the static curve of a compressor and leaves the others alone", arguments: rates)
  func bands(rate: Double) {
    let frames = Int(rate)
    var worst = 0.0
    // Tones so far from the crossovers that a band holds them alone.
    for (band, frequency, low, high) in [(1, 50.0, 1000, 8000), (2, 700, 40, 9000), (3, 2971, 60, 200)]
      as [(Int, Double, Float, Float)]
    {
      let tone = Signals.sine(frequency, frames: frames, amplitude: 0.5, sampleRate: rate)
      func render(_ parameters: [String: Float]) -> Double {
        let output = UnitHarness(MultibandCompressor.description, sampleRate: rate, parameters: parameters)
          .render([[tone, tone], []])[0][0]
        return level(frequency, output[(frames / 2)...], rate)
      }
      let alone: [String: Float] = [
        "band1Ratio": 1, "band2Ratio": 1, "band3Ratio": 1, "kneeWidth": 0, "crossover1Frequency": low,
        "crossover2Frequency": high,
      ]
      #expect(abs(render(alone) - -6.02) < 0.05)
      var working = alone
      working["band\(band)Ratio"] = 4
      working["band\(band)Threshold"] = -20
      working["band\(band)AttackTime"] = 0.000_1
      working["band\(band)ReleaseTime"] = 5
      // An attack that short and a release that long follow the peak.
      let right = -20 + (level(frequency, tone[...], rate) + 20) / 4
      worst = max(worst, abs(render(working) - right))
      var others = alone
      for other in 1...3 where other != band { others["band\(other)Ratio"] = 100 }
      #expect(abs(render(others) - -6.02) < 0.05)
    }
    print("measured: multiband compressor's static curve off by at most \(Measured.text(worst)) dB at \(Int(rate)) Hz")
    #expect(worst < 0.1)
  }

  @Test("a loud kick does not duck the treble")
  func independence() {
    let kick = Signals.sine(60, frames: 48_000, amplitude: 0.9)
    let treble = Signals.sine(9000, frames: 48_000, amplitude: 0.01)
    let both = zip(kick, treble).map { $0 + $1 }
    let unit = UnitHarness(MultibandCompressor.description, parameters: ["band1Threshold": -40, "band1Ratio": 100])
    let output = unit.render([[both, both], []])[0][0]
    #expect(abs(level(9000, output[24_000...], 48_000) - -40) < 0.1)
    #expect(unit.reading("band1GainReduction") > 30 && unit.reading("band3GainReduction") < 0.1)
  }

  @Test("the de-esser turns sibilants down by the static curve and leaves the vowel", arguments: rates)
  func deEsser(rate: Double) {
    let frames = Int(rate)
    let parameters: [String: Float] = [
      "threshold": -30, "ratio": 2, "range": 30, "attackTime": 0.000_1, "releaseTime": 1, "frequency": 5000,
    ]
    let hiss = Signals.sine(11_000, frames: frames, amplitude: 0.316_227_8, sampleRate: rate)
    let vowel = Signals.sine(500, frames: frames, amplitude: 0.316_227_8, sampleRate: rate)
    func render(_ signal: [Float], _ more: [String: Float] = [:]) -> ArraySlice<Float> {
      UnitHarness(DeEsser.description, sampleRate: rate, parameters: parameters.merging(more) { $1 })
        .render([[signal, signal]])[0][0][(frames / 2)...]
    }
    #expect(abs(level(500, render(vowel), rate) - -10) < 0.05)
    // The bands of a Linkwitz-Riley crossover are in phase: what the low band leaks adds to the high band.
    let s = backline_tan(.pi * 11_000 / rate) / backline_tan(.pi * 5000 / rate)
    let high = s * s * s * s / (1 + s * s * s * s)
    func expected(_ range: Double) -> Double {
      let reduction = min(range, (Measured.decibels(high) - 10 + 30) / 2)
      return -10 + Measured.decibels(1 - high + high * Measured.factor(-reduction))
    }
    let error = abs(level(11_000, render(hiss), rate) - expected(30))
    print("measured: de-esser off its static curve by \(Measured.text(error)) dB at \(Int(rate)) Hz")
    #expect(error < 0.1)
    #expect(abs(level(11_000, render(hiss, ["range": 4]), rate) - expected(4)) < 0.1)
    let both = zip(hiss, vowel).map { $0 + $1 }
    #expect(abs(level(500, render(both), rate) - -10) < 0.1)
    #expect(level(500, render(both, ["mode": 1]), rate) < -18)
    #expect(level(500, render(both, ["listen": 1]), rate) < -60)
  }

  @Test("the transient shaper moves attacks and sustain and leaves a steady tone")
  func transients() {
    let steady = Signals.sine(1000, frames: 96_000, amplitude: 0.3)
    // Hits of 1 kHz that decay by 60 dB in a second, twice a second.
    let hits = Signals.sine(1000, frames: 96_000).enumerated().map { frame, sample -> Float in
      sample * backline_expf(-6.9 * Float(frame % 24_000) / 48_000)
    }
    func render(_ signal: [Float], _ parameters: [String: Float]) -> [Float] {
      UnitHarness(TransientShaper.description, parameters: parameters).render([[signal, signal]])[0][0]
    }
    #expect(render(hits, [:]) == hits)
    let even = render(steady, ["attack": 15, "sustain": 24])
    #expect(abs(level(1000, even[48_000...], 48_000) - Measured.decibels(0.3)) < 0.5)
    func change(_ parameters: [String: Float], _ from: Int, _ count: Int) -> Double {
      let output = render(hits, parameters)
      let range = 72_000 + from..<72_000 + from + count
      return Measured.decibels(Double(Signals.rms(output[range]) / Signals.rms(hits[range])))
    }
    #expect(change(["attack": 12], 0, 200) > 6 && abs(change(["attack": 12], 9600, 4800)) < 0.5)
    #expect(change(["attack": -12], 0, 200) < -6)
    #expect(change(["sustain": 12], 9600, 4800) > 2 && change(["sustain": -12], 9600, 4800) < -2)
    #expect(abs(change(["sustain": 12], 0, 200)) < 1.5)
  }
}
