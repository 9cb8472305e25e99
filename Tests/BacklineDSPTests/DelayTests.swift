import BacklineDSP
import BacklineTestSupport
import CBackline
import Testing

@Suite("Delay")
struct DelayTests {
  private let wet: [String: Float] = ["wetDryMix": 100, "delayTime": 0.01, "feedback": 50, "lowPassCutoff": 20_000]

  private func render(
    _ parameters: [String: Float], _ left: [Float], _ right: [Float], frames: Int, rate: Double = 48_000,
    events: [UnitHarness.Event] = []
  ) -> [[Float]] {
    UnitHarness(Delay.description, sampleRate: rate, parameters: parameters)
      .render([[left, right]], frames: frames, events: events)[0]
  }

  @Test("the first echo is the input, exactly the delay time later", arguments: [44_100.0, 48_000, 96_000, 192_000])
  func firstEcho(rate: Double) {
    let output = render(wet, Signals.impulse(frames: 1), [0.5], frames: 3000, rate: rate)
    let frames = Int(rate * 0.01 + 0.5)
    #expect(output[0].firstIndex { $0 != 0 } == frames)
    #expect(output[0][frames] == 1 && output[1][frames] == 0.5)
  }

  @Test("the mix weighs input and echo")
  func mix() {
    let output = render(wet.merging(["wetDryMix": 30]) { $1 }, [1], [1], frames: 500)
    #expect(abs(output[0][0] - 0.7) < 1e-6 && abs(output[0][480] - 0.3) < 1e-6)
  }

  @Test("each echo of a tone is weaker by the feedback", arguments: [50, -50, 80] as [Float])
  func feedback(percent: Float) {
    // A burst of 1 kHz, where neither filter takes anything that matters.
    let burst = Signals.sine(1000, frames: 480)
    let output = render(
      wet.merging(["feedback": percent, "delayTime": 0.02]) { $1 }, burst, burst, frames: 6000)[0]
    for echo in 1...3 {
      let from = 960 * echo
      let ratio = Signals.rms(output[from + 960..<from + 1440]) / Signals.rms(output[from..<from + 480])
      #expect(abs(ratio - abs(percent) / 100) < 0.01)
    }
    let sign = zip(output[960..<1440], output[1920..<2400]).reduce(0) { $0 + $1.0 * $1.1 }
    #expect((sign < 0) == (percent < 0))
  }

  @Test("the cutoffs are 3 dB down after one round of the feedback")
  func filters() {
    for (parameter, frequency) in [("lowPassCutoff", 1000.0), ("highPassCutoff", 500.0)] {
      let burst = Signals.sine(frequency, frames: 9600)
      let parameters = wet.merging(["delayTime": 0.2, "feedback": 100, parameter: Float(frequency)]) { $1 }
      let output = render(parameters, burst, burst, frames: 28_800)[0]
      let ratio = Signals.rms(output[21_600..<26_400]) / Signals.rms(output[12_000..<16_800])
      #expect(abs(20 * backline_log10f(ratio) + 3.01) < 0.1)
    }
  }

  @Test("ping-pong plays left, right, left")
  func pingPong() {
    let output = render(wet.merging(["pingPong": 1]) { $1 }, [1], [1], frames: 2000)
    #expect(output[0][480] == 1 && output[1][480] == 0)
    #expect(output[0][960..<1000].allSatisfy { $0 == 0 } && output[1][960] > 0.3)
    #expect(output[0][1440] > 0.1 && Signals.peak(output[1][1430..<1480]) < 0.01)
  }

  @Test("at 100 % echoes do not grow, and a steady input piles up to a bound")
  func fullFeedback() {
    let steady = Signals.sine(1000, frames: 96_000)
    let parameters = wet.merging(["feedback": 100]) { $1 }
    let output = render(parameters, steady, steady, frames: 192_000)[0]
    #expect(Signals.peak(output) < 9.1)
    let after = (0..<8).map { Signals.rms(output[(97_000 + $0 * 10_000)..<(107_000 + $0 * 10_000)]) }
    for (earlier, later) in zip(after, after.dropFirst()) { #expect(later <= earlier * 1.0001) }
    for percent: Float in [100, -100] {
      let harness = UnitHarness(Delay.description, parameters: wet.merging(["feedback": percent]) { $1 })
      #expect(harness.tail() == 60 * 48_000 + 1)
    }
  }

  @Test("a new time fades from tap to tap without a click and without a change of pitch")
  func timeChange() {
    let tone = Signals.sine(200, frames: 24_000)
    let output = render(
      wet.merging(["feedback": 0]) { $1 }, tone, tone, frames: 24_000,
      events: [.init(5001, "delayTime", 0.0133), .init(5201, "delayTime", 0.05), .init(5301, "delayTime", 0.0211)])[0]
    let slope: Float = 2 * .pi * 200 / 48_000
    #expect(Signals.largestStep(Array(output[481...])) < slope + 2.0 / 480)
    // The second change waited for the first and was overtaken by the third.
    #expect(Array(output[5961...]) == Array(tone[(5961 - 1013)..<(24_000 - 1013)]))
    #expect(output[5481] == tone[5481 - 638])
  }

  @Test("a set without a ramp takes effect at its frame")
  func jump() {
    let ramp = (0..<4000).map { Float($0) }
    let output = render(
      wet.merging(["feedback": 0]) { $1 }, ramp, ramp, frames: 4000, events: [.init(2001, "delayTime", 0.02, ramp: 0)])[
        0]
    #expect(output[2000] == 1520 && output[2001] == 1041)
  }

  @Test("a moving mix has no zipper: its second difference is that of a line")
  func zipper() {
    let steady = [Float](repeating: 0.5, count: 4000)
    let output = render(
      wet.merging(["wetDryMix": 0]) { $1 }, steady, steady, frames: 400,
      events: [.init(33, "wetDryMix", 100, ramp: 320)])[0]
    let steps = zip(output, output.dropFirst()).map { $1 - $0 }
    for frame in 34..<350 { #expect(abs(steps[frame] + 0.5 / 320) < 1e-6) }
  }

  @Test("the tail is that of the feedback")
  func tail() {
    func tail(_ parameters: [String: Float]) -> Int64 {
      UnitHarness(Delay.description, parameters: parameters).tail()
    }
    // No feedback: one echo and half a second for the filters.
    #expect(tail(["delayTime": 2, "feedback": 0]) == 48_000 * 5 / 2 + 1)
    // Half a level is 6.02 dB: 26 passes for 152 dB, and the first echo.
    let half = tail(["delayTime": 0.1, "feedback": 50])
    #expect(half > 48_000 * 26 / 10 && half < 48_000 * 34 / 10)
  }

  @Test("after the tail nothing above -140 dB is left")
  func tailEnds() {
    let harness = UnitHarness(Delay.description, sampleRate: 8000, parameters: ["delayTime": 0.05, "feedback": 70])
    let loud = [Float](repeating: 1, count: 800)
    _ = harness.render([[loud, loud]])
    let tail = Int(harness.tail())
    let output = harness.render(Delay.description.silence(frames: tail + 1000))[0]
    #expect(Signals.peak(output[0].suffix(1000)) < 1e-7)
  }
}

@Suite("Delay by the tempo, with wow, ducked")
struct DelayGrowthTests {
  private let wet: [String: Float] = ["wetDryMix": 100, "delayTime": 0.1, "feedback": 0, "lowPassCutoff": 20_000]

  private func render(
    _ parameters: [String: Float], _ signal: [Float], frames: Int, rate: Double = 48_000,
    events: [UnitHarness.Event] = []
  ) -> [Float] {
    UnitHarness(Delay.description, sampleRate: rate, parameters: wet.merging(parameters) { $1 })
      .render([[signal, signal]], frames: frames, events: events)[0][0]
  }

  @Test("the echo falls on the note to the frame", arguments: [44_100.0, 48_000, 96_000])
  func tempo(rate: Double) throws {
    for (note, tempo, beats) in [("1/8D", 123, 0.75), ("1/4", 90, 1), ("1/16T", 140, 1.0 / 6)]
      as [(String, Float, Double)]
    {
      let index = try #require(TempoDivision.names.firstIndex(of: note))
      let output = render(
        ["division": Float(index), "tempo": tempo], Signals.impulse(frames: 1), frames: Int(rate), rate: rate)
      let expected = Int((beats * 60 / Double(tempo) * rate + 0.5).rounded(.down))
      #expect(output.firstIndex { $0 != 0 } == expected)
    }
  }

  @Test("a tempo too slow for the longest delay takes the longest")
  func longest() {
    let output = render(["division": 1, "tempo": 20], Signals.impulse(frames: 1), frames: 250_000)
    #expect(output.firstIndex { $0 != 0 } == 240_000)
  }

  @Test("wow bends the pitch of the echo by what its sines give, and does not click")
  func wow() {
    let tone = Signals.sine(3000, frames: 144_000)
    let output = Array(render(["wow": 100], tone, frames: 144_000)[9600...])
    let crossings = output.indices.dropFirst().compactMap { i -> Double? in
      let (a, b) = (Double(output[i - 1]), Double(output[i]))
      return a < 0 && b >= 0 ? Double(i - 1) - a / (b - a) : nil
    }
    // Sixteen periods, 5 ms, are straight enough for 9.7 Hz.
    let bends = crossings.indices.dropFirst(16).map { (crossings[$0] - crossings[$0 - 16]) / 256 - 1 }
    // The sum of the steepest slopes of the three sines: 4 ms · 0.45 · 2π (0.55 + 0.08 · 5.3 + 0.03 · 9.7).
    let steepest = 0.004 * 0.45 * 2 * Double.pi * (0.55 + 0.424 + 0.291)
    let largest = bends.map(abs).max() ?? 0
    #expect(largest < steepest * 1.02 && largest > steepest * 0.6)
    print("measured: delay wow bends by at most \(largest * 100) %, by the formula \(steepest * 100) %")
    #expect(Signals.largestStep(output) < 2 * .pi * 3000 / 48_000 * 1.05)
    let moving = render(
      ["wow": 0], Signals.sine(200, frames: 48_000), frames: 48_000,
      events: [.init(9001, "wow", 80), .init(20_001, "wow", 0)])
    #expect(Signals.largestStep(Array(moving[4810...])) < 0.3)
  }

  @Test(
    "ducking turns the echo down by its depth while the input is loud, and lets it up again",
    arguments: [44_100.0, 48_000, 96_000])
  func ducking(rate: Double) {
    let burst = Signals.sine(1000, frames: Int(rate), amplitude: 0.5, sampleRate: rate)
    let output = render(["ducking": 18, "delayTime": 0.5], burst, frames: Int(2 * rate), rate: rate)
    let during = Spectra.decibels(Double(Signals.rms(output[Int(0.7 * rate)..<Int(0.9 * rate)])) / 0.353_55)
    #expect(abs(during + 18) < 0.1)
    // From -6 dBFS to -50 the envelope needs 0.3 s · ln 160.
    let later = render(["ducking": 18, "delayTime": 2.6], burst, frames: Int(3.6 * rate), rate: rate)
    let after = Spectra.decibels(Double(Signals.rms(later[Int(2.7 * rate)..<Int(3.5 * rate)])) / 0.353_55)
    #expect(abs(after) < 0.2)
    print("measured: delay ducked by \(-during) dB for 18 dB, \(rate) Hz")
  }
}
