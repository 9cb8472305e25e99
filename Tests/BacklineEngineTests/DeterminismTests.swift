import BacklineDSP
import BacklineEngine
import BacklineTestSupport
import Testing

@Suite("The same bits whatever the period (R1, R2)")
struct DeterminismTests {
  #if DEBUG
    static let seeds: [UInt64] = [1, 2, 3, 4]
    private let segments = 5
  #else
    static let seeds = Array(UInt64(1)...40)
    private let segments = 24
  #endif
  private let segment = 4096
  private let kinds = [
    "gain", "pan", "mixer", "equalizer", "compressor", "delay", "reverb", "oscillator", "noise", "meter", "player",
    "lookAhead", "faulty", "mono", "echo",
  ]

  private func rendered(seed: UInt64, cuts: [Int]) async throws -> [[Float]] {
    let harness = try await EngineHarness(catalog: TestUnits.catalog, sampleRate: 8000)
    let engine = harness.engine
    var random = RandomGraph(seed: seed, catalog: TestUnits.catalog, kinds: kinds)
    for command in random.initial(count: random.number(5..<31)) { try? await engine.perform(command) }
    await engine.flush()
    _ = harness.render(frames: 2 * segment - harness.frame)
    await harness.settle()
    var output: [[Float]] = [[], []]
    for round in 0..<segments {
      let start = Int64(harness.frame)
      let edit = random.edit(await engine.graph, isGrowth: round % 2 == 0)
      try? await harness.perform(edit, at: start + Int64(random.number(0..<3500)))
      for _ in 0..<random.number(0..<8) {
        // Values of nodes that the edit has just made come at frames before and after it.
        guard let value = random.value(await engine.graph) else { continue }
        try? await harness.perform([value], at: start + Int64(random.number(0..<segment)))
      }
      var noise = Signals.noise(frames: segment, amplitude: 0.5, seed: UInt64(round))
      if round % 3 == 1 { for i in noise.indices.dropFirst(700) { noise[i] = 0 } }
      let part = harness.render([noise, noise.reversed()], cuts: cuts)
      for channel in 0..<2 { output[channel] += part[channel] }
      await harness.settle()
    }
    return output
  }

  @Test("a random graph under random edits gives the same bits at every period", arguments: seeds)
  func randomGraphs(seed: UInt64) async throws {
    let whole = try await rendered(seed: seed, cuts: [64])
    #expect(whole.allSatisfy(Signals.isFinite))
    var lengths = SeededGenerator(seed)
    let odd = (0..<50).map { _ in Int.random(in: 0...600, using: &lengths) } + [1]
    #if DEBUG
      let all = [[1], [333], [4096], odd]
    #else
      let all = [[1], [7], [333], [4096], odd]
    #endif
    for cuts in all {
      let cut = try await rendered(seed: seed, cuts: cuts)
      for channel in 0..<2 {
        let first = whole[channel].indices.first { whole[channel][$0].bitPattern != cut[channel][$0].bitPattern }
        #expect(first == nil, "seed \(seed), cuts \(cuts.prefix(3)), channel \(channel)")
      }
    }
  }

  @Test("no frames, one frame and more than were ever announced are all right (R2)")
  func anyLength() async throws {
    var outputs: [[Float]] = []
    let signal = Signals.noise(frames: 40_000, amplitude: 0.5)
    for cuts in [[64], [8192], [20_000], [0, 1, 0, 8193, 0]] {
      let harness = try await EngineHarness()
      try await harness.perform(
        [harness.add("delay", "d", ["delayTime": 0.01])] + harness.chain("input", "d", "output"))
      _ = harness.render(frames: 0)
      #expect(harness.host.cycle([[], []], frames: 0) == [[], []])
      outputs.append(harness.render(both: signal, cuts: cuts)[0])
    }
    #expect(outputs.allSatisfy { $0 == outputs[0] })
  }
}
