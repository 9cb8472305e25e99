import BacklineDSP
import BacklineEngine
import BacklineTestSupport
import Testing

@testable import BacklineEngine

@Suite("Random edits")
struct RandomEditTests {
  #if DEBUG
    static let edits = 150
    static let manyEdits = 600
  #else
    static let edits = 1000
    static let manyEdits = 2000
  #endif

  @Test("random edits while a sine plays make no step above the bound (R4)")
  func sine() async throws {
    let harness = try await EngineHarness()
    let engine = harness.engine
    // Linear units of gain one: whatever stands in the path, what is heard is a number of copies of the sine.
    let kinds = ["gain", "pan", "equalizer", "meter", "mixer"]
    var random = RandomGraph(seed: 4, catalog: .standard, kinds: ["gain"])
    try await harness.perform([
      harness.add("mixer", "main", ["outputVolume": 0.1]), harness.connect("input", "main"),
      harness.connect("main", "output"),
    ])
    _ = harness.render(frames: 1024)
    let signal = Signals.sine(100, frames: 480, amplitude: 0.1)
    var output: [Float] = []
    var made = 0
    for round in 0..<Self.edits {
      let graph = await engine.graph
      let names = graph.nodes.map(\.name)
      var commands: [Command] = []
      switch random.number(0..<6) {
      case 0 where names.count < 12:
        made += 1
        commands = [
          .add(kind: kinds[random.number(0..<kinds.count)], name: "n\(made)", values: []),
          .connect(Endpoint("input"), Endpoint("n\(made)")), .connect(Endpoint("n\(made)"), Endpoint("main")),
        ]
      case 1:
        if let name = names.filter({ $0 != "main" }).randomElement(with: &random) { commands = [.remove(name)] }
      case 2:
        if let place = graph.connections.randomElement(with: &random) {
          made += 1
          commands = [.insert(kind: "gain", name: "n\(made)", from: place.from, to: place.to)]
        }
      case 3:
        if let name = names.filter({ $0 != "main" }).randomElement(with: &random),
          let place = graph.connections.randomElement(with: &random)
        {
          commands = [.move(name, from: place.from, to: place.to)]
        }
      case 4:
        if let name = names.filter({ $0 != "main" }).randomElement(with: &random) {
          commands = [.replace(name, kind: kinds[random.number(0..<kinds.count)])]
        }
      default:
        commands = [random.connection(names)].filter {
          if case .connect(_, _, false, _, _) = $0 { true } else { false }
        }
      }
      try? await harness.perform(commands)
      output += harness.render(both: signal, cuts: [64])[0]
      if round % 4 == 0 { await harness.settle() }
    }
    // Each path that comes or goes has a slope of its level over 480 frames, and there may be many at once.
    let loudest = Signals.peak(output)
    #expect(Signals.largestStep(output) < loudest * (0.0131 + 2.0 / 480) + 0.001, "peak \(loudest)")
    #expect(loudest > 0.01)
  }

  @Test("undo of every edit returns the first graph, and redo the last (R4)")
  func undoAll() async throws {
    let engine = try Engine(catalog: TestUnits.catalog)
    var random = RandomGraph(seed: 11, catalog: TestUnits.catalog, kinds: TestUnits.catalog.descriptions.map(\.kind))
    for command in random.initial(count: 12) { try? await engine.perform(command) }
    let first = await engine.graph
    var done = 0
    for _ in 0..<Self.edits {
      let edit = random.anyEdit(await engine.graph)
      if edit.isEmpty { continue }
      do {
        try await engine.perform(edit)
        done += 1
      } catch {
        continue
      }
    }
    #expect(done > Self.edits / 4)
    let last = await engine.graph
    for _ in 0..<done { try await engine.undo() }
    #expect(same(await engine.graph, first))
    for _ in 0..<done { try await engine.redo() }
    #expect(same(await engine.graph, last))
  }

  /// Equal but for the order of nodes.
  private func same(_ a: GraphDescription, _ b: GraphDescription) -> Bool {
    func nodes(_ graph: GraphDescription) -> [NodeSpecification] {
      graph.nodes.map { node in
        // A mixer that has had more inputs keeps values of them, all at their defaults.
        var node = node
        let description = TestUnits.catalog[node.kind]
        while let value = node.values.last, node.values.count > description?.parameters.count ?? 0,
          value == description?.parameter(at: node.values.count - 1)?.defaultValue
        { node.values.removeLast() }
        return node
      }.sorted { $0.name < $1.name }
    }
    return nodes(a) == nodes(b) && Set(a.connections) == Set(b.connections) && a.ports == b.ports
  }

  @Test("thousands of random edits leave nothing behind but the graph")
  func memory() async throws {
    let harness = try await EngineHarness(catalog: TestUnits.catalog, sampleRate: 8000)
    let engine = harness.engine
    var random = RandomGraph(
      seed: 5, catalog: TestUnits.catalog, kinds: ["gain", "mixer", "delay", "lookAhead", "mono", "oscillator", "echo"])
    for command in random.initial(count: 10) { try? await engine.perform(command) }
    let signal = Signals.noise(frames: 64)
    for round in 0..<Self.manyEdits {
      let graph = await engine.graph
      // About as many go as come.
      let edit = graph.nodes.count > 14 ? random.edit(graph, isGrowth: false) : random.anyEdit(graph)
      try? await engine.perform(edit)
      if round % 4 == 0 {
        await engine.flush()
        let output = harness.render(both: signal)
        #expect(output.allSatisfy(Signals.isFinite))
        await harness.settle()
      }
    }
    // The longest tail is over, and all that rings out has been faded, after 30 seconds.
    for _ in 0..<34 {
      _ = harness.render(frames: 8000, cuts: [256])
      await harness.settle()
    }
    await harness.settleAll()
    let store = await engine.store
    let graph = await engine.graph
    #expect(store.ghosts.isEmpty)
    #expect(store.unsettled.isEmpty)
    #expect(store.deferredEdges.isEmpty)
    #expect(store.topology.edgeCount == graph.connections.count)
    #expect(store.topology.nodes.filter(\.isUsed).count == graph.nodes.count + 2)
    #expect(store.topology.nodes.count < 200)
    #expect(store.topology.edges.count < 400)
    #expect(store.topology.channelCounts.count < 100)
    #expect(await engine.garbage.isEmpty)
    #expect(await engine.livePlans == 1)
    #expect(await engine.maps.isEmpty)
    let lineOwners = await engine.lineOwners
    #expect(lineOwners.allSatisfy { store.topology.edges[Int($0)].isUsed })
  }
}

extension Array {
  /// An element chosen by a generator of graphs.
  func randomElement(with random: inout RandomGraph) -> Element? {
    isEmpty ? nil : self[random.number(0..<count)]
  }
}

extension Engine {
  /// The connections that have an alignment line.
  fileprivate var lineOwners: [Int32] { Array(lines.keys) }
}
