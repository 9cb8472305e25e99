import BacklineDSP
import BacklineEngine
import BacklineTestSupport
import Testing

@Suite("Samples that are not finite stay where they come from")
struct FaultTests {
  @Test("a unit that emits NaN or infinity is silent for a quantum, and the other branch is heard (U-39, R9)")
  func branches() async throws {
    let harness = try await EngineHarness(catalog: TestUnits.catalog)
    let events = EventLog<EngineEvent>()
    await harness.engine.observe { events.append($0) }
    try await harness.perform(
      [
        harness.add("faulty", "f"), harness.add("gain", "g"), harness.add("mixer", "m"),
        harness.connect("input", "f"), harness.connect("input", "g"), harness.connect("f", "m"),
        harness.connect("g", "m"), harness.connect("m", "output"),
      ])
    let signal = Signals.sine(100, frames: 1024, amplitude: 0.25)
    _ = harness.render(both: signal)
    await harness.settle()
    for (count, fault) in [(1, Float(1)), (2, 2)] {
      try await harness.perform([harness.set("f", "faulty", "fault", fault)])
      let output = harness.render(both: signal)
      #expect(Signals.isFinite(output[0]))
      // Both branches, but for a quantum at most in which only the second is heard.
      let single = zip(output[0], signal).filter { $0 != 2 * $1 }
      #expect(single.count <= 32 && single.allSatisfy { $0 == $1 })
      await harness.settle()
      #expect(await harness.engine.nonFiniteCounts.map(\.node) == ["f"])
      #expect(await harness.engine.nonFiniteCounts.map(\.count) == [count])
      #expect(await harness.engine.counts.nonFinite == count)
      #expect(events.all.filter { $0 == .nonFinite(node: "f") }.count == count)
    }
    try await harness.perform([harness.set("f", "faulty", "fault", 3)])
    let loud = harness.render(both: signal)[0]
    #expect(Signals.peak(loud) == 1e30)
    #expect(Signals.isFinite(loud))
    await harness.settle()
    #expect(await harness.engine.counts.nonFinite == 2)
    try await harness.perform([.remove("f")])
    _ = harness.render(both: signal)
    #expect(harness.render(both: signal)[0] == signal)
  }

  @Test(
    "what comes after a fault finds back to sound without a reload (U-39)",
    arguments: ["equalizer", "delay", "reverb", "compressor"], [1, 2, 3] as [Float])
  func downstream(kind: String, fault: Float) async throws {
    let values: [String: [(String, Float)]] = [
      "equalizer": [("band1Enabled", 1), ("band1Gain", 12)], "delay": [("delayTime", 0.01), ("feedback", 30)],
      "reverb": [("decayTime", 0.1), ("preDelay", 0)], "compressor": [("releaseTime", 0.01)],
    ]
    var outputs: [[Float]] = []
    for emitted in [0, fault] {
      let harness = try await EngineHarness(catalog: TestUnits.catalog, sampleRate: 8000)
      try await harness.perform(
        [harness.add("faulty", "f"), harness.add(kind, "n")]
          + (values[kind] ?? []).map { harness.set("n", kind, $0.0, $0.1) } + harness.chain("input", "f", "n", "output")
      )
      _ = harness.render(both: Signals.noise(frames: 512))
      try await harness.perform([harness.set("f", "faulty", "fault", emitted)])
      _ = harness.render(both: Signals.noise(frames: 512))
      let pause = [Float](repeating: 0, count: 20_000)
      #expect(harness.render(both: pause, cuts: [256]).allSatisfy(Signals.isFinite))
      outputs.append(harness.render(both: Signals.noise(frames: 4000, amplitude: 0.25))[0])
      #expect(await harness.engine.nonFiniteCounts.allSatisfy { $0.node == "f" })
    }
    // Each sounded itself out, was put to sleep by that, and is as new.
    #expect(Signals.rms(outputs[1]) > 0.01)
    #expect(abs(Signals.rms(outputs[1]) / Signals.rms(outputs[0]) - 1) < 0.01)
  }

  @Test("NaN and infinity at an input port read as silence and are counted (R9)")
  func inputPort() async throws {
    let harness = try await EngineHarness()
    try await harness.perform([harness.connect("input", "output")])
    _ = harness.render(frames: 1024)
    var signal = Signals.sine(100, frames: 1000)
    let clean = signal
    signal[100] = .nan
    signal[500] = -.infinity
    signal[501] = .infinity
    let output = harness.render([signal, clean])
    for frame in signal.indices { #expect(output[0][frame] == (signal[frame].isFinite ? clean[frame] : 0)) }
    #expect(output[1] == clean)
    #expect(await harness.engine.counts.nonFinite == 3)
  }

  @Test("a loop that gets louder without end stays finite and comes back when it is turned down")
  func runawayLoop() async throws {
    let harness = try await EngineHarness()
    try await harness.perform([
      harness.add("mixer", "m"), harness.add("gain", "g", ["gain": 24]), harness.connect("input", "m"),
      harness.connect("m", "g"), harness.connect("g", "m", isFeedback: true), harness.connect("m", "output"),
    ])
    let output = harness.render(both: Signals.noise(frames: 9600, amplitude: 0.1))
    #expect(output.allSatisfy(Signals.isFinite))
    try await harness.perform([harness.set("g", "gain", "gain", -96)])
    _ = harness.render(frames: 9600)
    let signal = Signals.noise(frames: 960)
    #expect(harness.render(both: signal)[0] == signal)
  }
}
