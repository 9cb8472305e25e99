import BacklineDSP
import BacklineTestSupport
import Testing

@Suite("Looper")
struct LooperTests {
  private static let stop: Float = 0, record: Float = 1, play: Float = 2, overdub: Float = 3

  private func render(
    _ signal: [Float], frames: Int, _ events: [(Int, String, Float)], rate: Double = 48_000, cuts: [Int] = [256],
    parameters: [String: Float] = ["inputGain": -96]
  ) -> [Float] {
    UnitHarness(Looper.description, sampleRate: rate, parameters: parameters)
      .render([[signal, signal]], frames: frames, cuts: cuts, events: events.map { .init($0.0, $0.1, $0.2) })[0][0]
  }

  @Test(
    "a loop is as long as it was recorded, to the frame, and repeats bit for bit",
    arguments: [44_100.0, 48_000, 96_000])
  func exact(rate: Double) {
    let noise = Signals.noise(frames: 20_000)
    let length = 7919
    let output = render(
      noise, frames: 80_000, [(1001, "state", Self.record), (1001 + length, "state", Self.play)], rate: rate)
    #expect(output[..<(1001 + length)].allSatisfy { $0 == 0 })
    let start = 1001 + length, ramp = Int(rate / 100)
    // Behind the seam the loop is what was played.
    #expect(Array(output[start + ramp..<start + length]) == Array(noise[1001 + ramp..<1001 + length]))
    for turn in 1..<8 {
      #expect(
        Array(output[start + turn * length..<start + (turn + 1) * length]) == Array(output[start..<start + length]))
    }
    print("measured: looper length off by 0 frames of \(length) over 8 turns, \(rate) Hz")
  }

  @Test("the seam is smooth where the playing goes on")
  func seam() {
    let tone = Signals.sine(100, frames: 40_000)
    // 5003 frames are no whole number of periods.
    let output = render(tone, frames: 40_000, [(0, "state", Self.record), (5003, "state", Self.play)])
    #expect(Signals.largestStep(Array(output[5010..<39_000])) < 0.02)
  }

  @Test("an overdub lies on top, is taken back to the bit, and comes again")
  func undo() {
    let noise = Signals.noise(frames: 9000)
    let events: [(Int, String, Float)] = [
      (0, "state", Self.record), (9000, "state", Self.play), (27_500, "state", Self.overdub),
      (36_000, "state", Self.play), (54_000, "isUndone", 1), (72_000, "isUndone", 0),
    ]
    let melody = Signals.sine(440, frames: 90_000)
    // The seam hears the input, too: silent there, and only then the melody.
    let input =
      noise + [Float](repeating: 0, count: 18_000) + melody[..<(36_000 - 27_000)] + [Float](repeating: 0, count: 54_000)
    let output = render(input, frames: 90_000, events)
    func turn(_ index: Int) -> [Float] { Array(output[index * 9000..<(index + 1) * 9000]) }
    #expect(turn(1) == turn(2))
    let dubbed = turn(5)
    #expect(dubbed != turn(2))
    // In the middle of the overdub it is the sum.
    for frame in stride(from: 2000, to: 8000, by: 500) {
      #expect(abs(dubbed[frame] - turn(2)[frame] - melody[frame]) < 1e-5)
    }
    #expect(turn(7) == turn(2))
    #expect(turn(9) == dubbed)
  }

  @Test("half speed takes twice as long, an octave lower")
  func halfSpeed() {
    let tone = Signals.sine(1000, frames: 9600)
    let output = render(
      tone, frames: 60_000, [(0, "state", Self.record), (9600, "state", Self.play), (19_200, "isHalfSpeed", 1)])
    let slow = Array(output[24_000..<33_600])
    #expect(Signals.amplitude(of: 500, in: slow) > 0.98 && Signals.amplitude(of: 1000, in: slow) < 0.01)
    #expect(Array(output[20_000..<30_000]) == Array(output[20_000 + 19_200..<30_000 + 19_200]))
  }

  @Test("changes wait for the beat or the bar, each at its nearest frame", arguments: [44_100.0, 48_000, 96_000])
  func quantised(rate: Double) {
    // 133 beats a minute are no whole number of frames.
    let beat = 60 / 133 * rate
    let noise = Signals.noise(frames: 5 * Int(rate))
    let parameters: [String: Float] = ["inputGain": -96, "quantise": 1, "tempo": 133]
    let output = render(
      noise, frames: 5 * Int(rate), [(100, "state", Self.record), (Int(2.5 * beat), "state", Self.play)], rate: rate,
      parameters: parameters)
    let from = Int((beat + 0.5).rounded(.down)), to = Int((3 * beat + 0.5).rounded(.down))
    #expect(output.firstIndex { $0 != 0 } == to)
    let ramp = Int(rate / 100)
    #expect(Array(output[to + ramp..<to + 2000]) == Array(noise[from + ramp..<from + 2000]))
  }

  @Test("stop fades out, play begins at the start, record begins anew")
  func transport() {
    let tone = Signals.sine(250, frames: 96_000)
    let output = render(
      tone, frames: 96_000,
      [
        (0, "state", Self.record), (9600, "state", Self.play), (30_001, "state", Self.stop),
        (40_000, "state", Self.play),
      ])
    #expect(Signals.largestStep(Array(output[9600..<39_000])) < 0.08)
    #expect(output[30_600..<40_000].allSatisfy { $0 == 0 })
    #expect(Array(output[41_000..<49_000]) == Array(output[20_200..<28_200]))
  }

  @Test("a loop at the end of the memory is closed there")
  func full() {
    let harness = UnitHarness(Looper.description, parameters: ["state": Self.record])
    _ = harness.render([[[1], [1]]], frames: 1_474_560 + 100, cuts: [8192])
    #expect(harness.reading("loopLength") == Float(1_474_560.0 / 48_000))
    harness.reset()
    #expect(harness.reading("loopLength") == 0)
  }

  @Test("the same bits come out however a take is cut")
  func cuts() {
    let noise = Signals.noise(frames: 60_000)
    let events: [(Int, String, Float)] = [
      (33, "state", Self.record), (5000, "state", Self.overdub), (20_001, "isHalfSpeed", 1),
      (30_000, "state", Self.play),
      (31_111, "isUndone", 1), (40_000, "isHalfSpeed", 0), (41_000, "overdubFeedback", 50),
      (45_000, "state", Self.overdub),
    ]
    let whole = render(noise, frames: 60_000, events)
    for cuts in [[1], [7], [8192], [31, 33, 500]] {
      #expect(render(noise, frames: 60_000, events, cuts: cuts) == whole)
    }
  }
}
