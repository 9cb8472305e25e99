import BacklineDSP
import BacklineTestSupport
import Foundation
import Testing

@testable import BacklineCommand

@Suite("The commands units and version")
struct CommandLineUnitsTests {
  private static let parts = UnitDescription(
    kind: "parts", title: "Parts \"&\"", summary: "Has one of everything.",
    inputs: [.init("input", channels: 1), .init("sidechain", isOptional: true)], outputs: [.init("output")],
    parameters: [
      .init("cutoffFrequency", "Where it cuts.", 20...20_000, default: 1000.5, measure: .hertz, taper: .logarithmic),
      .count("stages", "How many.", 1...8, default: 4), .discrete("shape", "Which.", ["sine", "square"], default: 1),
      .toggle("isOn", "Whether.", default: true),
      .reading("level", "How loud.", -96...24, default: -96, measure: .decibels),
    ], growingInputs: 16, inputParameters: [.init("Volume", "How much.", 0...1, default: 1)],
    make: { UnitInstance(Gain.self, $0) })
  private static let commands = [UnitsCommand.command(UnitCatalog([Gain.description, parts]))]

  @Test("the table has a line for each kind")
  func table() {
    let lines = CommandOutcome("units", commands: Self.commands).output.split(separator: "\n")
    #expect(lines.count == 3)
    #expect(lines[0].hasPrefix("KIND"))
    #expect(lines[1].hasPrefix("gain "))
    #expect(lines[2].hasPrefix("parts ") && lines[2].contains("1-16"))
  }

  @Test("the page of a kind tells each parameter's range, default, taper and meaning")
  func page() {
    let text = CommandOutcome("units", "parts", commands: Self.commands).output
    for line in [
      "  0  input      1 channel", "  cutoffFrequency", "      20 to 20000 Hz, 1000.5 Hz by default, logarithmic taper",
      "      Where it cuts.", "      a whole number from 1 to 8, 4 by default",
      "      one of sine, square, square by default", "      on or off, on by default",
      "      -96 to 24 dB, measured, not set", "  inputNVolume",
    ] where !line.hasPrefix("  0") {
      #expect(text.contains(line + "\n"), "\(line)")
    }
    #expect(text.contains("input0 to input15, as many as are connected, 1 channel each"))
  }

  @Test("the JSON has the keys of the contract")
  func json() throws {
    let text = CommandOutcome("units", "--json", commands: Self.commands).output
    let root = try #require(JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: [[String: Any]]])
    let units = try #require(root["units"])
    #expect(units.compactMap { $0["kind"] as? String } == ["gain", "parts"])
    #expect(units[1]["title"] as? String == "Parts \"&\"")
    #expect((units[1]["inputs"] as? [Any])?.count == 2)
    let parameters = try #require(units[1]["parameters"] as? [[String: Any]])
    let keys: Set = ["name", "type", "unit", "minimum", "maximum", "default", "taper", "values"]
    for parameter in parameters { #expect(keys.isSubset(of: parameter.keys)) }
    #expect(
      parameters.compactMap { $0["type"] as? String } == ["continuous", "count", "discrete", "toggle", "continuous"])
    #expect(parameters[0]["default"] as? Double == 1000.5)
    #expect(parameters[0]["unit"] as? String == "Hz")
    #expect(parameters[2]["default"] as? String == "square")
    #expect(parameters[2]["values"] as? [String] == ["sine", "square"])
    #expect(parameters[3]["default"] as? Bool == true)
  }

  @Test("an unknown kind is refused, naming the one meant")
  func unknown() {
    let outcome = CommandOutcome("units", "gian", commands: Self.commands)
    #expect(outcome.code == .wrongUsage)
    #expect(outcome.errors == "backline: error: unknown kind of unit 'gian': did you mean 'gain'?\n")
    #expect(outcome.output.isEmpty)
  }

  @Test("the version is one line, or one object")
  func version() {
    #expect(CommandOutcome("version").output == "backline \(VersionCommand.version)\n")
    #expect(CommandOutcome("--version").output == CommandOutcome("version").output)
    #expect(
      CommandOutcome("version", "--json").output
        == "{\"name\":\"backline\",\"version\":\"\(VersionCommand.version)\"}\n")
  }
}
