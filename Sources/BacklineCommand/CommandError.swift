/// Why a command ended without success: the exit code for scripts, one sentence for people.
struct CommandError: Error, Equatable {
  let exitCode: ExitCode
  /// What is wrong and what to do about it; empty where nothing is to be said.
  let message: String

  init(_ exitCode: ExitCode, _ message: String) {
    self.exitCode = exitCode
    self.message = message
  }

  /// Who read our output has closed it, as `head` does: they have what they wanted, so that the command ends quietly.
  static let outputClosed = CommandError(.done, "")

  /// Wrong usage.
  static func usage(_ message: String) -> CommandError { CommandError(.wrongUsage, message) }

  /// The line for standard error; empty where nothing is to be said.
  var line: String { message.isEmpty ? "" : "backline: error: \(SafeText.line(message))\n" }
}
