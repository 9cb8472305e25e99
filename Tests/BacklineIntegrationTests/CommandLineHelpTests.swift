import BacklineTestSupport
import Testing

@testable import BacklineCommand

@Suite("Help and completions")
struct CommandLineHelpTests {
  @Test("the help on a command names each of its options and arguments once", arguments: CommandDeclaration.all)
  func command(declaration: CommandDeclaration) {
    let text = HelpText.command(declaration, Terminal(isTerminal: true, style: .plain, columns: 80))
    #expect(text.contains("backline \(declaration.name)"))
    for option in declaration.options { #expect(text.contains("\n  \(option.usage) ")) }
    for argument in declaration.arguments { #expect(text.contains("\n  \(argument.usage) ")) }
    #expect(text.split(separator: "\n").allSatisfy { $0.count <= 80 && !$0.hasSuffix(" ") })
  }

  @Test("the help on the program names each command and exit code")
  func program() {
    let text = HelpText.program(CommandDeclaration.all)
    for command in CommandDeclaration.all { #expect(text.contains("\n  \(command.name) ")) }
    for code in ExitCode.allCases { #expect(text.contains("\n  \(code.rawValue) ")) }
  }

  @Test("help and --help say the same, and help on an unknown command is refused")
  func same() {
    #expect(CommandOutcome("help", "units").output == CommandOutcome("units", "--help").output)
    #expect(CommandOutcome("help").output == CommandOutcome("--help").output)
    let unknown = CommandOutcome("help", "doktor")
    #expect(unknown.code == .wrongUsage)
    #expect(unknown.errors == "backline: error: unknown command 'doktor': did you mean 'doctor'?\n")
  }

  @Test("bash takes its completions, and completes commands, options, values and kinds by them")
  func bash() throws {
    let script = BashCompletion.script(CommandDeclaration.all)
    let checked = try ProcessRunner.run("/bin/bash", ["-n", "-c", script])
    #expect(checked.status == 0 && checked.errors.isEmpty, "\(checked.errors)")
    for (words, expected) in [
      (["st"], "status"), (["run", "--ho"], "--host"), (["run", "--host", "ti"], "timer"),
      (["run", "--host", "=", "ja"], "jack"), (["units", "gai"], "gain"), (["completions", "z"], "zsh"),
      (["help", "doc"], "doctor"), (["run", "--name", "x"], ""),
    ] {
      let line = (["backline"] + words).map { "'\($0)'" }.joined(separator: " ")
      let test = "\(script)\nCOMP_WORDS=(\(line)); COMP_CWORD=\(words.count); _backline; echo \"${COMPREPLY[*]}\""
      #expect(try ProcessRunner.run("/bin/bash", ["-c", test]).output == expected + "\n")
    }
  }

  @Test("zsh and fish take their completions where they are installed, and each option is in them")
  func otherShells() throws {
    let zsh = ZshCompletion.script(CommandDeclaration.all)
    let fish = FishCompletion.script(CommandDeclaration.all)
    for command in CommandDeclaration.all {
      for option in command.allOptions {
        #expect(zsh.contains("'\(option.isRepeatable ? "*" : "")\(option.name)\(option.value == nil ? "" : "=")["))
        #expect(fish.contains("__fish_seen_subcommand_from \(command.name)' -l \(option.name.dropFirst(2))"))
      }
    }
    for (shell, script) in [("/usr/bin/zsh", zsh), ("/usr/bin/fish", fish)] {
      guard let checked = try? ProcessRunner.run(shell, ["-n", "-c", script]) else { continue }
      #expect(checked.status == 0, "\(checked.errors)")
    }
  }

  @Test("an error stays on one line, whatever it quotes")
  func oneLine() {
    let outcome = CommandOutcome("a\nb\u{1B}[2J")
    #expect(outcome.code == .wrongUsage)
    #expect(outcome.errors.hasPrefix("backline: error: unknown command 'a\\nb\\u{1b}[2J'"))
    #expect(outcome.errors.filter { $0 == "\n" }.count == 1)
  }
}
