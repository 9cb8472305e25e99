import BacklineDSP
import BacklineGraph
import BacklineTestSupport
import Foundation
import Testing

@testable import BacklineEngine

@Suite("Threads that help a host's render thread (R19, U-89)")
struct WorkerThreadTests {
  /// An engine on the timer with six equalizers side by side.
  private func running(_ threads: RenderThreads) async throws -> Engine {
    let engine = try Engine()
    await engine.setThreads(threads)
    var commands: [Command] = [
      .add(kind: "mixer", name: "sum", values: []), .connect(Endpoint("sum"), Endpoint("output")),
    ]
    for branch in 0..<6 {
      commands += [
        .add(kind: "equalizer", name: "e\(branch)", values: []), .connect(Endpoint("input"), Endpoint("e\(branch)")),
        .connect(Endpoint("e\(branch)"), Endpoint("sum")),
      ]
    }
    try await engine.perform(commands)
    await engine.start(try TimerHost(period: 64), name: "workers")
    try await waitUntil { await engine.state == .running }
    return engine
  }

  private func stop(_ engine: Engine) async throws {
    await engine.stop()
    try await waitUntil { await engine.state == .stopped }
  }

  @Test("one thread alone has no others beside it")
  func alone() async throws {
    let engine = try await running(.one)
    #expect(await engine.threadStatus == .init(count: 1, unfit: 0, isSharing: false, stalls: 0, loads: []))
    try await stop(engine)
  }

  @Test("threads come with the host, share the work, and leave with it, again and again")
  func lifeOfThreads() async throws {
    let engine = try await running(.always(3))
    for round in 0..<5 {
      if round > 0 {
        try await engine.startAgain()
        try await waitUntil { await engine.state == .running }
      }
      try await waitUntil {
        let status = await engine.threadStatus
        return status.count + status.unfit == 3
      }
      if await engine.threadStatus.unfit == 0 { try await waitUntil { await engine.tasksByHelpers > 0 } }
      let workers = await engine.workers
      try await stop(engine)
      #expect(await engine.workers == nil)
      try await waitUntil { workers?.isRunning == false }
    }
  }

  @Test("a thread without real-time scheduling does not help one that may have it, and is counted")
  func unfit() async throws {
    let workers = WorkerThreads(2, policy: .always, sampleRate: 48_000, yields: false)
    await Task.detached { workers.serve(needsRealtime: true) }.value
    #expect(workers.unfitCount == 1)
    #expect(!workers.isRunning)
    #expect(workers.crew.pointee.servingCount == 0)
    workers.end()
  }

  @Test("sixteen threads on two processors are two")
  func bounded() {
    #expect(RenderThreads.upTo(16).granted <= ProcessorLimit.parallelThreads)
    #expect(RenderThreads.automatic.granted <= ProcessorLimit.parallelThreads)
    #expect(RenderThreads.upTo(1).granted == 1)
    #expect(ProcessorLimit.parallelThreads >= 1)
  }

  @Test("a control group's quota bounds the threads, and one without a quota does not")
  func quota() throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let cases: [(String, Int?)] = [
      ("max 100000", nil), ("200000 100000", 2), ("150000 100000", 1), ("50000 100000", 1), ("nonsense", nil),
    ]
    for (text, expected) in cases {
      try text.write(toFile: folder + "/cpu.max", atomically: true, encoding: .utf8)
      #expect(ProcessorLimit.quota([folder]) == expected, "\(text)")
    }
    #expect(ProcessorLimit.quota(["/nowhere"]) == nil)
  }

  @Test("a graph too small to be shared is left to one thread")
  func small() async throws {
    let harness = try await EngineHarness(threads: .upTo(2))
    try await harness.perform([harness.add("gain", "a")] + harness.chain("input", "a", "output"))
    _ = harness.render(both: Signals.noise(frames: 64_000))
    await harness.engine.rebalance()
    await harness.engine.flush()
    _ = harness.render(both: Signals.noise(frames: 64_000))
    #expect(await !harness.engine.isPlanShared)
    #expect(await harness.engine.tasksByHelpers == 0)
  }
}
