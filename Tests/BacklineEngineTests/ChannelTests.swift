import BacklineDSP
import BacklineEngine
import BacklineTestSupport
import Testing

@Suite("Channels between buses of different width")
struct ChannelTests {
  private let left = Signals.sine(440, frames: 4800, amplitude: 0.5)
  private let right = Signals.sine(880, frames: 4800, amplitude: 0.25)

  private func rendered(
    _ inputs: [String], through kind: String, _ signals: [[Float]], outputs: Int = 2
  ) async throws -> [[Float]] {
    let ports = PortLayout(inputs: [inputs], outputs: [(0..<outputs).map { "out_\($0)" }])
    let harness = try await EngineHarness(catalog: TestUnits.catalog, ports: ports)
    try await harness.perform([harness.add(kind, "n")] + harness.chain("input", "n", "output"))
    _ = harness.render(frames: 1024, outputs: outputs)
    await harness.settle()
    return harness.render(signals, outputs: outputs)
  }

  @Test("a mono source goes to both sides of a stereo unit at its level (U-44, R8)")
  func monoToStereo() async throws {
    #expect(try await rendered(["in"], through: "gain", [left]) == [left, left])
  }

  @Test("a mono source through a mono unit is on both sides (U-44, R8)")
  func monoToMono() async throws {
    let doubled = left.map { 2 * $0 }
    #expect(try await rendered(["in"], through: "mono", [left]) == [doubled, doubled])
  }

  @Test("a stereo source into a mono unit gives half the sum on both sides (U-44, R8)")
  func stereoToMono() async throws {
    // The unit doubles: what comes out is the sum.
    let sum = zip(left, right).map { $0 * 0.5 + $1 * 0.5 }.map { 2 * $0 }
    #expect(try await rendered(["l", "r"], through: "mono", [left, right]) == [sum, sum])
  }

  @Test("a stereo source through a stereo unit stays as it is (U-44, R8)")
  func stereoToStereo() async throws {
    #expect(try await rendered(["l", "r"], through: "gain", [left, right]) == [left, right])
  }

  @Test("a stereo unit into a mono output halves the sum (R8)")
  func monoOutput() async throws {
    let sum = zip(left, right).map { $0 * 0.5 + $1 * 0.5 }
    #expect(try await rendered(["l", "r"], through: "gain", [left, right], outputs: 1) == [sum])
  }

  @Test("three channels into two are refused with a message, and taken with a map or by a mixer (U-44, R8)")
  func threeIntoTwo() async throws {
    let ports = PortLayout(inputs: [["a", "b", "c"]], outputs: [["l", "r"]])
    let harness = try await EngineHarness(catalog: TestUnits.catalog, ports: ports)
    try await harness.perform([harness.add("gain", "g"), harness.add("mixer", "m")])
    let before = await harness.engine.graph
    let error = await #expect(throws: TransactionError.self) {
      try await harness.perform([harness.connect("input", "g")])
    }
    #expect(error?.error.code == .formatMismatch)
    #expect(error?.error.message.contains("3 channels do not fit the 2") == true)
    #expect(await harness.engine.graph == before)
    for map in [[0], [0, 3], [-1, 0], [0, 1, 2]] {
      let error = await #expect(throws: TransactionError.self) {
        try await harness.perform([harness.connect("input", "g", map: map)])
      }
      #expect(error?.error.code == .formatMismatch)
    }
    let third = Signals.noise(frames: 4800, amplitude: 0.5)
    try await harness.perform([harness.connect("input", "g", map: [2, 0]), harness.connect("g", "output")])
    _ = harness.render(frames: 1024)
    #expect(harness.render([left, right, third]) == [third, left])
    try await harness.perform([
      harness.disconnect("g", "output"), harness.connect("input", "m"), harness.connect("m", "output"),
    ])
    _ = harness.render(frames: 1024)
    let mixed = harness.render([left, right, third])
    #expect(zip(mixed[0].indices, mixed[0]).allSatisfy { $1 == left[$0] * 0.5 + third[$0] * 0.5 })
    #expect(mixed[1] == right)
  }
}
