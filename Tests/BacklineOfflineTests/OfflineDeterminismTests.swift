import BacklineDSP
import BacklineEngine
import BacklineTestSupport
import Testing

@testable import BacklineOffline

@Suite("Offline and live")
struct OfflineDeterminismTests {
  /// Every unit that has an input and an output.
  static let kinds = UnitCatalog.standard.descriptions.filter { !$0.inputs.isEmpty && !$0.outputs.isEmpty }.map(\.kind)

  private func noise(_ frames: Int) -> [Float] {
    var state: UInt32 = 12_345
    return (0..<2 * frames).map { _ in
      state = state &* 1_664_525 &+ 1_013_904_223
      return (Float(state >> 8) / 8_388_608 - 1) * 0.3
    }
  }

  @Test("every block size gives the same bits, in every unit", arguments: kinds)
  func blockSizes(kind: String) {
    let samples = noise(12_000)
    let graph = chain([(kind, [:])])
    let (_, reference) = renderInMemory(MemorySource(samples), MemoryDestination(), graph, tail: .seconds(0.1))
    #expect(reference.count == 2 * (12_000 + 4800))
    for block in [1, 7, 32, 64, 100, 255, 257, 1024, 3001, 8192] {
      let (_, found) = renderInMemory(
        MemorySource(samples, mostFrames: 999), MemoryDestination(), graph, tail: .seconds(0.1), blockFrames: block)
      #expect(found == reference, "blocks of \(block)")
    }
  }

  @Test("every unit gives offline what it gives live", arguments: kinds)
  func liveReference(kind: String) async throws {
    let samples = noise(6000)
    let graph = chain([(kind, [:])])
    let (_, offline) = renderInMemory(MemorySource(samples), MemoryDestination(), graph) { $0.fadesIn = true }
    // A live engine comes in over a ramp, and so does this rendering.
    let engine = try Engine(catalog: TestUnits.catalog)
    let host = OfflineHost.manual()
    try await engine.perform([.load(graph)])
    await engine.start(host, name: "live")
    try await waitUntil { host.isStarted }
    let left = stride(from: 0, to: samples.count, by: 2).map { samples[$0] }
    let right = stride(from: 1, to: samples.count, by: 2).map { samples[$0] }
    var live: [Float] = []
    var position = 0, turn = 0
    while position < 6000 {
      let count = min([64, 1, 500, 33][turn % 4], 6000 - position)
      turn += 1
      let out = host.cycle(
        [Array(left[position..<position + count]), Array(right[position..<position + count])], frames: count)
      for index in 0..<count { live += [out[0][index], out[1][index]] }
      position += count
    }
    // Without a latency the two begin together.
    let latency = UnitCatalog.standard[kind].map { $0.latency(48_000, $0.parameters.map(\.defaultValue)) } ?? 0
    #expect(Array(live.dropFirst(2 * latency)) == Array(offline.prefix(12_000 - 2 * latency)))
  }

  @Test("a script of edits gives the same bits in whatever blocks it is rendered")
  func script() throws {
    let samples = noise(40_000)
    let graph = chain([("gain", [:]), ("delay", ["delayTime": 0.05]), ("equalizer", [:])])
    let steps: [(frame: Int64, commands: [Command])] = [
      (0, [.set(node: "n0", parameter: 0, value: -3)]),
      (1001, [.set(node: "n0", parameter: 0, value: -20), .bypass("n2", true)]),
      (5000, [.insert(kind: "compressor", name: "c", from: Endpoint("n0"), to: Endpoint("n1"))]),
      (5003, [.add(kind: "reverb", name: "r", values: [])]),
      (5003, [.set(node: "c", parameter: 0, value: -30)]),
      (9001, [.replace("n2", kind: "pan")]),
      (9999, [.move("c", from: Endpoint("n1"), to: Endpoint("n2"))]),
      (15_000, [.remove("n1")]),
      (15_000, [.connect(Endpoint("c"), Endpoint("r"))]),
      (22_222, [.connect(Endpoint("n0"), Endpoint("c"))]),
      (31_000, [.mute(true)]),
    ]
    func render(_ block: Int) -> (OfflineResult, [Float]) {
      renderInMemory(MemorySource(samples), MemoryDestination(), graph, blockFrames: block) { job in
        job.script = { _ throws(OfflineError) in TestScript(steps) }
      }
    }
    let (result, reference) = render(4096)
    #expect(result.report?.frames == 40_000)
    #expect(reference.suffix(100).allSatisfy { $0 == 0 })
    for block in [1, 50, 128, 1000, 8192] { #expect(render(block).1 == reference, "blocks of \(block)") }
  }

  @Test("a latency that changes in the middle leaves everything in its place, and the length exact")
  func latencyChange() throws {
    // A compressor that does nothing but look ahead, by 5 ms from the first step on and no more from the second on.
    let graph = chain([("compressor", ["threshold": 0])])
    let lookAhead = try #require(UnitCatalog.standard["compressor"]?.parameterIndex(named: "lookAhead"))
    let steps: [(frame: Int64, commands: [Command])] = [
      (20_000, [.set(node: "n0", parameter: lookAhead, value: 0.005)]),
      (50_000, [.set(node: "n0", parameter: lookAhead, value: 0)]),
    ]
    let samples = noise(70_000)
    func render(_ block: Int, _ steps: [(frame: Int64, commands: [Command])]) -> (OfflineResult, [Float]) {
      renderInMemory(MemorySource(samples), MemoryDestination(), graph, blockFrames: block) { job in
        job.script = { _ throws(OfflineError) in TestScript(steps) }
      }
    }
    let (plainResult, plain) = render(4096, [])
    let (result, found) = render(4096, steps)
    #expect(plainResult.report?.frames == 70_000 && plain == samples)
    #expect(result.report?.frames == 70_000)
    // Beside the crossfades of 10 ms around the steps it is the input, frame by frame.
    for range in [0..<19_000, 21_500..<49_000, 51_500..<70_000] {
      #expect(
        Array(found[2 * range.lowerBound..<2 * range.upperBound])
          == Array(samples[2 * range.lowerBound..<2 * range.upperBound]), "\(range)")
    }
    for block in [1000, 61] { #expect(render(block, steps).1 == found, "blocks of \(block)") }
  }

  @Test("a step that the engine refuses ends the rendering, saying why")
  func refusedStep() {
    let destination = MemoryDestination()
    let (result, _) = renderInMemory(MemorySource(ramp(10_000)), destination) { job in
      job.script = { _ throws(OfflineError) in TestScript([(100, [.remove("nobody")])]) }
    }
    #expect(result.error?.kind == .badData)
    #expect(result.error?.message.contains("nobody") == true)
    #expect(destination.now.isDiscarded)
  }

  @Test("samples that are not finite are silenced and counted, and the rest is rendered")
  func nonFinite() {
    let samples: [Float] = [0.5, 0.5, .nan, 0.5, .infinity, -0.5, 0.25, 0.25]
    let (result, found) = renderInMemory(MemorySource(samples))
    #expect(result.report?.nonFinite == 2)
    #expect(found == [0.5, 0.5, 0, 0.5, 0, -0.5, 0.25, 0.25])
  }
}
