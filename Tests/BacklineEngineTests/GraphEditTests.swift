import BacklineDSP
import BacklineEngine
import BacklineTestSupport
import Testing

private func throughGain() -> [Command] {
  [
    .add(kind: "gain", name: "g", values: []), .connect(Endpoint("input"), Endpoint("g")),
    .connect(Endpoint("g"), Endpoint("output")),
  ]
}

@Suite("Edits of the graph")
struct GraphEditTests {
  @Test("a new path fades in over the ramp and then passes every bit")
  func fadeIn() async throws {
    let harness = try await EngineHarness()
    try await harness.perform(throughGain())
    let signal = Signals.noise(frames: 4800)
    let output = harness.render([signal, signal])
    #expect(output[0][0] == 0)
    #expect(abs(output[0][240]) <= abs(signal[240]) * 0.51)
    #expect(Array(output[0][480...]) == Array(signal[480...]))
  }

  @Test("an edit elsewhere changes no bit of the output (U-46)")
  func untouched() async throws {
    var results: [[Float]] = []
    for edits in [false, true] {
      let harness = try await EngineHarness(catalog: TestUnits.catalog)
      try await harness.perform([
        .add(kind: "echo", name: "e", values: []), .connect(Endpoint("input"), Endpoint("e")),
        .connect(Endpoint("e"), Endpoint("output")), .add(kind: "gain", name: "silent", values: []),
      ])
      _ = harness.render(frames: 4800)
      await harness.settle()
      var output: [Float] = []
      let signal = Signals.sine(220, frames: 48_000)
      for round in 0..<200 {
        if edits {
          try await harness.perform([
            .add(kind: "gain", name: "x\(round)", values: []), .connect(Endpoint("silent"), Endpoint("x\(round)")),
          ])
          if round % 2 == 1 {
            try await harness.perform([.disconnect(Endpoint("silent"), Endpoint("x\(round)"))])
          }
          if round > 2 { try await harness.perform([.remove("x\(round - 2)")]) }
        }
        let part = Array(signal[round * 240..<(round + 1) * 240])
        output += harness.render([part, part], cuts: [64])[0]
        if round % 7 == 0 { await harness.settle() }
      }
      output += harness.render(frames: 96_000)[0]
      results.append(output)
    }
    #expect(results[0] == results[1])
    #expect(Signals.peak(results[0]) > 0.5)
  }

  @Test("rings without delay are refused by name and leave the graph as it was (U-41)")
  func rings() async throws {
    let engine = try Engine()
    for name in ["a", "b", "c"] { try await engine.perform(.add(kind: "gain", name: name, values: [])) }
    try await engine.perform(.connect(Endpoint("a"), Endpoint("b")))
    try await engine.perform(.connect(Endpoint("b"), Endpoint("c")))
    let before = await engine.graph
    for (from, to) in [("a", "a"), ("b", "a"), ("c", "a")] {
      let error = await #expect(throws: EngineError.self) {
        try await engine.perform(.connect(Endpoint(from), Endpoint(to)))
      }
      #expect(error?.code == .wouldCycle)
      #expect(error?.message.contains("\(to) ->") == true)
    }
    let duplicate = await #expect(throws: EngineError.self) {
      try await engine.perform(.connect(Endpoint("a"), Endpoint("b")))
    }
    #expect(duplicate?.code == .alreadyConnected)
    #expect(await engine.graph == before)
  }

  @Test("a refused transaction leaves everything as it was, to the bit")
  func refusedTransaction() async throws {
    var results: [[Float]] = []
    for refuses in [false, true] {
      let harness = try await EngineHarness()
      try await harness.perform(throughGain())
      let signal = Signals.noise(frames: 9600)
      var output = harness.render([signal, signal])[0]
      if refuses {
        let before = await harness.engine.graph
        let error = await #expect(throws: TransactionError.self) {
          try await harness.perform([
            .set(node: "g", parameter: 0, value: -20), .rename("g", to: "h"), .bypass("h", true), .mute(true),
            .remove("h"), .add(kind: "gain", name: "k", values: []), .connect(Endpoint("nobody"), Endpoint("k")),
          ])
        }
        #expect(
          error
            == TransactionError(
              index: 6, error: EngineError(.unknownNode, "there is no node 'nobody': /graph/list names all")))
        #expect(await harness.engine.graph == before)
      }
      output += harness.render([signal, signal])[0]
      results.append(output)
    }
    #expect(results[0] == results[1])
  }

  @Test("undo of everything returns the first graph, and redo the last")
  func undo() async throws {
    let engine = try Engine()
    for command in throughGain() { try await engine.perform(command) }
    let first = await engine.graph
    try await engine.perform([
      .insert(kind: "gain", name: "i", from: Endpoint("input"), to: Endpoint("g")),
      .set(node: "i", parameter: 0, value: -3),
    ])
    try await engine.perform(.move("i", from: Endpoint("g"), to: Endpoint("output")))
    try await engine.perform(.rename("i", to: "j"))
    try await engine.perform(.replace("g", kind: "gain"))
    try await engine.perform(.remove("j"))
    let last = await engine.graph
    for _ in 0..<5 { try await engine.undo() }
    #expect(await engine.graph.connections == first.connections)
    #expect(await engine.graph.nodes == first.nodes)
    for _ in 0..<5 { try await engine.redo() }
    #expect(await engine.graph.connections == last.connections)
    for _ in 0..<8 { try await engine.undo() }
    #expect(await engine.nodeCount == 0)
    let error = await #expect(throws: EngineError.self) { try await engine.undo() }
    #expect(error?.code == .notFound)
  }

  @Test("a removed echo rings out, and is gone when its tail has ended (R5)")
  func spillOver() async throws {
    let harness = try await EngineHarness(catalog: TestUnits.catalog)
    try await harness.perform([
      .add(kind: "echo", name: "e", values: []), .connect(Endpoint("input"), Endpoint("e")),
      .connect(Endpoint("e"), Endpoint("output")),
    ])
    _ = harness.render(frames: 960)
    let impulse = Signals.impulse(at: 10, frames: 64)
    _ = harness.render([impulse, impulse])
    try await harness.perform([.remove("e"), .add(kind: "gain", name: "e", values: [])])
    let tail = harness.render(frames: 100_000)[0]
    #expect(tail[47_946] == 1)
    #expect(tail[95_946] == 0.5)
    #expect(Signals.peak(tail) == 1)
  }

  @Test("moving a node to another place in its chain makes no step above the sine's own", arguments: [16, 64, 1000])
  func move(period: Int) async throws {
    let harness = try await EngineHarness()
    try await harness.perform([
      .add(kind: "gain", name: "a", values: [(0, -6)]), .add(kind: "gain", name: "n", values: [(0, 6)]),
      .add(kind: "gain", name: "b", values: []), .connect(Endpoint("input"), Endpoint("a")),
      .connect(Endpoint("a"), Endpoint("n")), .connect(Endpoint("n"), Endpoint("b")),
      .connect(Endpoint("b"), Endpoint("output")),
    ])
    let signal = Signals.sine(100, frames: 48_000, amplitude: 0.5)
    var output = harness.render([Array(signal[..<9600]), Array(signal[..<9600])], cuts: [period])[0]
    await harness.settle()
    try await harness.perform([.move("n", from: Endpoint("b"), to: Endpoint("output"))])
    output += harness.render([Array(signal[9600..<14_400]), Array(signal[9600..<14_400])], cuts: [period])[0]
    await harness.settle()
    try await harness.perform([.move("n", from: Endpoint("input"), to: Endpoint("a"))])
    for part in 0..<7 {
      let range = 14_400 + part * 4800..<19_200 + part * 4800
      output += harness.render([Array(signal[range]), Array(signal[range])], cuts: [period])[0]
      await harness.settle()
    }
    // The sine's own step, doubled by the loudest gain on the way, and a ramp's slope.
    #expect(Signals.largestStep(Array(output[480...])) < 0.0066 * 2 + 1.0 / 480)
    let last = Array(output.suffix(9600)), dry = Array(signal.suffix(9600))
    #expect(zip(last, dry).allSatisfy { abs($0 - $1) < 1e-4 })
  }
}
