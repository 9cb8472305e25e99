import BacklineDSP
import BacklinePresets

/// The catalog that these tests check presets against: the units of the shipped presets, as far as a reader looks at them.
enum TestCatalog {
  static let standard = UnitCatalog([
    unit("gain", [.init("gain", "", -96...24, default: 0, measure: .decibels)]),
    unit(
      "pan",
      [
        .init("pan", "", -1...1, default: 0),
        .discrete("law", "", ["balance", "constantPower", "linear"]),
      ]),
    unit(
      "mixer", [.init("outputVolume", "", 0...1, default: 1)], growingInputs: 4,
      inputParameters: [.init("Volume", "", 0...1, default: 1), .init("Pan", "", -1...1, default: 0)]),
    unit("equalizer", (1...16).flatMap(band) + [.init("globalGain", "", -96...24, default: 0, measure: .decibels)]),
    unit(
      "compressor",
      [
        .init("threshold", "", -60...0, default: -20, measure: .decibels),
        .init("ratio", "", 1...100, default: 4, measure: .ratio),
        .init("kneeWidth", "", 0...24, default: 6, measure: .decibels),
        .init("attackTime", "", 0.0001...0.5, default: 0.005, measure: .seconds),
        .init("releaseTime", "", 0.005...5, default: 0.1, measure: .seconds),
        .init("makeUpGain", "", -24...24, default: 0, measure: .decibels),
        .reading("gainReduction", "", 0...96, default: 0, measure: .decibels),
      ], sideChain: true),
    unit(
      "delay",
      [
        .init("delayTime", "", 0.001...5, default: 1, measure: .seconds),
        .init("feedback", "", -100...100, default: 50, measure: .percent),
        .init("lowPassCutoff", "", 10...20_000, default: 15_000, measure: .hertz),
        .init("highPassCutoff", "", 10...2000, default: 10, measure: .hertz),
        .init("wetDryMix", "", 0...100, default: 30, measure: .percent),
        .toggle("pingPong", "", default: false),
      ]),
    unit(
      "reverb",
      [
        .init("wetDryMix", "", 0...100, default: 30, measure: .percent),
        .init("decayTime", "", 0.1...20, default: 2, measure: .seconds),
        .init("preDelay", "", 0...0.25, default: 0.02, measure: .seconds),
        .init("lowCut", "", 20...1000, default: 20, measure: .hertz),
        .init("highCut", "", 1000...20_000, default: 20_000, measure: .hertz),
      ]),
    unit("meter", [.reading("peakLeft", "", -96...24, default: -96, measure: .decibels)]),
    unit("oscillator", [.count("voices", "", 1...8, default: 1)], inputs: []),
    unit("surround", [], inputs: [.init("input", channels: 6)]),
  ])

  private static func unit(
    _ kind: String, _ parameters: [ParameterDescription], inputs: [UnitDescription.Bus] = [.init("input")],
    sideChain: Bool = false, growingInputs: Int? = nil, inputParameters: [ParameterDescription] = []
  ) -> UnitDescription {
    UnitDescription(
      kind: kind, title: kind, summary: "", inputs: inputs + (sideChain ? [.init("sidechain", isOptional: true)] : []),
      outputs: [.init("output")], parameters: parameters, growingInputs: growingInputs,
      inputParameters: inputParameters, make: { UnitInstance(Gain.self, $0) })
  }

  private static func band(_ number: Int) -> [ParameterDescription] {
    [
      .discrete(
        "band\(number)Type", "",
        [
          "parametric", "lowPass", "highPass", "resonantLowPass", "resonantHighPass", "bandPass", "bandStop",
          "lowShelf",
          "highShelf", "resonantLowShelf", "resonantHighShelf",
        ]),
      .init("band\(number)Frequency", "", 20...20_000, default: 1000, measure: .hertz, taper: .logarithmic),
      .init("band\(number)Gain", "", -96...24, default: 0, measure: .decibels),
      .init("band\(number)Q", "", 0.1...40, default: 0.7071, taper: .logarithmic),
      .toggle("band\(number)Enabled", "", default: false),
    ]
  }
}

/// The problems of a preset, or none.
func problems(
  _ text: String, catalog: UnitCatalog = TestCatalog.standard, limits: PresetLimits = PresetLimits()
) -> [PresetProblem] {
  do {
    _ = try PresetReader.read(Array(text.utf8), catalog: catalog, limits: limits)
    return []
  } catch {
    return error.problems
  }
}

/// A preset with these nodes, connections and ports in JSON, each list on lines of its own from line 2 on.
func presetText(nodes: String = "", connections: String = "", ports: String? = nil) -> String {
  """
  {"format": "backline.preset", "version": 1, "name": "Test",
  "nodes": [\(nodes)],
  "connections": [\(connections)]\(ports.map { ",\n\"ports\": " + $0 } ?? "")
  }
  """
}
