import BacklineDSP
import BacklineEngine
import BacklineTestSupport
import Testing

@testable import BacklineEngine

@Suite("Tails of what has been taken away")
struct SpillOverTests {
  private func sounding(_ nodes: [Command], sampleRate: Int = 8000) async throws -> EngineHarness {
    let harness = try await EngineHarness(sampleRate: sampleRate)
    try await harness.perform(nodes)
    _ = harness.render(frames: 512)
    await harness.settle()
    _ = harness.render(both: Signals.noise(frames: 800, amplitude: 0.5))
    return harness
  }

  private func ring(_ kind: String, _ values: KeyValuePairs<String, Float>) async throws -> EngineHarness {
    let maker = try await EngineHarness(sampleRate: 8000)
    return try await sounding([maker.add(kind, "n", values)] + maker.chain("input", "n", "output"))
  }

  @Test("a removed reverb or delay rings out as if it were there, while its name is used again (R5)")
  func ringsOut() async throws {
    let units: [(String, KeyValuePairs<String, Float>)] = [
      ("reverb", ["decayTime": 0.5, "wetDryMix": 100]),
      ("delay", ["delayTime": 0.1, "feedback": 50, "wetDryMix": 100]),
    ]
    for (kind, values) in units {
      let stays = try await ring(kind, values), goes = try await ring(kind, values)
      try await goes.perform([.remove("n"), goes.add("gain", "n", ["gain": -3])])
      let expected = stays.render(frames: 8000)[0], found = goes.render(frames: 8000)[0]
      #expect(found == expected)
      #expect(Signals.peak(found) > 0.05)
      #expect(try await goes.engine.node("n").description.kind == "gain")
      for _ in 0..<40 {
        _ = goes.render(frames: 4000, cuts: [256])
        await goes.settle()
      }
      #expect(await goes.engine.store.ghosts.isEmpty)
      #expect(await goes.engine.store.topology.edgeCount == 0)
    }
  }

  @Test("a replaced delay rings out beside the new unit (R5)")
  func replaced() async throws {
    let harness = try await ring("delay", ["delayTime": 0.2, "feedback": 0, "wetDryMix": 100])
    try await harness.perform([.replace("n", kind: "gain")])
    let output = harness.render(frames: 3000)[0]
    #expect(Signals.rms(output[900..<1500]) > 0.1)
    #expect(Signals.peak(output[1700...]) == 0)
  }

  @Test(
    "a chain of delays that is replaced by a preset rings out through all that came after (R5)",
    arguments: [true, false])
  func chain(isInOrder: Bool) async throws {
    let maker = try await EngineHarness(sampleRate: 8000)
    let delay = maker.add("delay", "d", ["delayTime": 0.2, "feedback": 0, "wetDryMix": 100])
    let gain = maker.add("gain", "g", ["gain": -6])
    let nodes = isInOrder ? [delay, gain] : [gain, delay]
    let harness = try await sounding(nodes + maker.chain("input", "d", "g", "output"))
    let empty = GraphDescription(ports: .stereo, nodes: [], connections: [])
    try await harness.perform([.load(empty)])
    var output: [Float] = []
    for _ in 0..<15 {
      output += harness.render(frames: 200)[0]
      await harness.settle()
    }
    #expect(Signals.rms(output[900..<1500]) > 0.05)
    #expect(Signals.peak(output[1700...]) == 0)
  }

  @Test(
    "a tail without end is faded after 30 seconds, at the same frame however often is tidied (R5)", arguments: [1, 20])
  func bounded(rounds: Int) async throws {
    let harness = try await ring("delay", ["delayTime": 0.0125, "feedback": 100, "wetDryMix": 100])
    try await harness.perform([.remove("n")], at: Int64(harness.frame))
    await harness.settle()
    let rate = 8000
    for _ in 0..<rounds {
      let before = harness.render(frames: 29 * rate / rounds, cuts: [256])[0]
      #expect(Signals.peak(before.suffix(200)) > 0.01)
      await harness.settle()
    }
    let end = harness.render(frames: 2 * rate, cuts: [256])[0]
    #expect(Signals.peak(end[..<rate].suffix(100)) > 0.01)
    #expect(Signals.peak(end[(rate + 81 + 32)...]) == 0)
    #expect(Signals.largestStep(Array(end[(rate - 100)...])) <= Signals.largestStep(Array(end[..<(rate - 100)])) + 0.02)
    await harness.settle()
    _ = harness.render(frames: 256)
    await harness.settle()
    #expect(await harness.engine.store.ghosts.isEmpty)
  }

  @Test("a source that is removed fades out and is gone")
  func source() async throws {
    let harness = try await EngineHarness()
    try await harness.perform(
      [harness.add("oscillator", "o", ["frequency": 100, "gain": -6])] + harness.chain("o", "output"))
    var output = harness.render(frames: 4800)[0]
    try await harness.perform([.remove("o")])
    output += harness.render(frames: 4800)[0]
    #expect(Signals.largestStep(output) < 0.02)
    #expect(Signals.peak(output[5312...]) == 0)
    await harness.settleAll()
    #expect(await harness.engine.store.ghosts.isEmpty)
  }
}
