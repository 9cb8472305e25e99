import Glibc

/// The program `backline`.
enum BacklineProgram {
  /// The commands, in the order of the help.
  static let commands: [ProgramCommand] = [
    RunCommand.command(), RenderCommand.command(), RecordCommand.command(), RecoverCommand.command(),
    UnitsCommand.command(), CheckCommand.command(),
    GraphCommand.command(),
    OSCCommand.command(wire: PacketWire()), StatusCommand.command(wire: PacketWire()),
    MetersCommand.command(wire: PacketWire()), DoctorCommand.command(wire: PacketWire()), VersionCommand.command(),
    CompletionsCommand.command { commands.map(\.declaration) }, HelpCommand.command { commands.map(\.declaration) },
  ]

  /// Runs a whole command line, the program's name first, and returns the exit code.
  static func run(_ arguments: [String]) -> Int32 {
    // A pipe closed by its reader is to be seen as an error of `write`, not to kill a rack that plays.
    signal(SIGPIPE, SIG_IGN)
    return run(Array(arguments.dropFirst()), commands: commands, .standard()).rawValue
  }

  /// Runs what follows the program's name.
  static func run(_ words: [String], commands: [ProgramCommand], _ context: CommandContext) -> ExitCode {
    do throws(CommandError) {
      let declarations = commands.map(\.declaration)
      switch try CommandLineParser(declarations).parse(words) {
      case .help(let name): return try HelpCommand.show(name, declarations, context)
      case .run(let name, let arguments):
        guard let command = commands.first(where: { $0.declaration.name == name }) else {
          throw CommandError(.internalError, "the command '\(name)' is declared but not there")
        }
        return try command.run(arguments, context)
      }
    } catch {
      // Where standard error is closed too there is nobody left to tell.
      try? context.errors.write(error.line)
      return error.exitCode
    }
  }
}
