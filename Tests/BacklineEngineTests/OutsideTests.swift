import BacklineDSP
import BacklineEngine
import BacklineTestSupport
import Testing

@Suite("Sends and returns")
struct OutsideTests {
  private let tone = Signals.sine(100, frames: 9600, amplitude: 0.5)

  private func ports(_ harness: EngineHarness) async -> PortLayout { await harness.engine.graph.ports }

  @Test("a send brings ports of its own behind those that are there, and they go with it")
  func send() async throws {
    let harness = try await EngineHarness()
    try await harness.perform([harness.connect("input", "output")])
    try await harness.perform([.insert(kind: "send", name: "fx", from: Endpoint("input"), to: Endpoint("output"))])
    #expect(await ports(harness).outputs == [["out_1", "out_2"], ["fx_1", "fx_2"]])
    #expect(
      await harness.engine.connections.contains(
        ConnectionSpecification(from: Endpoint("fx", bus: 1), to: Endpoint("output", bus: 1))))
    var output = harness.render([tone, tone], outputs: 4)
    await harness.settle()
    try await harness.perform([harness.set("fx", "send", "sendGain", -6.020_6)])
    for (channel, more) in harness.render([tone, tone], outputs: 4).enumerated() { output[channel] += more }
    #expect(Array(output[0].suffix(4800)) == Array(tone.suffix(4800)))
    #expect(zip(output[2].suffix(4800), tone.suffix(4800)).allSatisfy { abs($0 - 0.5 * $1) < 1e-6 })
    try await harness.perform([.remove("fx")])
    #expect(await ports(harness) == .stereo)
    for (channel, more) in harness.render([tone, tone], outputs: 4).enumerated() { output[channel] += more }
    for channel in output { #expect(Signals.largestStep(channel) < 0.01) }
    #expect(Signals.peak(output[2].suffix(4800)) == 0)
    try await harness.engine.undo()
    #expect(await ports(harness).outputs.count == 2)
    try await harness.engine.undo()
    try await harness.engine.undo()
    #expect(await ports(harness) == .stereo)
  }

  @Test("a return adds what comes in at its ports")
  func returned() async throws {
    let harness = try await EngineHarness()
    try await harness.perform([harness.add("return", "back")] + harness.chain("input", "back", "output"))
    #expect(await ports(harness).inputs == [["in_1", "in_2"], ["back_1", "back_2"]])
    let other = Signals.sine(150, frames: 9600, amplitude: 0.25)
    let output = harness.render([tone, tone, other, other])
    for index in 4800..<9600 { #expect(abs(output[0][index] - tone[index] - other[index]) < 1e-6) }
    #expect(Signals.largestStep(output[0]) < 0.02)
  }

  @Test("what one send's ports carry does not change when an earlier send goes: its ports stay until they are the last")
  func places() async throws {
    let harness = try await EngineHarness()
    try await harness.perform([harness.add("send", "a"), harness.connect("input", "a")])
    try await harness.perform([harness.add("send", "b"), harness.connect("input", "b")])
    _ = harness.render([tone, tone], outputs: 6)
    await harness.settle()
    try await harness.perform([.remove("a")])
    #expect(await ports(harness).outputs == [["out_1", "out_2"], ["a_1", "a_2"], ["b_1", "b_2"]])
    let output = harness.render([tone, tone], outputs: 6)
    #expect(output[4] == tone)
    #expect(Signals.peak(output[2].suffix(4800)) == 0)
    try await harness.perform([.remove("b")])
    #expect(await ports(harness).outputs == [["out_1", "out_2"], ["a_1", "a_2"]])
  }

  @Test("moving a send keeps its ports and what it is connected to")
  func moved() async throws {
    let harness = try await EngineHarness()
    try await harness.perform(
      [harness.add("send", "s"), harness.add("gain", "g")] + harness.chain("input", "s", "g", "output"))
    _ = harness.render([tone, tone], outputs: 4)
    await harness.settle()
    try await harness.perform([.move("s", from: Endpoint("g"), to: Endpoint("output"))])
    #expect(await ports(harness).outputs.count == 2)
    _ = harness.render([tone, tone], outputs: 4)
    await harness.settle()
    #expect(harness.render([tone, tone], outputs: 4)[2] == tone)
  }

  @Test("ports that cannot be had refuse the node and change nothing")
  func refused() async throws {
    let harness = try await EngineHarness(
      ports: PortLayout(inputs: [["in_1"]], outputs: [["out_1"], (0..<32).map { "x\($0)" }, (0..<30).map { "y\($0)" }]))
    let before = await harness.engine.graph
    await #expect(throws: TransactionError.self) { try await harness.perform([harness.add("send", "s")]) }
    #expect(await harness.engine.graph == before)
    let other = try await EngineHarness(ports: PortLayout(inputs: [["s_1"]], outputs: [["out_1"]]))
    await #expect(throws: TransactionError.self) { try await other.perform([other.add("send", "s")]) }
    #expect(await other.engine.nodeCount == 0)
  }
}
