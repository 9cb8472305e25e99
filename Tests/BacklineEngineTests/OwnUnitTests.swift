import BacklineDSP
import BacklineTestSupport
import CBackline
import Testing

@testable import BacklineEngine

@Suite("What a library of nodes asks of the engine")
struct OwnUnitTests {
  /// A unit that counts the frames that it hears, silent ones too, into memory of the caller's.
  private func listener(_ kind: String, _ memory: UnsafeMutablePointer<Int>) -> UnitDescription {
    CallbackSink.description(
      kind: kind, channelCount: 2,
      function: { context, block in
        context.assumingMemoryBound(to: Int.self).pointee += Int(block.pointee.frameCount)
      }, context: memory, owner: nil
    ) { _ in }
  }

  @Test("a unit that no catalog lists can be registered, added, and forgotten")
  func own() async throws {
    let memory = UnsafeMutablePointer<Int>.allocate(capacity: 1)
    memory.initialize(to: 0)
    defer { memory.deallocate() }
    let harness = try await EngineHarness()
    try await harness.engine.register(listener("own", memory))
    await #expect(throws: EngineError.self) { try await harness.engine.register(listener("own", memory)) }
    await #expect(throws: EngineError.self) { try await harness.engine.register(listener("gain", memory)) }
    try await harness.perform([.add(kind: "own", name: "ear", values: [])] + harness.chain("input", "ear"))
    _ = harness.render(frames: 1_000)
    // What only listens hears silence, too, from the first cycle on.
    #expect((900...1_000).contains(memory.pointee))
    await harness.engine.unregister("own")
    await #expect(throws: TransactionError.self) {
      try await harness.perform([.add(kind: "own", name: "other", values: [])])
    }
    try await harness.perform([.remove("ear")])
    await harness.settleAll()
    let heard = memory.pointee
    _ = harness.render(frames: 1_000)
    #expect(memory.pointee == heard)
  }

  @Test("a connection can say the way of every channel, and keeps it through an undo")
  func parts() async throws {
    let harness = try await EngineHarness(rampTime: 0)
    let parts = [ChannelPart(0, 1, 0.5), ChannelPart(1, 1, 0.25)]
    try await harness.perform([.connect(Endpoint("input"), Endpoint("output"), parts: parts)])
    let ones = [Float](repeating: 1, count: 64)
    #expect(harness.render([ones, ones]) == [[Float](repeating: 0, count: 64), [Float](repeating: 0.75, count: 64)])
    try await harness.perform([harness.disconnect("input", "output")])
    try await harness.engine.undo()
    #expect(await harness.engine.connections.first?.parts == parts)
    for bad in [ChannelPart(2, 0), ChannelPart(0, 2), ChannelPart(-1, 0), ChannelPart(0, 0, .nan)] {
      await #expect(throws: TransactionError.self) {
        try await harness.perform([
          harness.disconnect("input", "output"), .connect(Endpoint("input"), Endpoint("output"), parts: [bad]),
        ])
      }
    }
    #expect(await harness.engine.connections.count == 1)
  }

  @Test("the JACK side can be laid out anew while nothing is connected to it")
  func ports() async throws {
    let harness = try await EngineHarness()
    let mono = PortLayout(inputs: [["a"]], outputs: [["b"], ["c", "d"]])
    try await harness.perform(harness.chain("input", "output"))
    await #expect(throws: TransactionError.self) { try await harness.perform([.setPorts(mono)]) }
    try await harness.perform([
      harness.disconnect("input", "output"), .setPorts(mono), harness.connect("input", "output:1"),
    ])
    await harness.settleAll()
    #expect(await harness.engine.graph.ports == mono)
    #expect(harness.host.configuration?.outputPorts == ["b", "c", "d"])
    let out = harness.render([[Float](repeating: 1, count: 2_000)], outputs: 3)
    #expect(out[0].allSatisfy { $0 == 0 } && out[1].last == 1 && out[2].last == 1)
  }

  @Test("code that is not asynchronous waits its turn on the control queue, from any thread and from the queue itself")
  func waiting() async throws {
    let engine = try Engine()
    let log = EventLog<Int>()
    await withTaskGroup(of: Void.self) { group in
      for index in 0..<50 {
        group.addTask {
          engine.wait { _ in
            log.append(index)
            engine.wait { _ in log.append(index) }
          }
        }
      }
    }
    let all = log.all
    #expect(all.count == 100)
    #expect(stride(from: 0, to: 100, by: 2).allSatisfy { all[$0] == all[$0 + 1] })
    #expect(throws: EngineError.self) {
      try engine.wait { engine throws(EngineError) in try engine.perform(.remove("nobody")) }
    }
  }
}
