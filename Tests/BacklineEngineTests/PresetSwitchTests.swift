import BacklineDSP
import BacklineEngine
import BacklineTestSupport
import Testing

@Suite("Whole graphs replaced while they sound")
struct PresetSwitchTests {
  private func values(_ kind: String, _ set: [String: Float]) throws -> [Float] {
    let description = try #require(UnitCatalog.standard[kind])
    return description.parameters.map { set[$0.name] ?? $0.defaultValue }
  }

  /// +40 dB and -40 dB in four gains and an equalizer; or a wire.
  private func graph(isLoud: Bool) throws -> GraphDescription {
    let levels: [Float] = isLoud ? [24, 16, -24, -16] : []
    var nodes = try levels.enumerated().map { index, level in
      NodeSpecification(name: "g\(index)", kind: "gain", values: try values("gain", ["gain": level]))
    }
    if isLoud {
      nodes.append(
        NodeSpecification(name: "eq", kind: "equalizer", values: try values("equalizer", ["band1Enabled": 1])))
    }
    let names = ["input"] + nodes.map(\.name) + ["output"]
    return GraphDescription(
      ports: .stereo, nodes: nodes,
      connections: zip(names, names.dropFirst()).map {
        ConnectionSpecification(from: Endpoint($0, bus: 0), to: Endpoint($1, bus: 0))
      })
  }

  @Test("a loud and a clean preset in turn, 100 times, never click nor beep (U-35)")
  func loudAndClean() async throws {
    let harness = try await EngineHarness()
    try await harness.perform([.load(try graph(isLoud: false))])
    _ = harness.render(frames: 1024)
    let rounds = 100, length = 2400
    let signal = Signals.sine(100, frames: length * rounds, amplitude: 0.1)
    var output: [Float] = []
    for round in 0..<rounds {
      try await harness.perform([.load(try graph(isLoud: round % 2 == 0))])
      output += harness.render(both: Array(signal[round * length..<(round + 1) * length]))[0]
      if round % 5 == 0 { await harness.settle() }
    }
    #expect(Signals.largestStep(output) < 0.02)
    // 1 dB above the level of both.
    #expect(Signals.peak(output) < 0.1 * 1.122)
    let last = Array(output.suffix(1200)), dry = Array(signal.suffix(1200))
    #expect(zip(last, dry).allSatisfy { abs($0 - $1) < 1e-4 })
  }

  @Test("while a unit of the new preset takes its time to load, the old one sounds on, to the bit (U-35)")
  func slowUnit() async throws {
    let isLoading = Semaphore(), mayEnd = Semaphore()
    let slow = UnitDescription(
      kind: "slow", title: "Slow", summary: "Takes its time.", inputs: [.init("input")], outputs: [.init("output")],
      parameters: [],
      make: { format in
        isLoading.signal()
        mayEnd.wait()
        return UnitInstance(Gain.self, format)
      })
    let harness = try await EngineHarness(catalog: UnitCatalog.standard.adding([slow]))
    try await harness.perform([.load(try graph(isLoud: false))])
    _ = harness.render(frames: 1024)
    await harness.settle()
    let new = GraphDescription(
      ports: .stereo, nodes: [NodeSpecification(name: "s", kind: "slow", values: [])],
      connections: [
        ConnectionSpecification(from: Endpoint("input", bus: 0), to: Endpoint("s", bus: 0)),
        ConnectionSpecification(from: Endpoint("s", bus: 0), to: Endpoint("output", bus: 0)),
      ])
    async let loaded: Void = harness.engine.perform([.load(new)])
    let signal = Signals.sine(100, frames: 96_000, amplitude: 0.5)
    #expect(await Eventually.holds { isLoading.wait(seconds: 0) })
    // Two seconds of it, with the control queue in the unit's hands.
    #expect(harness.render(both: signal)[0] == signal)
    mayEnd.signal()
    try await loaded
    await harness.settle()
    let after = harness.render(both: signal)[0]
    #expect(Signals.largestStep(after) < 0.02)
    #expect(Array(after.suffix(4_800)) == Array(signal.suffix(4_800)))
  }

  @Test("a preset that is refused leaves the old one sounding, to the bit (U-35)")
  func refused() async throws {
    var outputs: [[Float]] = []
    for isRefused in [false, true] {
      let harness = try await EngineHarness()
      try await harness.perform([.load(try graph(isLoud: true))])
      _ = harness.render(frames: 1024)
      if isRefused {
        var bad = try graph(isLoud: false)
        bad.connections.append(
          ConnectionSpecification(from: Endpoint("nobody", bus: 0), to: Endpoint("output", bus: 0)))
        let before = await harness.engine.graph
        await #expect(throws: TransactionError.self) { try await harness.perform([.load(bad)]) }
        #expect(await harness.engine.graph == before)
      }
      outputs.append(harness.render(both: Signals.noise(frames: 4800, amplitude: 0.01))[0])
    }
    #expect(outputs[0] == outputs[1])
  }

  @Test(
    "a preset with other ports takes over without a step, and silence stays on ports that nobody feeds",
    arguments: [1, 2, 4], [1, 2, 4])
  func otherPorts(from: Int, to: Int) async throws {
    func wires(_ count: Int) -> GraphDescription {
      GraphDescription(
        ports: PortLayout(
          inputs: [(0..<count).map { "in_\($0)" }], outputs: [(0..<count).map { "out_\($0)" }]), nodes: [],
        connections: [ConnectionSpecification(from: Endpoint("input", bus: 0), to: Endpoint("output", bus: 0))])
    }
    let harness = try await EngineHarness(ports: wires(4).ports)
    try await harness.perform([.load(wires(from))])
    let signal = Signals.sine(100, frames: 9600, amplitude: 0.5)
    let inputs = [[Float]](repeating: signal, count: 4)
    var output = harness.render(inputs, outputs: 4)
    await harness.settle()
    try await harness.perform([.load(wires(to))])
    for (channel, more) in harness.render(inputs, outputs: 4).enumerated() { output[channel] += more }
    await harness.settle()
    for (channel, more) in harness.render(inputs, outputs: 4).enumerated() { output[channel] += more }
    for channel in 0..<4 {
      #expect(Signals.largestStep(output[channel]) < 0.02)
      let last = Array(output[channel].suffix(4800))
      #expect(last == (channel < to ? Array(signal.suffix(4800)) : [Float](repeating: 0, count: 4800)))
    }
  }
}
