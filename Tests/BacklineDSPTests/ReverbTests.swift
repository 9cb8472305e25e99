import BacklineDSP
import BacklineTestSupport
import CBackline
import Testing

@Suite("Reverb")
struct ReverbTests {
  private let wet: [String: Float] = ["wetDryMix": 100, "preDelay": 0]

  private func render(
    _ parameters: [String: Float], _ left: [Float], _ right: [Float], frames: Int, rate: Double = 48_000,
    events: [UnitHarness.Event] = []
  ) -> [[Float]] {
    UnitHarness(Reverb.description, sampleRate: rate, parameters: wet.merging(parameters) { $1 })
      .render([[left, right]], frames: frames, events: events)[0]
  }

  /// The part of a signal around `frequency`, twice through a band-pass of Q 1.
  private func band(_ signal: [Float], _ frequency: Double, rate: Double) -> [Double] {
    let w = 2 * .pi * frequency / rate
    let alpha = backline_sin(w) / 2
    var result = signal.map { Double($0) }
    for _ in 0..<2 {
      var (x1, x2, y1, y2) = (0.0, 0.0, 0.0, 0.0)
      for i in result.indices {
        let x = result[i]
        let y = (alpha * (x - x2) + 2 * backline_cos(w) * y1 - (1 - alpha) * y2) / (1 + alpha)
        (x2, x1, y2, y1) = (x1, x, y1, y)
        result[i] = y
      }
    }
    return result
  }

  /// The decay time by Schroeder's backward integration, from -5 to -35 dB, by least squares.
  private func decayTime(_ impulseResponse: [Float], at frequency: Double, rate: Double) -> Double {
    var energy = band(impulseResponse, frequency, rate: rate).map { $0 * $0 }
    for i in energy.indices.reversed().dropFirst() { energy[i] += energy[i + 1] }
    let levels = energy.map { 10 * backline_log(max($0, 1e-30) / energy[0]) / backline_log(10) }
    guard let start = levels.firstIndex(where: { $0 <= -5 }), let end = levels.firstIndex(where: { $0 <= -35 })
    else { return .nan }
    let points = levels[start..<end]
    let meanX = Double(start + end - 1) / 2, meanY = points.reduce(0, +) / Double(points.count)
    var (xy, xx) = (0.0, 0.0)
    for i in start..<end {
      xy += (Double(i) - meanX) * (levels[i] - meanY)
      xx += (Double(i) - meanX) * (Double(i) - meanX)
    }
    return -60 / (xy / xx) / rate
  }

  @Test(
    "middle frequencies fall by 60 dB in the decay time",
    arguments: [
      (0.4, 50.0, 50.0, 48_000.0), (1.5, 0, 0, 16_000), (1.5, 100, 60, 16_000), (2, 20, 30, 16_000),
      (0.3, 60, 50, 96_000),
      (1.2, 40, 100, 24_000), (0.15, 10, 50, 48_000),
    ])
  func middle(time: Double, size: Double, damping: Double, rate: Double) {
    let response = render(
      ["decayTime": Float(time), "size": Float(size), "damping": Float(damping)], [1], [1],
      frames: Int((0.9 * time + 0.1) * rate), rate: rate)
    for channel in response {
      for frequency in [500.0, 1000] {
        let measured = decayTime(channel, at: frequency, rate: rate)
        #expect(abs(measured / time - 1) < 0.1, "\(frequency) Hz: \(measured) s for \(time) s")
      }
    }
  }

  @Test(
    "high frequencies die away sooner as damping says",
    arguments: [(0.8, 0.0, 1.0, 0.2), (0.8, 50, 0.316, 0.3), (2, 100, 0.1, 0.5)])
  func high(time: Double, damping: Double, ratio: Double, tolerance: Double) {
    let response = render(
      ["decayTime": Float(time), "damping": Float(damping), "highCut": 20_000], [1], [1],
      frames: Int(time * max(ratio, 0.3) * 48_000))
    let measured = decayTime(response[0], at: 14_000, rate: 48_000) / time
    #expect(abs(measured / ratio - 1) < tolerance, "\(measured) for \(ratio)")
  }

  @Test("noise comes out about as loud as it went in, whatever the decay time and size")
  func level() {
    for (time, size) in [(0.3, 50), (0.8, 0), (0.8, 100), (1.5, 60)] as [(Float, Float)] {
      let frames = Int((time + 0.5) * 16_000)
      let left = Signals.noise(frames: frames), right = Signals.noise(frames: frames, seed: 5)
      let output = render(
        ["decayTime": time, "size": size, "damping": 0, "lowCut": 10], left, right, frames: frames, rate: 16_000)
      let ratio = Signals.rms(output[0].suffix(8000)) / Signals.rms(left)
      #expect(abs(20 * backline_log10f(ratio)) < 3, "\(time) s, size \(size): \(ratio)")
    }
  }

  @Test("the sides have little in common, and nothing but the middle is left at width 0")
  func width() {
    let wide = render(["decayTime": 0.4], [1], [1], frames: 20_000)
    var product = 0.0
    for i in wide[0].indices { product += Double(wide[0][i]) * Double(wide[1][i]) }
    let correlation = product / 20_000 / Double(Signals.rms(wide[0]) * Signals.rms(wide[1]))
    #expect(abs(correlation) < 0.15, "\(correlation)")
    let narrow = render(["width": 0], [1], [0.3], frames: 3000)
    #expect(narrow[0] == narrow[1] && Signals.peak(narrow[0]) > 0)
  }

  @Test("a side alone is heard on both")
  func spread() {
    let output = render(["decayTime": 0.4], [1], [0], frames: 20_000)
    let ratio = Signals.rms(output[0]) / Signals.rms(output[1])
    #expect(ratio > 0.7 && ratio < 1.4)
  }

  @Test("the reverb begins after the pre-delay, and the dry part at once")
  func preDelay() {
    let near = render(["preDelay": 0, "modulationDepth": 0], [1], [1], frames: 7000)[0].firstIndex { $0 != 0 } ?? 0
    let far = render(["preDelay": 0.1, "modulationDepth": 0], [1], [1], frames: 7000)[0].firstIndex { $0 != 0 } ?? 0
    #expect(far - near == 4800)
    #expect(abs(render(["wetDryMix": 30], [1], [1], frames: 10)[0][0] - 0.7) < 1e-6)
  }

  @Test("no echo stands out: the response has no gap and no spike")
  func density() {
    let response = render(["decayTime": 2, "damping": 0], [1], [1], frames: 24_000)[0]
    for start in stride(from: 9600, to: 21_600, by: 480) {
      let piece = response[start..<start + 480]
      #expect(Signals.rms(piece) > 0 && Signals.peak(piece) / Signals.rms(response[start..<start + 2400]) < 7)
    }
  }

  @Test("changes of size and pre-delay while it sounds do not click")
  func sizeChange() {
    let tone = Signals.sine(150, frames: 48_000, amplitude: 0.5)
    let parameters: [String: Float] = ["decayTime": 1, "modulationDepth": 0]
    let steady = render(parameters, tone, tone, frames: 48_000)[0]
    let events = [
      (20_001, "size", 100), (20_333, "size", 10), (20_400, "size", 90), (25_001, "preDelay", 0.2), (30_001, "size", 0),
      (34_001, "decayTime", 8), (38_001, "damping", 100), (40_001, "modulationDepth", 100),
    ].map { UnitHarness.Event($0.0, $0.1, Float($0.2)) }
    let moving = render(parameters, tone, tone, frames: 48_000, events: events)[0]
    // The step of a tone goes with its level, which may rise by 12 dB as the modes move, and a fade adds its slope.
    let peak = Signals.peak(moving.suffix(30_000))
    let slope: Float = 2 * .pi * 150 / 48_000
    #expect(Signals.largestStep(Array(moving.suffix(30_000))) < peak * (slope + 2.0 / 480))
    #expect(peak < 4 * Signals.peak(steady))
  }

  @Test("a size that never rests does not make it grow")
  func sizeSweep() {
    let noise = Signals.noise(frames: 48_000)
    let events = (0..<200).map {
      UnitHarness.Event(4001 + $0 * 200, "size", Float($0 * 37 % 101), ramp: [480, 64, 0, 1000][$0 % 4])
    }
    let output = render(["decayTime": 20, "damping": 0], noise, noise, frames: 48_000, events: events)
    for channel in output { #expect(Signals.peak(channel) < 4) }
  }

  @Test("a constant input leaves nothing")
  func offset() {
    let constant = [Float](repeating: 1, count: 16_000)
    let output = render(["decayTime": 0.5], constant, constant, frames: 16_000, rate: 8000)[0]
    #expect(Signals.peak(output.suffix(1000)) < 1e-3)
  }

  @Test("after the tail nothing above -140 dB is left, and after the reset nothing")
  func tail() {
    let harness = UnitHarness(
      Reverb.description, sampleRate: 8000, parameters: wet.merging(["decayTime": 0.5, "damping": 0]) { $1 })
    let noise = Signals.noise(frames: 8000)
    _ = harness.render([[noise, noise]])
    let tail = Int(harness.tail())
    let output = harness.render(Reverb.description.silence(frames: tail + 1000))[0]
    #expect(Signals.peak(output[0].suffix(1000)) < 1e-7)
    harness.reset()
    let silent = harness.render(Reverb.description.silence(frames: 3000))[0]
    #expect(silent.allSatisfy { $0.allSatisfy { $0 == 0 } })
  }
}
