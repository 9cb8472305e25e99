import Testing

@testable import BacklineCommand

@Suite("The parser of command lines")
struct CommandLineParserTests {
  private let parser = CommandLineParser(CommandDeclaration.all)

  private func arguments(_ words: String...) throws -> ParsedArguments {
    guard case .run(_, let arguments) = try parser.parse(words) else { throw CommandError.usage("no command") }
    return arguments
  }

  private func refusal(_ words: [String]) -> String? {
    do throws(CommandError) {
      _ = try parser.parse(words)
      return nil
    } catch {
      return error.exitCode == .wrongUsage ? error.message : "exit code \(error.exitCode)"
    }
  }

  @Test("an option's value may follow it or an equals sign")
  func values() throws {
    let spaced = try arguments("run", "--host", "jack", "--name", "a=b", "clean")
    let joined = try arguments("run", "clean", "--host=jack", "--name=a=b")
    #expect(spaced == joined)
    #expect(spaced[.host] == "jack")
    #expect(spaced[.name] == "a=b")
    #expect(spaced[.optionalPreset] == "clean")
    #expect(!spaced.contains(.json))
  }

  @Test("negative numbers and a lone dash are plain arguments, and -- ends the options")
  func plain() throws {
    let values = try arguments("osc", "/node/g/gain", "-6", "-.5", "-", "--port", "9", "--", "--port", "-x")
    #expect(values.all(.values) == ["-6", "-.5", "-", "--port", "-x"])
    #expect(values.integer(.port) == 9)
  }

  @Test("a word beside the whole numbers of a rule is no number")
  func words() throws {
    #expect(try arguments("run", "--threads", "auto").integer(.threads) == nil)
    #expect(try arguments("run", "--threads", "3").integer(.threads) == 3)
  }

  @Test("help is asked for everywhere before --, whatever else is missing")
  func help() throws {
    #expect(try parser.parse(["--help"]) == .help(command: nil))
    #expect(try parser.parse(["graph", "-h"]) == .help(command: "graph"))
    #expect(try parser.parse(["run", "--json", "--help"]) == .help(command: "run"))
    #expect(try parser.parse(["--version"]) == .run(command: "version", ParsedArguments()))
  }

  @Test(
    "what is not understood is refused, naming it and the one meant (R20)",
    arguments: [
      ([], "no command was given: 'backline help' lists them"),
      (["untis"], "unknown command 'untis': did you mean 'units'?"),
      (["publish"], "unknown command 'publish': 'backline help' lists them"),
      (["--json"], "unknown option '--json' before the command: options follow their command, see 'backline help'"),
      (["run", "--sever", "x"], "unknown option '--sever' of 'run': did you mean '--server'?"),
      (["run", "-x"], "unknown option '-x' of 'run': 'backline run --help' lists them"),
      (["run", "--zzzzzz=1"], "unknown option '--zzzzzz' of 'run': 'backline run --help' lists them"),
      (["run", "--name"], "--name needs a value: --name NAME"),
      (["run", "--name", "--json"], "--name needs a value: --name NAME"),
      (["run", "--name="], "--name needs a value: --name NAME"),
      (["run", "--json=yes"], "--json takes no value"),
      (["run", "--json", "--json"], "--json was given twice"),
      (["run", "--host", "jak"], "--host: 'jak' is none of auto, jack, timer: did you mean 'jack'?"),
      (["run", "--osc-port", "65536"], "--osc-port: '65536' is no whole number from 0 to 65535"),
      (["run", "--osc-port", "+1"], "--osc-port: '+1' is no whole number from 0 to 65535"),
      (["run", "--threads", "0"], "--threads: '0' is no whole number from 1 to 64 or 'auto'"),
      (["run", "a", "b"], "unexpected argument 'b'"),
      (["check"], "PRESET is missing: backline check PRESET ..."),
      (["graph", "p", "--format", "png"], "--format: 'png' is none of text, dot, svg"),
      (["--version", "x"], "unexpected argument 'x' after --version"),
    ] as [([String], String)])
  func refused(words: [String], message: String) {
    #expect(refusal(words)?.hasPrefix(message) == true, "\(refusal(words) ?? "accepted")")
  }

  @Test("an argument that takes all leaves what those after it need")
  func repeatableBeforeAnother() throws {
    let batch = try arguments("render", "a", "b", "--json", "c", "out")
    #expect(batch.all(.inputs) == ["a", "b", "c"] && batch[.output] == "out")
    let one = try arguments("render", "out")
    #expect(one.all(.inputs) == [] && one[.output] == "out")
    #expect(refusal(["render"])?.hasPrefix("OUTPUT is missing: backline render [INPUT ...] OUTPUT") == true)
  }

  @Test("a client's name of 63 bytes is taken, one of 64 refused")
  func longName() {
    #expect(refusal(["run", "--name", String(repeating: "n", count: 63)]) == nil)
    #expect(
      refusal(["run", "--name", String(repeating: "é", count: 32)])?.hasSuffix("has 64 bytes, at most 63") == true)
  }

  @Test("the distance of words counts letters put in, left out, replaced and swapped")
  func distance() {
    #expect(Suggestion.distance("", "abc") == 3)
    #expect(Suggestion.distance("stauts", "status") == 1)
    #expect(Suggestion.distance("grpah", "graph") == 1)
    #expect(Suggestion.distance("port", "sport") == 1)
    #expect(Suggestion.distance("doctor", "factory") == 3)
    #expect(Suggestion.closest(to: "x", among: ["units"]) == nil)
    #expect(Suggestion.closest(to: "UNITS", among: ["units"]) == "units")
  }

  @Test("every declaration can be used: names are unique, one argument at most takes what the others leave")
  func declarations() {
    for command in CommandDeclaration.all {
      let names = command.allOptions.map(\.name)
      #expect(Set(names).count == names.count)
      #expect(names.allSatisfy { $0.hasPrefix("--") })
      #expect(command.arguments.count { $0.isRepeatable } <= 1)
      #expect(command.arguments.dropLast().allSatisfy { $0.isRepeatable == $0.isOptional })
    }
    #expect(Set(CommandDeclaration.all.map(\.name)).count == CommandDeclaration.all.count)
  }
}
