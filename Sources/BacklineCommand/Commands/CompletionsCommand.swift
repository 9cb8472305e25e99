/// `backline completions SHELL`.
enum CompletionsCommand {
  static func command(_ declarations: @escaping @Sendable () -> [CommandDeclaration]) -> ProgramCommand {
    ProgramCommand(.completions) { arguments, context throws(CommandError) in
      let commands = declarations()
      switch arguments[.shell] {
      case "bash": try context.write(BashCompletion.script(commands))
      case "zsh": try context.write(ZshCompletion.script(commands))
      default: try context.write(FishCompletion.script(commands))
      }
      return .done
    }
  }
}
