import BacklineDSP
import BacklineEngine
import BacklineTestSupport
import Foundation
import Synchronization
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

  @Test("cycle after cycle with four helpers beside other load: none hangs, and the late are counted")
  func manyCycles() async throws {
    let cycles = Self.isLong ? 1_000_000 : 20_000
    let engine = try Engine(catalog: TestUnits.catalog)
    await engine.setThreads(.always(5))
    var commands: [Command] = [.add(kind: "mixer", name: "sum", values: [])]
    var connections = [("sum", "output")]
    for chain in 0..<8 {
      // One of a thousand blocks takes twelve times as long as there is time.
      commands.append(.add(kind: "oscillator", name: "source\(chain)", values: []))
      commands.append(.add(kind: "slow", name: "slow\(chain)", values: chain == 3 ? [(0, 1_000), (1, 1_000)] : []))
      commands += (0..<4).map { .add(kind: "equalizer", name: "band\(chain)_\($0)", values: []) }
      let path = ["source\(chain)", "slow\(chain)"] + (0..<4).map { "band\(chain)_\($0)" } + ["sum"]
      connections += Array(zip(path, path.dropFirst()))
    }
    commands += connections.map { .connect(Endpoint($0), Endpoint($1)) }
    try await engine.perform(commands)
    let watchdog = Watchdog("cycles with helpers beside other load")
    let isOver = Atomic<Bool>(false)
    for _ in 0..<2 { Thread.detachNewThread { while !isOver.load(ordering: .relaxed) {} } }
    defer {
      watchdog.end()
      isOver.store(true, ordering: .relaxed)
    }
    let host = try TimerHost(sampleRate: 192_000, period: 16)
    await engine.start(host, name: "many")
    var seen: Int64 = -1
    while host.renderedFrames < 16 * Int64(cycles) {
      if host.renderedFrames > seen { watchdog.feed() }
      seen = host.renderedFrames
      try await Task.sleep(nanoseconds: 20_000_000)
    }
    let late = host.lateCounts
    let slow = Int(host.renderedFrames) / 16 / 1_000
    #expect(late.own >= slow - 1, "\(slow) blocks were slow")
    #expect(late.server > 0, "cycles that were left out for them")
    if host.isRealtime { #expect(await engine.tasksByHelpers > 0) }
    if Self.isLong { print("\(host.renderedFrames / 16) cycles, \(late.own) late, \(late.server) gaps") }
    watchdog.rest()
    await engine.stop()
    try await waitUntil { await engine.state == .stopped }
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
