/// `backline help [COMMAND]`.
enum HelpCommand {
  static func command(_ declarations: @escaping @Sendable () -> [CommandDeclaration]) -> ProgramCommand {
    ProgramCommand(.help) { arguments, context throws(CommandError) in
      try show(arguments[.command], declarations(), context)
    }
  }

  /// Shows the help on a command, or on the program where there is none.
  static func show(
    _ name: String?, _ declarations: [CommandDeclaration], _ context: CommandContext
  ) throws(CommandError) -> ExitCode {
    guard let name else {
      try context.write(HelpText.program(declarations, context.terminal))
      return .done
    }
    let declaration = try CommandLineParser(declarations).declaration(name)
    try context.write(HelpText.command(declaration, context.terminal))
    return .done
  }
}
