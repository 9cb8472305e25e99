import BacklineDSP
import BacklineEngine
import BacklinePresets
import Testing

@Suite("Preset reader")
struct PresetReaderTests {
  private func expect(
    _ text: String, _ keyPath: String, _ words: String, line: Int? = nil, column: Int? = nil,
    at location: SourceLocation = #_sourceLocation
  ) {
    let found = problems(text)
    #expect(found.count == 1, "\(found)", sourceLocation: location)
    #expect(found.first?.keyPath == keyPath, sourceLocation: location)
    #expect(
      found.first?.message.contains(words) == true, "\(found.first?.message ?? "nothing")", sourceLocation: location)
    if let line { #expect(found.first?.line == line, sourceLocation: location) }
    if let column { #expect(found.first?.column == column, sourceLocation: location) }
  }

  private func node(_ parameters: String, kind: String = "compressor") -> String {
    presetText(nodes: "{\"name\": \"n\", \"kind\": \"\(kind)\",\n\"parameters\": {\(parameters)}}")
  }

  @Test("the example of the documentation reads as it is meant")
  func example() throws {
    let text = """
      { "format": "backline.preset", "version": 1, "name": "Clean funk", "description": "...",
        "ports": { "inputs": ["in_1"], "outputs": ["out_1", "out_2"] },
        "nodes": [ { "name": "comp", "kind": "compressor", "parameters": { "threshold": -18, "ratio": 4 }, "bypass": false } ],
        "connections": [ { "from": "input", "to": "comp" }, { "from": "comp", "to": "output" } ] }
      """
    let preset = try PresetReader.read(Array(text.utf8), catalog: TestCatalog.standard)
    #expect(
      preset
        == Preset(
          name: "Clean funk", description: "...",
          ports: .init(inputs: [["in_1"]], outputs: [["out_1", "out_2"]]),
          nodes: [.init("comp", kind: "compressor", parameters: ["threshold": -18])],
          connections: [
            .init(from: .init("input"), to: .init("comp")), .init(from: .init("comp"), to: .init("output")),
          ]))
  }

  @Test("ports are a stereo pair where the file is silent")
  func defaultPorts() throws {
    let preset = try PresetReader.read(Array(presetText().utf8), catalog: TestCatalog.standard)
    #expect(preset.ports == .stereo)
  }

  @Test("another format or a newer version is all that is told")
  func identity() {
    expect("{\"format\": \"x\", \"version\": 9, \"y\": 1}", "format", "not a preset")
    expect(
      "{\"format\": \"backline.preset\", \"version\": 2, \"y\": 1}", "version", "newer than 1", line: 1, column: 42)
    expect("{\"format\": \"backline.preset\", \"version\": 0}", "version", "whole number")
    expect("{\"format\": \"backline.preset\", \"version\": \"1\"}", "version", "whole number")
    expect("[]", "$", "object")
    expect("{,", "$", "key")
  }

  @Test("missing keys are named")
  func missing() {
    let found = problems("{}").map(\.keyPath)
    #expect(found == ["format", "version", "name", "nodes", "connections"])
    #expect(problems(presetText(nodes: "{}")).map(\.keyPath) == ["nodes[0].name", "nodes[0].kind"])
    #expect(problems(presetText(connections: "{}")).map(\.keyPath) == ["connections[0].from", "connections[0].to"])
    #expect(problems(presetText(ports: "{}")).map(\.keyPath) == ["ports.inputs", "ports.outputs"])
  }

  @Test("unknown keys are refused everywhere, with the one meant")
  func unknownKeys() {
    expect(
      presetText().replacing("\"nodes\"", with: "\"node\": 1, \"nodes\""), "node", "did you mean `nodes`?", line: 2,
      column: 1)
    expect(
      presetText(nodes: "{\"name\": \"a\", \"kind\": \"gain\", \"bypas\": true}"), "nodes[0].bypas",
      "did you mean `bypass`?")
    expect(
      presetText(connections: "{\"from\": \"input\", \"to\": \"output\", \"gain level\": 1}"),
      "connections[0][\"gain level\"]", "not known")
    expect(presetText(ports: "{\"inputs\": [], \"outputs\": [], \"input\": []}"), "ports.input", "`inputs`")
  }

  @Test("types are checked")
  func types() {
    expect(presetText(nodes: "7"), "nodes[0]", "object")
    expect(presetText(nodes: "{\"name\": 7, \"kind\": \"gain\"}"), "nodes[0].name", "string")
    expect(presetText(nodes: "{\"name\": \"a\", \"kind\": null}"), "nodes[0].kind", "string")
    expect(
      presetText(nodes: "{\"name\": \"a\", \"kind\": \"gain\", \"bypass\": 1}"), "nodes[0].bypass", "true or false")
    expect(
      presetText(nodes: "{\"name\": \"a\", \"kind\": \"gain\", \"parameters\": []}"), "nodes[0].parameters", "object")
    expect(presetText().replacing("\"Test\"", with: "\"\""), "name", "empty")
    expect(presetText().replacing("\"Test\"", with: "\"a\\nb\""), "name", "control")
  }

  @Test("names follow the rule and are unique")
  func names() {
    expect(presetText(nodes: "{\"name\": \"a b\", \"kind\": \"gain\"}"), "nodes[0].name", "space")
    expect(presetText(nodes: "{\"name\": \"output\", \"kind\": \"gain\"}"), "nodes[0].name", "host")
    expect(
      presetText(nodes: "{\"name\": \"a\", \"kind\": \"gain\"},\n{\"name\": \"a\", \"kind\": \"pan\"}"),
      "nodes[1].name",
      "there already", line: 3, column: 10)
  }

  @Test("unknown kinds and parameters are refused with the one meant")
  func unknown() {
    expect(presetText(nodes: "{\"name\": \"a\", \"kind\": \"compresor\"}"), "nodes[0].kind", "`compressor`?")
    expect(node("\"treshold\": -3"), "nodes[0].parameters.treshold", "`threshold`?", line: 3, column: 16)
    expect(node("\"input4Volume\": 1", kind: "mixer"), "nodes[0].parameters.input4Volume", "no such parameter")
    expect(node("\"gainReduction\": 1"), "nodes[0].parameters.gainReduction", "measured")
  }

  @Test("values are checked by the parameter's kind")
  func values() {
    expect(node("\"threshold\": 3"), "nodes[0].parameters.threshold", "-60 to 0 dB", line: 3, column: 29)
    expect(node("\"threshold\": \"-3\""), "nodes[0].parameters.threshold", "number")
    expect(node("\"threshold\": true"), "nodes[0].parameters.threshold", "number")
    expect(node("\"threshold\": [1]"), "nodes[0].parameters.threshold", "a list")
    expect(node("\"law\": \"constantPowe\"", kind: "pan"), "nodes[0].parameters.law", "`constantPower`?")
    expect(node("\"law\": 3", kind: "pan"), "nodes[0].parameters.law", "one of")
    expect(node("\"pingPong\": 0.5", kind: "delay"), "nodes[0].parameters.pingPong", "true or false")
    expect(node("\"voices\": 1.5", kind: "oscillator"), "nodes[0].parameters.voices", "whole number")
  }

  @Test("values are kept as they will sound, defaults left out")
  func kept() throws {
    func parameters(_ text: String, _ kind: String) throws -> [String: Float] {
      let preset = try PresetReader.read(Array(node(text, kind: kind).utf8), catalog: TestCatalog.standard)
      return preset.nodes[0].parameters
    }
    #expect(try parameters("\"threshold\": -18.1, \"ratio\": 4", "compressor") == ["threshold": -18.1])
    #expect(try parameters("\"law\": \"linear\"", "pan") == ["law": 2])
    #expect(try parameters("\"law\": 1", "pan") == ["law": 1])
    #expect(try parameters("\"pingPong\": true", "delay") == ["pingPong": 1])
    #expect(try parameters("\"pingPong\": 0", "delay") == [:])
    #expect(try parameters("\"input3Pan\": -0.5, \"input0Volume\": 1", "mixer") == ["input3Pan": -0.5])
  }

  @Test("all problems are told, in the order of the file, up to a limit")
  func several() throws {
    let text = presetText(
      nodes: (0..<30).map { "{\"name\": \"n\($0)\", \"kind\": \"x\($0)\"}" }.joined(separator: ",\n"))
    #expect(problems(text).map(\.line) == Array(2..<32))
    var limits = PresetLimits()
    limits.problems = 10
    do {
      _ = try PresetReader.read(Array(text.utf8), catalog: TestCatalog.standard, limits: limits)
      Issue.record("read")
    } catch {
      #expect(error.problems.count == 10)
      #expect(error.omittedCount == 20)
      #expect(error.lines(file: "a.json").count == 11)
      #expect(error.lines(file: "a.json")[0].hasPrefix("a.json:2:34: nodes[0].kind: there is no unit `x0`"))
      #expect(error.engineError(file: "a.json").code == .invalidPreset)
      #expect(error.engineError(file: "a.json").message.hasSuffix("(and 29 more)"))
    }
  }

  @Test("counts are limited")
  func limits() {
    var limits = PresetLimits()
    limits.nodes = 1
    limits.connections = 0
    let text = presetText(
      nodes: "{\"name\": \"a\", \"kind\": \"gain\"}, {\"name\": \"b\", \"kind\": \"gain\"}",
      connections: "{\"from\": \"input\", \"to\": \"output\"}")
    #expect(problems(text, limits: limits).map(\.keyPath) == ["nodes", "connections"])
  }

  @Test("a file belongs to a player or a convolver, and is written again")
  func files() throws {
    let text = presetText(nodes: #"{"name": "room", "kind": "convolver", "file": "responses/hall.wav"}"#)
    let preset = try PresetReader.read(Array(text.utf8), catalog: .standard)
    #expect(preset.nodes[0].file == "responses/hall.wav")
    #expect(try PresetReader.read(PresetWriter.write(preset, catalog: .standard), catalog: .standard) == preset)
    let graph = preset.graph(catalog: .standard)
    #expect(graph.nodes[0].file == "responses/hall.wav")
    #expect(Preset(name: preset.name, graph: graph, catalog: .standard).nodes[0].file == "responses/hall.wav")
  }

  @Test(
    "a file that a unit has no use for, or that is no path, is refused with its place",
    arguments: [
      (#"{"name": "g", "kind": "gain", "file": "hall.wav"}"#, "works with no file"),
      (#"{"name": "c", "kind": "convolver", "file": ""}"#, "no path"),
      (#"{"name": "c", "kind": "convolver", "file": 7}"#, "a string in double quotes"),
    ])
  func badFiles(node: String, message: String) {
    let found = problems(presetText(nodes: node), catalog: .standard)
    #expect(found.count == 1 && "\(found)".contains(message) && "\(found)".contains("file"), "\(found)")
  }

  @Test("a unit's preset is taken before what the file says itself, in whatever order it stands")
  func unitPreset() throws {
    let node =
      #"{"name": "r", "kind": "reverb", "parameters": {"decayTime": 2, "preset": "cathedral", "wetDryMix": 40}}"#
    let preset = try PresetReader.read(Array(presetText(nodes: node).utf8), catalog: .standard)
    var wanted = ReverbPreset.cathedral.parameters.filter { name, value in
      Reverb.description.parameter(named: name)?.defaultValue != value
    }
    wanted["decayTime"] = nil
    wanted["wetDryMix"] = 40
    #expect(preset.nodes[0].parameters == wanted)
    let plain = #"{"name": "r", "kind": "reverb", "parameters": {"preset": "plate"}}"#
    let read = try PresetReader.read(Array(presetText(nodes: plain).utf8), catalog: .standard)
    #expect(read.nodes[0].parameters["preset"] == 6 && read.nodes[0].parameters["character"] == 1)
    #expect(try PresetReader.read(PresetWriter.write(read, catalog: .standard), catalog: .standard) == read)
  }
}
