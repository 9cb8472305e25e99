import BacklineDSP
import BacklinePresets
import Testing

@Suite("Preset writer")
struct PresetWriterTests {
  private let preset = Preset(
    name: "Ünï \"q\"", description: "two\nlines",
    ports: .init(inputs: [["a"], ["b", "c"]], outputs: [["l", "r"]]),
    nodes: [
      .init("eq", kind: "equalizer", parameters: ["band2Type": 7, "band2Enabled": 1, "band1Gain": -3.1]),
      .init("m", kind: "mixer", parameters: ["input3Pan": 0.25, "input0Volume": 0.1], isBypassed: true),
      .init("g", kind: "gain"),
    ],
    connections: [
      .init(from: .init("input"), to: .init("eq")),
      .init(from: .init("input", bus: 1), to: .init("m", bus: 2), map: [1, 0]),
      .init(from: .init("eq"), to: .init("m")),
      .init(from: .init("g"), to: .init("m", bus: 1), isFeedback: true),
      .init(from: .init("m"), to: .init("g")),
    ])

  @Test("what is written reads back equal")
  func roundTrip() throws {
    let bytes = PresetWriter.write(preset, catalog: TestCatalog.standard)
    #expect(try PresetReader.read(bytes, catalog: TestCatalog.standard) == preset)
  }

  @Test("choices go by name, switches by true and false, in declared order, connections in the shortest form")
  func text() {
    let text = String(decoding: PresetWriter.write(preset, catalog: TestCatalog.standard), as: UTF8.self)
    #expect(text.contains(#""parameters": { "band1Gain": -3.1, "band2Type": "lowShelf", "band2Enabled": true }"#))
    #expect(text.contains(#""parameters": { "input0Volume": 0.1, "input3Pan": 0.25 }"#))
    #expect(text.contains(#"{ "from": "input:1", "to": "m:2", "map": [1, 0] }"#))
    #expect(text.contains(#"{ "from": "eq", "to": "m:0" }"#))
    #expect(text.contains(#"{ "from": "input", "to": "eq" }"#))
    #expect(text.contains(#"["b", "c"]"#))
    #expect(text.contains(#"{ "name": "g", "kind": "gain" }"#))
  }

  @Test("defaults are left out")
  func defaults() {
    let preset = Preset(name: "x", nodes: [.init("g", kind: "gain", parameters: ["gain": 0])])
    let text = String(decoding: PresetWriter.write(preset, catalog: TestCatalog.standard), as: UTF8.self)
    #expect(!text.contains("parameters"))
  }
}
