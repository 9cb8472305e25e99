import BacklinePresets
import Testing

@Suite("Preset ports")
struct PresetPortsTests {
  private func paths(_ ports: String) -> [String] { problems(presetText(ports: ports)).map(\.keyPath) }

  @Test("a list of names is one bus, a list of lists one bus each")
  func buses() throws {
    let text = presetText(ports: "{\"inputs\": [[\"a\", \"b\"], [\"c\"]], \"outputs\": [\"l\", \"r\"]}")
    let preset = try PresetReader.read(Array(text.utf8), catalog: TestCatalog.standard)
    #expect(preset.ports == .init(inputs: [["a", "b"], ["c"]], outputs: [["l", "r"]]))
    #expect(paths("{\"inputs\": [], \"outputs\": []}") == [])
  }

  @Test("names of ports are what JACK takes")
  func names() {
    #expect(paths("{\"inputs\": [\"\"], \"outputs\": []}") == ["ports.inputs[0]"])
    #expect(paths("{\"inputs\": [\"a:b\"], \"outputs\": []}") == ["ports.inputs[0]"])
    #expect(paths("{\"inputs\": [\"a\\u0001\"], \"outputs\": []}") == ["ports.inputs[0]"])
    #expect(paths("{\"inputs\": [1], \"outputs\": []}") == ["ports.inputs[0]"])
    #expect(paths("{\"inputs\": [\"a\"], \"outputs\": [\"b\", \"a\"]}") == ["ports.outputs[1]"])
    #expect(paths("{\"inputs\": [[\"a\"], [\"b\", \"a\"]], \"outputs\": []}") == ["ports.inputs[1][1]"])
    let long = String(repeating: "x", count: 129)
    #expect(paths("{\"inputs\": [\"\(long)\"], \"outputs\": []}") == ["ports.inputs[0]"])
  }

  @Test("buses are whole and not too many")
  func shape() {
    #expect(paths("{\"inputs\": [[\"a\"], \"b\"], \"outputs\": []}") == ["ports.inputs[1]"])
    #expect(paths("{\"inputs\": [[]], \"outputs\": []}") == ["ports.inputs[0]"])
    #expect(paths("{\"inputs\": \"a\", \"outputs\": []}") == ["ports.inputs"])
    let list = { (range: Range<Int>) in "[" + range.map { "\"p\($0)\"" }.joined(separator: ", ") + "]" }
    #expect(paths("{\"inputs\": \(list(0..<32)), \"outputs\": []}") == [])
    #expect(paths("{\"inputs\": \(list(0..<33)), \"outputs\": []}") == ["ports.inputs"])
    let three = "[\(list(0..<32)), \(list(32..<64)), \(list(64..<65))]"
    #expect(paths("{\"inputs\": \(three), \"outputs\": []}") == ["ports.inputs"])
  }
}
