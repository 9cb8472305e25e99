import BacklineDSP
import BacklineEngine
import BacklineTestSupport
import Testing

@Suite("Loops that a feedback connection closes")
struct FeedbackTests {
  @Test(
    "a loop comes back exactly one quantum later at every cut (U-41, R7)",
    arguments: [[1], [7], [64], [333], [8192]])
  func oneQuantum(cuts: [Int]) async throws {
    let harness = try await EngineHarness()
    try await harness.perform([
      harness.add("mixer", "m"), harness.add("gain", "g", ["gain": -20]), harness.connect("input", "m"),
      harness.connect("m", "g"), harness.connect("g", "m", isFeedback: true), harness.connect("m", "output"),
    ])
    _ = harness.render(frames: 1024)
    await harness.settle()
    let output = harness.render(both: Signals.impulse(at: 5, frames: 1000), cuts: cuts)[0]
    for (frame, sample) in output.enumerated() {
      let turns = frame >= 5 && (frame - 5) % 32 == 0 ? (frame - 5) / 32 : -1
      var expected: Float = turns >= 0 ? 1 : 0
      for _ in 0..<max(0, turns) { expected *= 0.1 }
      #expect(abs(sample - expected) <= expected * 1e-5, "frame \(frame)")
    }
  }

  @Test("a feedback connection of a node to itself works, and a second one on the same bus is refused (U-41)")
  func selfLoop() async throws {
    let harness = try await EngineHarness()
    try await harness.perform([
      harness.add("mixer", "m", ["outputVolume": 0.5]), harness.connect("input", "m:0"),
      harness.connect("m", "m:1", isFeedback: true), harness.connect("m", "output"),
    ])
    _ = harness.render(frames: 1024)
    let output = harness.render(both: Signals.impulse(frames: 100))[0]
    #expect([0, 32, 64, 96].map { output[$0] } == [0.5, 0.25, 0.125, 0.0625])
    let error = await #expect(throws: TransactionError.self) {
      try await harness.perform([harness.connect("m", "m:1", isFeedback: true)])
    }
    #expect(error?.error.code == .alreadyConnected)
  }

  @Test("a loop fades in and out without a step")
  func fades() async throws {
    let harness = try await EngineHarness()
    try await harness.perform([
      harness.add("mixer", "m"), harness.add("gain", "g", ["gain": -6]), harness.connect("input", "m:0"),
      harness.connect("m", "g"), harness.connect("m", "output"),
    ])
    _ = harness.render(frames: 1024)
    await harness.settle()
    let signal = Signals.sine(100, frames: 19_200, amplitude: 0.25)
    var output: [Float] = []
    for part in 0..<8 {
      try await harness.perform([
        part % 2 == 0 ? harness.connect("g", "m:1", isFeedback: true) : harness.disconnect("g", "m:1")
      ])
      output += harness.render(both: Array(signal[part * 2400..<(part + 1) * 2400]))[0]
      await harness.settle()
    }
    // The loop adds to the 0.25 that come in.
    #expect(Signals.peak(output) > 0.4)
    #expect(Signals.largestStep(output) < 0.02)
  }
}
