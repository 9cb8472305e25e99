import BacklineDSP
import BacklineEngine
import BacklineTestSupport
import Testing

@Suite("What an edit does not touch")
struct UntouchedTests {
  #if DEBUG
    static let rounds = 80
  #else
    static let rounds = 200
  #endif

  private func played(withEdits: Bool) async throws -> [Float] {
    let harness = try await EngineHarness(sampleRate: 16_000)
    try await harness.perform([
      harness.add("mixer", "main"), harness.add("player", "p"), harness.add("oscillator", "o", ["frequency": 220]),
      harness.add("reverb", "r", ["decayTime": 1]), harness.add("delay", "d", ["feedback": 70, "delayTime": 0.1]),
      harness.connect("p", "d"), harness.connect("d", "main"), harness.connect("o", "r"), harness.connect("r", "main"),
      harness.connect("main", "output"), harness.add("gain", "silent"),
    ])
    let control = try #require(try await harness.engine.node("p").control as? PlayerControl)
    control.attach(MemoryPlayerSource(frames: 8000) { Float($0 % 73) / 146 - 0.25 })
    try control.play()
    control.fillSynchronously()
    _ = harness.render(frames: 1024)
    await harness.settle()
    var output: [Float] = []
    for round in 0..<Self.rounds {
      if withEdits {
        try await harness.perform([
          harness.add("gain", "x\(round)"), harness.connect("silent", "x\(round)"),
        ])
        if round % 2 == 1 { try await harness.perform([harness.disconnect("silent", "x\(round)")]) }
        if round > 2 { try await harness.perform([.remove("x\(round - 2)")]) }
        if round % 9 == 8 { try await harness.engine.undo() }
      }
      control.fillSynchronously()
      output += harness.render(frames: 96, cuts: [64])[0]
      if round % 7 == 0 { await harness.settle() }
    }
    return output
  }

  @Test("edits elsewhere change no bit of a player, an oscillator, a delay and a reverb (U-46, R4)")
  func edits() async throws {
    let without = try await played(withEdits: false), with = try await played(withEdits: true)
    #expect(with == without)
    #expect(Signals.rms(without) > 0.01)
  }
}
