import BacklineDSP
import BacklinePresets
import Foundation
import Testing

@Suite("Shipped presets and their schema")
struct ShippedPresetsTests {
  static let names = [
    "acoustic", "ambient", "bass-amp", "broadcast-loudness", "clean-channel",
    "crunch", "drum-bus", "dub-delay", "edge-of-breakup", "harmonizer-duet",
    "lead", "lo-fi", "mastering", "parallel-compression", "podcast-voice",
    "rotary-organ", "shimmer", "silent-stage-headphones", "slapback", "tape-echo",
    "telephone", "two-input-duo", "vocal", "vocal-studio",
  ]

  private let catalog = UnitCatalog.standard

  static let folder =
    URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .appendingPathComponent("presets").path

  private func schema() throws -> SchemaValidator {
    try SchemaValidator(root: JSONReader.read(PresetFile.read(Self.folder + "/preset.schema.json")))
  }

  private func keys(_ schema: JSONValue?) -> [String] { schema?["properties"]?.object?.map(\.name) ?? [] }

  @Test("the folder holds these presets and no other")
  func list() {
    let library = PresetLibrary(folders: PresetFolders(search: [Self.folder], user: nil), roots: nil)
    #expect(library.entries().map(\.name) == Self.names)
  }

  @Test("every one is valid, described, and whole after being written again", arguments: names)
  func valid(name: String) throws {
    let preset = try PresetFile.load("\(Self.folder)/\(name).json", catalog: catalog)
    #expect(preset.description.count > 60)
    #expect(preset.connections.contains { $0.from.node == "input" })
    #expect(preset.connections.contains { $0.to.node == "output" })
    let written = PresetWriter.write(preset, catalog: catalog)
    #expect(try PresetReader.read(written, catalog: catalog) == preset)
    #expect(try schema().failures(JSONReader.read(written)) == [])
  }

  @Test("the schema takes them as they are", arguments: names)
  func validBySchema(name: String) throws {
    let value = try JSONReader.read(PresetFile.read("\(Self.folder)/\(name).json"))
    #expect(try schema().failures(value) == [])
  }

  @Test("the schema knows the keys that the reader knows")
  func keys() throws {
    let root = try schema().root
    #expect(keys(root) == PresetKeys.root)
    #expect(keys(root["properties"]?["ports"]) == PresetKeys.ports)
    #expect(keys(root["$defs"]?["node"]) == PresetKeys.node)
    #expect(keys(root["$defs"]?["connection"]) == PresetKeys.connection)
  }

  @Test(
    "the schema refuses what the reader refuses by shape",
    arguments: [
      "{}", "[]", presetText(nodes: "7"), presetText(nodes: "{\"name\": \"a\", \"kind\": \"gain\", \"x\": 1}"),
      presetText(nodes: "{\"name\": \"a\", \"kind\": \"gain\", \"parameters\": {\"gain\": null}}"),
      presetText(connections: "{\"from\": \"a\"}"), presetText(ports: "{\"inputs\": [1], \"outputs\": []}"),
    ])
  func refusedAlike(text: String) throws {
    #expect(try !schema().failures(JSONReader.read(Array(text.utf8))).isEmpty)
    #expect(!problems(text).isEmpty)
  }
}
