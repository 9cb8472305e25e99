import BacklineDSP
import BacklineEngine
import BacklineTestSupport
import Testing

@Suite("What nodes take of the time there is")
struct NodeLoadTests {
  @Test("a slow node is found among quick ones, with its mean and its largest part, on one thread and on several")
  func slowNode() async throws {
    for threads in [RenderThreads.one, .always(3)] {
      let harness = try await EngineHarness(catalog: TestUnits.catalog, threads: threads)
      var commands = [harness.add("mixer", "sum"), harness.connect("sum", "output")]
      for name in ["a", "b"] { commands += [harness.add("gain", name)] + harness.chain("input", name, "sum") }
      commands += [.add(kind: "slow", name: "culprit", values: [(0, 2_000)])] + harness.chain("input", "culprit", "sum")
      try await harness.perform(commands)
      #expect(try await harness.engine.load(of: "culprit").largest == 0)
      _ = harness.render(both: Signals.noise(frames: 64 * 200))
      let loads = await harness.engine.nodeLoads
      let culprit = try #require(loads.max { $0.mean < $1.mean })
      #expect(culprit.name == "culprit")
      // 2 ms of every 1 333 microseconds, and never less.
      #expect(culprit.mean > 1.4)
      #expect(culprit.largest >= culprit.mean)
      #expect(loads.filter { $0.name != "culprit" }.allSatisfy { $0.largest > 0 })
    }
  }
}
