import BacklineDSP
import BacklineEngine
import BacklineTestSupport
import Testing

@testable import BacklineEngine

@Suite("Transactions at a frame of their own, and at their limits")
struct TransactionTests {
  private func wire() async throws -> EngineHarness {
    let harness = try await EngineHarness()
    try await harness.perform([harness.add("gain", "g")] + harness.chain("input", "g", "output"))
    _ = harness.render(frames: 2048 - harness.frame % 1024)
    await harness.settle()
    return harness
  }

  @Test("edits and values of one transaction act at its exact frame", arguments: [[64], [7], [1], [1024]])
  func timed(cuts: [Int]) async throws {
    let harness = try await wire()
    let events = EventLog<EngineEvent>()
    await harness.engine.observe { events.append($0) }
    let at = harness.frame + 1333
    try await harness.perform(
      [harness.set("g", "gain", "gain", -96, ramp: 0), harness.add("oscillator", "o", ["gain": -6])], at: Int64(at))
    let ones = [Float](repeating: 1, count: 2048)
    let output = harness.render(both: ones, cuts: cuts)[0]
    #expect(output == ones.indices.map { $0 < 1333 ? 1 : 0 })
    await harness.settle()
    #expect(events.all.contains(.taken(frame: Int64(at), late: 0)))
  }

  @Test("a late transaction acts at once and says by how much", arguments: [true, false])
  func late(hasEdit: Bool) async throws {
    let harness = try await wire()
    let events = EventLog<EngineEvent>()
    await harness.engine.observe { events.append($0) }
    let at = Int64(harness.frame - 100)
    try await harness.perform(
      [harness.set("g", "gain", "gain", -96, ramp: 0)] + (hasEdit ? [harness.add("gain", "h")] : []), at: at)
    let output = harness.render(both: [Float](repeating: 1, count: 256))[0]
    #expect(Signals.peak(output[32...]) == 0)
    await harness.settle()
    #expect(
      events.all.contains { if case .taken(let frame, let late) = $0 { frame == at && late >= 100 } else { false } })
    #expect(await harness.engine.counts.lateEvents == 1)
  }

  @Test("a value with a frame of its own keeps it when edits that are not published yet stand before it")
  func timedBehindEdits() async throws {
    let harness = try await wire()
    let at = Int64(harness.frame + 1000)
    try await harness.engine.perform([harness.add("gain", "other")])
    let node = try await harness.engine.node("g")
    #expect(
      await harness.engine.set(
        slot: node.slot, generation: node.generation, parameter: 0, to: -96, ramp: 0, at: at))
    await harness.engine.flush()
    let ones = [Float](repeating: 1, count: 2048)
    #expect(harness.render(both: ones)[0] == ones.indices.map { $0 < 1000 ? 1 : 0 })
  }

  @Test("a connection turned around in one transaction fades over without a ring and without a step")
  func deferred() async throws {
    let harness = try await EngineHarness()
    try await harness.perform([
      harness.add("gain", "a", ["gain": -6]), harness.add("gain", "b"), harness.connect("input", "a"),
      harness.connect("a", "b"), harness.connect("b", "output"),
    ])
    _ = harness.render(frames: 1024)
    await harness.settle()
    let signal = Signals.sine(100, frames: 960, amplitude: 0.5)
    var output = harness.render(both: signal)[0]
    try await harness.perform([
      harness.disconnect("input", "a"), harness.disconnect("a", "b"), harness.disconnect("b", "output"),
      harness.connect("input", "b"), harness.connect("b", "a"), harness.connect("a", "output"),
    ])
    #expect(await harness.engine.connections.count == 3)
    for _ in 0..<10 {
      output += harness.render(both: signal)[0]
      await harness.settle()
    }
    #expect(Signals.largestStep(output) < 0.02)
    let quiet = signal.map { $0 * backlineGain(-6) }
    #expect(zip(output.suffix(960), quiet).allSatisfy { abs($0 - $1) < 1e-6 })
    #expect(await harness.engine.store.deferredEdges.isEmpty)
  }

  private func backlineGain(_ decibels: Float) -> Float { 0.501_187_2 * (decibels / -6) }

  @Test("connections taken back before they began leave nothing behind")
  func deferredTakenBack() async throws {
    let harness = try await wire()
    try await harness.perform([harness.add("gain", "h"), harness.connect("g", "h")])
    _ = harness.render(frames: 1024)
    try await harness.perform([
      harness.disconnect("g", "h"), harness.disconnect("input", "g"), harness.connect("h", "g"),
    ])
    try await harness.engine.undo()
    await harness.engine.flush()
    await harness.settleAll()
    #expect(await harness.engine.store.topology.edgeCount == 3)
    #expect(await harness.engine.connections.count == 3)
    let signal = Signals.noise(frames: 960)
    #expect(harness.render(both: signal)[0] == signal)
  }

  @Test("buses that cannot be are refused", arguments: [-1, 1, Int.max, Int.min])
  func buses(bus: Int) async throws {
    let engine = try Engine()
    try await engine.perform(.add(kind: "gain", name: "g", values: []))
    for (from, to) in [(Endpoint("input", bus: bus), Endpoint("g")), (Endpoint("input"), Endpoint("g", bus: bus))] {
      let error = await #expect(throws: EngineError.self) { try await engine.perform(.connect(from, to)) }
      #expect(error?.code == .outOfRange)
    }
  }

  @Test("node 16385 is refused, and one can be added again when another has gone")
  func nodeLimit() async throws {
    let engine = try Engine()
    try await engine.perform((0..<Engine.nodeLimit).map { .add(kind: "gain", name: "n\($0)", values: []) })
    let error = await #expect(throws: EngineError.self) {
      try await engine.perform(.add(kind: "gain", name: "more", values: []))
    }
    #expect(error?.code == .limitReached)
    #expect(await engine.nodeCount == Engine.nodeLimit)
    try await engine.perform(.remove("n7"))
    try await engine.perform(.add(kind: "gain", name: "more", values: []))
    #expect(await engine.nodeCount == Engine.nodeLimit)
  }

  /// An engine with an oscillator and full mixers, and an empty one.
  private func fullMixers(_ count: Int) async throws -> Engine {
    let engine = try Engine()
    let mixers = (0...count).map { Command.add(kind: "mixer", name: "m\($0)", values: []) }
    try await engine.perform([.add(kind: "oscillator", name: "o", values: [])] + mixers)
    for mixer in 0..<count {
      try await engine.perform((0..<4096).map { .connect(Endpoint("o"), Endpoint("m\(mixer)", bus: $0)) })
    }
    return engine
  }

  @Test("input 4097 of a mixer is refused by name")
  func mixerLimit() async throws {
    let engine = try await fullMixers(1)
    let error = await #expect(throws: EngineError.self) {
      try await engine.perform(.connect(Endpoint("o"), Endpoint("m0")))
    }
    #expect(error?.code == .limitReached)
    #expect(error?.message.contains("m0") == true)
    #expect(await engine.connectionCount == 4096)
  }

  #if !DEBUG
    @Test("connection 65537 is refused")
    func connectionLimit() async throws {
      let engine = try await fullMixers(16)
      let error = await #expect(throws: EngineError.self) {
        try await engine.perform(.connect(Endpoint("o"), Endpoint("m16")))
      }
      #expect(error?.code == .limitReached)
      #expect(await engine.connectionCount == Engine.connectionLimit)
    }
  #endif
}
