import BacklineDSP
import BacklineEngine
import BacklineTestSupport
import Testing

/// What the moving of one parameter is tried with.
struct MovedParameter: Sendable, CustomTestStringConvertible {
  let kind: String
  let parameter: String
  let range: ClosedRange<Float>
  var values: [(String, Float)] = []
  /// The gains of the left side at the lower and the upper end, where they are exact.
  var ends: [Float]?

  var testDescription: String { "\(kind) \(parameter)" }

  static let all = [
    MovedParameter(kind: "gain", parameter: "gain", range: -96...0, ends: [0, 1]),
    MovedParameter(kind: "pan", parameter: "pan", range: -1...1, ends: [1, 0]),
    MovedParameter(
      kind: "equalizer", parameter: "band1Frequency", range: 20...20_000,
      values: [("band1Type", 1), ("band1Enabled", 1)]),
    MovedParameter(kind: "mixer", parameter: "input0Volume", range: 0...1, ends: [0, 1]),
  ]
}

@Suite("Parameters that jump are heard as ramps")
struct ParameterClickTests {
  static let periods = [16, 64, 1024]
  /// A sine of 100 Hz at 0.5 has steps of 0.0065.
  private let signal = Signals.sine(100, frames: 96_000, amplitude: 0.5)

  /// Moves to one end and the other every 4096 frames, for 16 times; ends at the upper one.
  private func moved(_ moved: MovedParameter, period: Int) async throws -> [[Float]] {
    let harness = try await EngineHarness()
    let values = moved.values + [(moved.parameter, moved.range.upperBound)]
    let description = try #require(UnitCatalog.standard[moved.kind])
    let indices = try values.map { (try #require(description.parameterIndex(named: $0.0)), $0.1) }
    try await harness.perform(
      [.add(kind: moved.kind, name: "n", values: indices)] + harness.chain("input", "n", "output"))
    _ = harness.render(frames: 1024 - harness.frame % 1024)
    _ = harness.render(frames: 1024)
    await harness.settle()
    var output: [[Float]] = [[], []]
    for round in 0..<16 {
      let value = round % 2 == 0 ? moved.range.lowerBound : moved.range.upperBound
      try await harness.perform(
        [harness.set("n", moved.kind, moved.parameter, value)], at: Int64(harness.frame + 1000 + round * 7))
      let part = Array(signal[round * 4096..<(round + 1) * 4096])
      let rendered = harness.render(both: part, cuts: [period])
      output[0] += rendered[0]
      output[1] += rendered[1]
    }
    return output
  }

  @Test("a parameter at either end in turn makes no step, alike at every period (U-34)", arguments: MovedParameter.all)
  func steps(parameter: MovedParameter) async throws {
    var first: [[Float]]?
    for period in Self.periods {
      let output = try await moved(parameter, period: period)
      for channel in output { #expect(Signals.largestStep(channel) < 0.02) }
      #expect(Signals.peak(output[1]) > 0.1)
      if first == nil { first = output }
      #expect(output == first, "period \(period)")
    }
  }

  @Test(
    "a ramp ends at its exact target (U-34)",
    arguments: MovedParameter.all.filter { $0.ends != nil })
  func exactTarget(parameter: MovedParameter) async throws {
    let ends = try #require(parameter.ends)
    let output = try await moved(parameter, period: 64)
    for (round, gain) in [(14, ends[0]), (15, ends[1])] {
      let range = round * 4096 + 1000 + round * 7 + 480..<(round + 1) * 4096
      #expect(zip(output[0][range], signal[range]).allSatisfy { $0 == $1 * gain })
    }
  }

  @Test(
    "bypass on and off at random times makes no step and ends exact (U-34, R6)",
    arguments: ["gain", "equalizer", "delay", "reverb", "compressor"])
  func bypass(kind: String) async throws {
    let rounds = 50
    var first: [Float]?
    for period in [64, 1024] {
      let harness = try await EngineHarness()
      try await harness.perform([.add(kind: kind, name: "n", values: [])] + harness.chain("input", "n", "output"))
      if kind == "gain" { try await harness.perform([harness.set("n", kind, "gain", -12)]) }
      _ = harness.render(frames: 2048 - harness.frame % 1024)
      await harness.settle()
      var random = SeededGenerator(34)
      var output: [Float] = []
      for round in 0...rounds {
        try await harness.perform(
          [.bypass("n", round % 2 == 0)], at: Int64(harness.frame + Int.random(in: 0..<900, using: &random)))
        output += harness.render(both: Array(signal[round * 1440..<(round + 1) * 1440]), cuts: [period])[0]
      }
      #expect(Signals.largestStep(output) < 0.02)
      let last = rounds * 1440 + 1381..<(rounds + 1) * 1440
      #expect(Array(output[last]) == Array(signal[last]))
      if first == nil { first = output }
      #expect(output == first)
    }
  }

  @Test("a send switched on and off 50 times makes no step (U-34)")
  func sends() async throws {
    let harness = try await EngineHarness()
    try await harness.perform(
      [harness.add("mixer", "m"), harness.connect("input", "m"), harness.connect("m", "output")])
    _ = harness.render(frames: 1024)
    var random = SeededGenerator(3)
    var output: [Float] = []
    var position = 0
    for round in 0..<50 {
      try await harness.perform([
        round % 2 == 0 ? harness.connect("input", "m:1") : harness.disconnect("input", "m:1")
      ])
      let count = Int.random(in: 100..<1800, using: &random)
      output += harness.render(both: Array(signal[position..<position + count]))[0]
      position += count
      if round % 3 == 0 { await harness.settle() }
    }
    #expect(Signals.largestStep(output) < 0.02)
    #expect(Signals.peak(output) > 0.9)
  }
}
