import BacklineDSP
import BacklineEngine
import BacklineTestSupport
import Foundation
import Synchronization
import Testing

@Suite("Recovery from whatever a host may say")
struct RecoverySequenceTests {
  /// Sequences for each seed: what a check before every commit can bear, or what the contract asks for.
  static let rounds = ProcessInfo.processInfo.environment["BACKLINE_LONG_TESTS"] == "1" ? 2_500 : 12

  private static let graph = GraphDescription(
    ports: .stereo,
    nodes: [
      NodeSpecification(name: "a", kind: "gain", values: [-6.020_6]),
      NodeSpecification(
        name: "d", kind: "delay", values: UnitCatalog.standard["delay"]!.parameters.map(\.defaultValue)),
    ],
    connections: [
      ConnectionSpecification(from: Endpoint("input", bus: 0), to: Endpoint("a", bus: 0)),
      ConnectionSpecification(from: Endpoint("a", bus: 0), to: Endpoint("output", bus: 0)),
      ConnectionSpecification(from: Endpoint("input", bus: 0), to: Endpoint("d", bus: 0)),
    ])

  @Test(
    "after any sequence of periods, rates, losses, refusals and late starts, the same graph sounds again (R15)",
    arguments: [1, 2, 3, 4] as [UInt64])
  func sequences(seed: UInt64) async throws {
    var random = SeededGenerator(seed)
    let engine = try Engine(rampTime: 0.001)
    let host = OfflineHost.manual()
    try await engine.perform([.load(Self.graph)])
    let graph = await engine.graph
    let notices = EventLog<EngineEvent>()
    await engine.observe { notices.append($0) }
    await engine.start(host, name: "test")
    let renderer = Renderer(host)
    defer { renderer.end() }
    var last: Int64 = 0
    for round in 0..<Self.rounds {
      for _ in 0..<Int.random(in: 1...8, using: &random) { await upset(host, engine, &random) }
      host.refusal = nil
      host.holdsStart = false
      host.isPaused = false
      host.send(.started)
      let isBack = await Eventually.holds(within: 30) {
        // A start that is held back when the host opens again has to be said.
        if host.isStarted { host.send(.started) }
        return await engine.state == .running
      }
      let log = await engine.transitions.suffix(6).map(\.state)
      try #require(isBack, "round \(round) of seed \(seed): \(log), host started: \(host.isStarted)")
      let frame = await engine.currentFrame
      #expect(frame >= last, "frames never go back")
      last = frame
      #expect(await engine.graph == graph)
      #expect(await Eventually.holds { renderer.lastSample == 0.5 || abs(renderer.lastSample - 0.5) < 1e-4 })
      #expect(await Eventually.holds { await engine.sampleRate == Double(host.sampleRate) })
    }
    // Each change of state is told once, in order, and is in the log.
    let told = notices.all.compactMap { if case .stateChanged(let state) = $0 { state } else { nil } }
    #expect(zip(told, told.dropFirst()).allSatisfy { $0 != $1 })
    let logged = await engine.transitions
    #expect(logged.map(\.state) == Array(told.suffix(Engine.transitionLimit)))
    #expect(zip(logged, logged.dropFirst()).allSatisfy { $0.time <= $1.time && $0.epoch <= $1.epoch })
    await withCheckedContinuation { done in Task { await engine.stop { _ in done.resume() } } }
    #expect(await engine.state == .stopped)
  }

  /// One thing that may happen to a client of a sound server.
  private func upset(_ host: OfflineHost, _ engine: Engine, _ random: inout SeededGenerator) async {
    switch Int.random(in: 0..<12, using: &random) {
    case 0, 1:
      host.period = [16, 64, 333, 1024, 8192].randomElement(using: &random) ?? 64
      host.send(.periodChanged(host.period))
    case 2:
      host.sampleRate = [44_100, 48_000, 96_000].randomElement(using: &random) ?? 48_000
      host.send(.sampleRateChanged(host.sampleRate))
    case 3: host.send(.lost(reason: "the server has ended"))
    case 4: host.send(.xrun)
    case 5: host.send(.freewheel(Bool.random(using: &random)))
    case 6: host.send(.portsChanged)
    case 7: host.refusal = .noServer("no server runs")
    case 8: host.refusal = nil
    case 9: host.holdsStart = Bool.random(using: &random)
    case 10: host.isPaused = Bool.random(using: &random)
    default:
      host.send(.started)
      try? await engine.perform(.set(node: "a", parameter: 0, value: -6.020_6))
    }
    if Bool.random(using: &random) { await Task.yield() }
  }
}

/// A thread that renders cycles of many lengths, of a constant 1, for as long as it lives: what a server's thread does.
private final class Renderer: @unchecked Sendable {
  private let isEnding = Mutex(false)
  private let last = Mutex<Float>(0)
  private let done = DispatchSemaphore(value: 0)

  init(_ host: OfflineHost) {
    Thread.detachNewThread { [self] in
      var turn = 0
      while !isEnding.withLock({ $0 }) {
        let count = [64, 1, 0, 256, 33, 1024][turn % 6]
        turn += 1
        let ones = [Float](repeating: 1, count: count)
        let out = host.cycle([ones, ones], frames: count)
        if let sample = out.first?.last { last.withLock { $0 = sample } }
        usleep(out.isEmpty ? 500 : 100)
      }
      done.signal()
    }
  }

  var lastSample: Float { last.withLock { $0 } }

  func end() {
    isEnding.withLock { $0 = true }
    done.wait()
  }
}
