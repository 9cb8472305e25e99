import BacklineDSP
import BacklineEngine
import BacklineTestSupport
import Testing

@Suite("Presets of a unit")
struct UnitPresetTests {
  private let reverb = Reverb.description

  private func value(_ harness: EngineHarness, _ parameter: String) async throws -> Float {
    try await harness.engine.value("r", try #require(reverb.parameterIndex(named: parameter)))
  }

  @Test("Apple's thirteen rooms are there by name, and each sets what it says", arguments: ReverbPreset.allCases)
  func rooms(preset: ReverbPreset) async throws {
    let place = try #require(reverb.presetIndex),
      number = try #require(ReverbPreset.allCases.firstIndex(of: preset)) + 1
    #expect(reverb.parameters[place].kind == .discrete(["custom"] + ReverbPreset.allCases.map(\.rawValue)))
    let harness = try await EngineHarness()
    try await harness.perform([harness.add("reverb", "r", ["wetDryMix": 77])])
    try await harness.perform([harness.set("r", "reverb", "preset", Float(number))])
    for (name, wanted) in preset.parameters { #expect(try await value(harness, name) == wanted) }
    #expect(try await value(harness, "wetDryMix") == 77)
    #expect(try await value(harness, "preset") == Float(number))
    try await harness.perform([harness.set("r", "reverb", "decayTime", 9)])
    #expect(try await value(harness, "preset") == 0)
    try await harness.perform([harness.set("r", "reverb", "decayTime", preset.parameters["decayTime"] ?? 0)])
    #expect(try await value(harness, "preset") == Float(number))
  }

  @Test("a reverb set by name sounds as one set value by value, whichever way it is set")
  func sound() async throws {
    let cathedral = try #require(ReverbPreset.allCases.firstIndex(of: .cathedral)) + 1
    var outputs: [[Float]] = []
    for way in 0..<4 {
      let harness = try await EngineHarness()
      let values = ReverbPreset.cathedral.parameters
      switch way {
      case 0: try await harness.perform([harness.add("reverb", "r", ["preset": Float(cathedral)])])
      case 1:
        try await harness.perform([harness.add("reverb", "r")])
        try await harness.perform([harness.set("r", "reverb", "preset", Float(cathedral))])
      case 2:
        try await harness.perform([harness.add("reverb", "r")])
        let node = try await harness.engine.node("r"), place = try #require(reverb.presetIndex)
        #expect(
          await harness.engine.set(
            slot: node.slot, generation: node.generation, parameter: place, to: Float(cathedral)))
      default:
        try await harness.perform([harness.add("reverb", "r")])
        try await harness.perform(
          values.sorted { $0.key < $1.key }.map { harness.set("r", "reverb", $0.key, $0.value) })
      }
      try await harness.perform(harness.chain("input", "r", "output"))
      await harness.settleAll()
      outputs.append(harness.render(both: Signals.impulse(frames: 48_000))[0])
    }
    #expect(Signals.peak(outputs[0]) > 0.001)
    for output in outputs { #expect(zip(output, outputs[0]).allSatisfy { abs($0 - $1) < 1e-5 }) }
  }
}
