import BacklineDSP
import BacklineEngine
import BacklineTestSupport
import Testing

@Suite("Paths of different latency")
struct AlignmentTests {
  /// A dry path and one through a look-ahead, both at half volume.
  private func parallel(_ latency: Float = 512) async throws -> EngineHarness {
    let harness = try await EngineHarness(catalog: TestUnits.catalog)
    try await harness.perform([
      harness.add("mixer", "m", ["input0Volume": 0.5, "input1Volume": 0.5]),
      harness.add("lookAhead", "l", ["frames": latency]), harness.connect("input", "m:0"),
      harness.connect("input", "l"), harness.connect("l", "m:1"), harness.connect("m", "output"),
    ])
    _ = harness.render(frames: 2048)
    await harness.settle()
    return harness
  }

  private func latency(_ harness: EngineHarness) -> Set<ClosedRange<Int>> {
    Set(harness.host.latencies.paths.map(\.frames))
  }

  @Test(
    "a look-ahead beside a dry path comes out as one sample of height 1.0 (U-42, R6)", arguments: [[64], [1], [333]])
  func impulse(cuts: [Int]) async throws {
    let harness = try await parallel()
    #expect(latency(harness) == [512...512])
    #expect(harness.host.latencies.paths.count == 4)
    let output = harness.render(both: Signals.impulse(at: 3, frames: 2000), cuts: cuts)[0]
    #expect(output == Signals.impulse(at: 515, frames: 2000))
    let noise = Signals.noise(frames: 4800)
    #expect(Array(harness.render(both: noise, cuts: cuts)[0][512...]) == Array(noise[..<4288]))
  }

  @Test("a latency that changes is aligned again, without a step (U-42)", arguments: [300, 1500, 0] as [Float])
  func change(to frames: Float) async throws {
    let harness = try await parallel()
    let signal = Signals.sine(100, frames: 9600, amplitude: 0.5)
    var output = harness.render(both: signal)[0]
    try await harness.perform([harness.set("l", "lookAhead", "frames", frames)])
    output += harness.render(both: signal)[0]
    // The look-ahead itself jumps by 212 frames or more: what the dry path does is seen below.
    #expect(latency(harness) == [Int(frames)...Int(frames)])
    await harness.settleAll()
    let later = harness.render(both: Signals.impulse(at: 3, frames: 4000))[0]
    #expect(later == Signals.impulse(at: 3 + Int(frames), frames: 4000))
  }

  @Test("the dry path crossfades to a new alignment without a step, alike at every cut (U-42, R4)")
  func crossfade() async throws {
    var results: [[Float]] = []
    for cuts in [[64], [7], [1024]] {
      let harness = try await EngineHarness(catalog: TestUnits.catalog)
      // The look-ahead is silent: what is heard is the dry path alone.
      try await harness.perform([
        harness.add("mixer", "m", ["input1Volume": 0]), harness.add("lookAhead", "l"),
        harness.connect("input", "m:0"), harness.connect("input", "l"), harness.connect("l", "m:1"),
        harness.connect("m", "output"),
      ])
      _ = harness.render(frames: 3072 - harness.frame % 1024)
      await harness.settle()
      let signal = Signals.sine(100, frames: 8192, amplitude: 0.5)
      var output: [Float] = []
      for (round, frames) in ([300, 1500, 10, 700] as [Float]).enumerated() {
        try await harness.perform(
          [harness.set("l", "lookAhead", "frames", frames)], at: Int64(harness.frame + 1000 + round))
        let part = (round * 8192..<(round + 1) * 8192).map { signal[$0 % 4800] }
        output += harness.render(both: part, cuts: cuts)[0]
        if round == 2 { await harness.settle() }
      }
      results.append(output)
      // Two copies apart by any phase, crossfaded over 480 frames, and the sine's own step.
      #expect(Signals.largestStep(output) < 0.0066 + 1.0 / 480)
    }
    #expect(results[0] == results[1])
    #expect(results[0] == results[2])
  }

  @Test("old sound does not come back when an alignment grows after a pause")
  func noEchoFromThePast() async throws {
    let harness = try await parallel(300)
    _ = harness.render(both: Signals.noise(frames: 4800))
    _ = harness.render(frames: 48_000)
    try await harness.perform([harness.set("l", "lookAhead", "frames", 2000)])
    #expect(Signals.peak(harness.render(frames: 9600)[0]) == 0)
  }

  @Test("bypass keeps the latency, and passes the input bit for bit, that much later (R6)", arguments: [[64], [7]])
  func bypass(cuts: [Int]) async throws {
    let harness = try await parallel()
    try await harness.perform([.bypass("l", true)])
    #expect(latency(harness) == [512...512])
    _ = harness.render(both: Signals.noise(frames: 2048))
    let noise = Signals.noise(frames: 4800, seed: 9)
    #expect(Array(harness.render(both: noise, cuts: cuts)[0][512...]) == Array(noise[..<4288]))
  }

  @Test("a bypassed unit whose latency changes makes no gap and no step (R4, R6)")
  func bypassedChange() async throws {
    let harness = try await EngineHarness(catalog: TestUnits.catalog)
    try await harness.perform([harness.add("lookAhead", "l")] + harness.chain("input", "l", "output"))
    try await harness.perform([.bypass("l", true)])
    _ = harness.render(frames: 4096)
    let signal = Signals.sine(100, frames: 14_400, amplitude: 0.5)
    var output = harness.render(both: signal)[0]
    for frames: Float in [300, 1500, 20] {
      try await harness.perform([harness.set("l", "lookAhead", "frames", frames)])
      output += harness.render(both: signal)[0]
    }
    #expect(Signals.largestStep(output) < 0.0066 + 1.0 / 480)
    #expect(Array(output.suffix(4800)) == Array(signal[..<(14_400 - 20)].suffix(4800)))
  }
}
