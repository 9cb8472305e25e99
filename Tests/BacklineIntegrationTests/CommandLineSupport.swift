import BacklineTestSupport
import Synchronization

@testable import BacklineCommand

/// Keeps what a command writes.
final class RecordedOutput: TextOutput {
  private let written = Mutex("")

  var text: String { written.withLock { $0 } }

  func write(_ text: String) throws(CommandError) { written.withLock { $0 += text } }
}

/// An output whose reader has gone.
struct ClosedOutput: TextOutput {
  func write(_ text: String) throws(CommandError) { throw .outputClosed }
}

/// What came of a command run inside the test.
struct CommandOutcome {
  let code: ExitCode
  let output: String
  let errors: String

  /// Runs what follows the program's name.
  init(_ words: String..., commands: [ProgramCommand] = BacklineProgram.commands, terminal: Terminal = .none) {
    self.init(words, commands: commands, terminal: terminal)
  }

  init(_ words: [String], commands: [ProgramCommand] = BacklineProgram.commands, terminal: Terminal = .none) {
    let output = RecordedOutput(), errors = RecordedOutput()
    let context = CommandContext(output: output, errors: errors, terminal: terminal)
    code = BacklineProgram.run(words, commands: commands, context)
    self.output = output.text
    self.errors = errors.text
  }
}
