import BacklineDSP
import BacklineEngine
import BacklineTestSupport
import Foundation
import Testing

@Suite("Several threads render the same bits as one (R1, U-87)")
struct ParallelTests {
  static let isLong = ProcessInfo.processInfo.environment["BACKLINE_LONG_TESTS"] == "1"
  static let kinds = [
    "gain", "pan", "mixer", "equalizer", "compressor", "delay", "oscillator", "noise", "meter", "lookAhead", "faulty",
    "mono", "echo", "filter", "send", "return", "chorus",
  ]

  /// The sound of a random graph of which something is edited every 50 blocks, and how many slices were shared.
  static func rendered(
    seed: UInt64, blocks: Int, threads: RenderThreads, _ watchdog: Watchdog
  ) async throws -> (sound: [[Float]], tasks: Int) {
    let harness = try await EngineHarness(
      catalog: TestUnits.catalog, sampleRate: 8000, threads: threads, isOffline: true)
    let engine = harness.engine
    var random = RandomGraph(seed: seed, catalog: TestUnits.catalog, kinds: kinds)
    // From a single node to some dozens, with what comes by chance: diamonds, chains, nodes that nothing reaches.
    let size = [1, 2, 4, 8, 16, 32, 64][random.number(0..<7)]
    perform(random.initial(count: size).map { [$0] }, engine)
    var output: [[Float]] = [[], []]
    var block = 0
    while block < blocks {
      let part = Signals.noise(frames: 50 * 64, amplitude: 0.5, seed: UInt64(block))
      watchdog.feed()
      let sound = harness.render([part, part.reversed()], cuts: [64])
      // Other tests may have the threads that this one goes on with.
      watchdog.rest()
      for channel in 0..<2 { output[channel] += sound[channel] }
      block += 50
      perform([random.anyEdit(await engine.graph)], engine)
      if let value = random.value(await engine.graph) { perform([[value]], engine) }
      await harness.settle()
    }
    let tasks = await engine.tasksByHelpers
    await engine.stop()
    try await waitUntil { await engine.state == .stopped }
    return (output, tasks)
  }

  /// Performs and publishes in one go.
  private static func perform(_ transactions: [[Command]], _ engine: Engine) {
    engine.wait { engine in
      for commands in transactions { try? engine.perform(commands) }
      engine.flush()
    }
  }

  @Test("random graphs, edited every 50 blocks, give the same bits with 2 to 16 threads, and never stall")
  func randomGraphs() async throws {
    let graphs = Self.isLong ? 10_000 : 20
    let blocks = Self.isLong ? 1_000 : 150
    let watchdog = Watchdog("random graphs on several threads")
    defer { watchdog.end() }
    var helped = 0
    for seed in 1...UInt64(graphs) {
      let one = try await Self.rendered(seed: seed, blocks: blocks, threads: .one, watchdog)
      let threads = RenderThreads.always(2 + Int(seed % 15))
      let many = try await Self.rendered(seed: seed, blocks: blocks, threads: threads, watchdog)
      for channel in 0..<2 {
        let first = one.sound[channel].indices.first {
          one.sound[channel][$0].bitPattern != many.sound[channel][$0].bitPattern
        }
        #expect(first == nil, "seed \(seed), \(threads.count ?? 0) threads, channel \(channel)")
      }
      helped += many.tasks
    }
    #expect(helped > 0, "no task was ever taken by another thread")
  }

  @Test("what nothing reaches, a single node, and ports without a node are rendered on several threads, too")
  func smallest() async throws {
    let harness = try await EngineHarness(threads: .always(4))
    let signal = Signals.noise(frames: 1000, amplitude: 0.5)
    #expect(harness.render(both: signal)[0].allSatisfy { $0 == 0 })
    try await harness.perform([harness.add("gain", "lonely")])
    #expect(harness.render(both: signal)[0].allSatisfy { $0 == 0 })
    try await harness.perform([harness.add("gain", "a")] + harness.chain("input", "a", "output"))
    _ = harness.render(both: signal)
    await harness.settle()
    #expect(harness.render(both: signal)[0] == signal)
  }

  @Test("a node that gives no numbers is silenced and named by whichever thread renders it (R9)")
  func nonFinite() async throws {
    let harness = try await EngineHarness(
      catalog: TestUnits.catalog, threads: .always(3))
    let log = EventLog<EngineEvent>()
    await harness.engine.observe { log.append($0) }
    var commands = [harness.add("mixer", "sum"), harness.connect("sum", "output")]
    for name in ["a", "b", "c", "d"] {
      commands += [harness.add("faulty", name)] + harness.chain("input", name, "sum")
    }
    try await harness.perform(commands)
    _ = harness.render(both: Signals.noise(frames: 4096, amplitude: 0.1))
    try await harness.perform([.set(node: "c", parameter: 0, value: 1, ramp: 0)])
    let output = harness.render(both: Signals.noise(frames: 4096, amplitude: 0.1))
    #expect(output.allSatisfy(Signals.isFinite))
    #expect(Signals.peak(output[0]) > 0.01)
    await harness.engine.flush()
    #expect(await harness.engine.nonFiniteCounts.map(\.node) == ["c"])
    #expect(log.all.contains { $0 == .nonFinite(node: "c") })
  }
}
