import BacklineDSP
import BacklineEngine
import BacklineGraph
import BacklineTestSupport
import Testing

@testable import BacklineEngine

extension EngineHarness {
  /// The nodes in which something may still sound.
  func awake() async -> [String] {
    await engine.store.nodes.compactMap { node in
      node.flatMap { NodeState.isAtRest($0.state) ? nil : $0.name }
    }
  }
}

@Suite("Nodes rest when nothing sounds in them")
struct RestTests {
  @Test("18 reverbs and feedback delays come to exact zero and sleep, so that small numbers cost nothing (U-37)")
  func denormals() async throws {
    let harness = try await EngineHarness(sampleRate: 8000)
    var commands = [harness.add("mixer", "m"), harness.connect("m", "output")]
    for index in 0..<18 {
      let kind = index % 2 == 0 ? "reverb" : "delay"
      commands.append(
        kind == "reverb"
          ? harness.add(kind, "n\(index)", ["decayTime": 0.3])
          : harness.add(kind, "n\(index)", ["delayTime": 0.05, "feedback": 60]))
      commands += [harness.connect("input", "n\(index)"), harness.connect("n\(index)", "m")]
    }
    try await harness.perform(commands)
    _ = harness.render(both: Signals.noise(frames: 800))
    await harness.settle()
    #expect(await harness.awake().count == 19)
    var silent = 0
    for _ in 0..<20 where await harness.awake() != ["m"] {
      silent += 1
      _ = harness.render(frames: 4000, cuts: [256])
    }
    #expect(await harness.awake() == ["m"], "after \(silent) half seconds")
    #expect(harness.render(frames: 512).allSatisfy { $0.allSatisfy { $0.bitPattern == 0 } })
  }

  @Test("1000 silent nodes in a chain all rest, and wake with the first sample, exactly")
  func chainOfThousand() async throws {
    let harness = try await EngineHarness()
    var commands: [Command] = []
    for index in 0..<1000 {
      commands.append(.add(kind: index % 50 == 0 ? "equalizer" : "gain", name: "n\(index)", values: []))
      commands.append(harness.connect(index == 0 ? "input" : "n\(index - 1)", "n\(index)"))
    }
    try await harness.perform(commands + [harness.connect("n999", "output")])
    let signal = Signals.noise(frames: 700, amplitude: 0.5)
    _ = harness.render(both: signal)
    #expect(await harness.awake().count == 1000)
    _ = harness.render(frames: 1500)
    await harness.settle()
    #expect(await harness.awake() == [])
    let burst = [Float](repeating: 0, count: 37) + signal
    #expect(harness.render(both: burst, cuts: [100])[0] == burst)
  }

  @Test("a pause that is slept through sounds as one that was rendered, at every cut")
  func exactWaking() async throws {
    let pauses = [100, 5000, 24_000]
    var results: [[Float]] = []
    for cuts in [[64], [1, 333], [4096]] {
      let harness = try await EngineHarness()
      try await harness.perform(
        [
          harness.add("delay", "d", ["delayTime": 0.01, "feedback": 30]),
          harness.add("equalizer", "e", ["band1Enabled": 1, "band1Gain": 6]), harness.add("compressor", "c"),
        ] + harness.chain("input", "d", "e", "c", "output"))
      _ = harness.render(frames: 1024)
      var signal: [Float] = []
      for (index, pause) in pauses.enumerated() {
        signal += Signals.noise(frames: 777, amplitude: 0.5, seed: UInt64(index)) + [Float](repeating: 0, count: pause)
      }
      signal += Signals.noise(frames: 999)
      results.append(harness.render(both: signal, cuts: cuts)[0])
    }
    #expect(results[0] == results[1])
    #expect(results[0] == results[2])
  }

  @Test("bypass switched while a unit sleeps is heard alike at every cut", arguments: [[64], [7], [4096]])
  func bypassAsleep(cuts: [Int]) async throws {
    var results: [[Float]] = []
    for cuts in [[1], cuts] {
      let harness = try await EngineHarness()
      try await harness.perform([harness.add("gain", "g", ["gain": -20])] + harness.chain("input", "g", "output"))
      _ = harness.render(frames: 4096)
      let start = Int64(harness.frame)
      try await harness.perform([.bypass("g", true)], at: start + 100)
      let signal = [Float](repeating: 0, count: 300) + Signals.noise(frames: 4000)
      results.append(harness.render(both: signal, cuts: cuts)[0])
    }
    #expect(results[0] == results[1])
  }
}
