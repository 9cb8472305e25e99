import BacklineEngine
import BacklineTestSupport
import Testing

@Suite("Modulation and side chains taken away while in use")
struct ModulationSourceTests {
  @Test(
    "the unit goes on without a step, as if nothing had ever been connected there",
    arguments: [
      ("filter", "modulationDepth", Float(2)), ("compressor", "threshold", -40), ("gate", "threshold", -40),
      ("autoWah", "sensitivity", 20), ("multibandCompressor", "band1Threshold", -40),
    ])
  func removed(kind: String, parameter: String, value: Float) async throws {
    let tone = Signals.sine(200, frames: 48_000, amplitude: 0.2)
    var ends: [[Float]] = []
    for isModulated in [true, false] {
      let harness = try await EngineHarness()
      try await harness.perform(
        [harness.add(kind, "unit", [parameter: value])] + harness.chain("input", "unit", "output"))
      if isModulated {
        try await harness.perform([
          harness.add("oscillator", "source", ["frequency": 30]), harness.connect("source", "unit:1"),
        ])
      }
      await harness.settleAll()
      let before = harness.render(both: tone)[0]
      if isModulated { try await harness.perform([.remove("source")]) }
      let after = harness.render(both: tone)[0]
      if isModulated {
        #expect(Signals.isFinite(after))
        let usual = Signals.largestStep(before), change = Signals.largestStep(Array((before + after)[47_000..<50_000]))
        #expect(change < 2 * usual + 0.01, "\(change) beside \(usual)")
        try await harness.engine.undo()
        #expect(await harness.engine.nodeCount == 2)
        try await harness.perform([.remove("source")])
        await harness.settleAll()
      } else {
        await harness.settleAll()
      }
      ends.append(Array(harness.render(both: tone)[0].suffix(4_800)))
    }
    #expect(Signals.peak(ends[1]) > 0.001)
    #expect(zip(ends[0], ends[1]).allSatisfy { abs($0 - $1) < 1e-3 })
  }
}
