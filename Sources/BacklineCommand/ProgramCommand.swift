import BacklinePresets

/// A command with what it does.
struct ProgramCommand: Sendable {
  let declaration: CommandDeclaration
  /// Does it, and returns how it ended; runs on the main thread.
  let run: @Sendable (ParsedArguments, CommandContext) throws(CommandError) -> ExitCode

  init(
    _ declaration: CommandDeclaration,
    _ run: @escaping @Sendable (ParsedArguments, CommandContext) throws(CommandError) -> ExitCode
  ) {
    self.declaration = declaration
    self.run = run
  }
}

/// What a command has around it.
struct CommandContext: Sendable {
  let output: any TextOutput
  let errors: any TextOutput
  /// What `output` can show.
  let terminal: Terminal

  /// The program's own outputs.
  static func standard() -> CommandContext {
    CommandContext(
      output: DescriptorOutput.standard, errors: DescriptorOutput.error,
      terminal: Terminal(descriptor: DescriptorOutput.standard.descriptor))
  }

  func write(_ text: String) throws(CommandError) { try output.write(text) }

  /// Writes one line of JSON.
  func write(json value: JSONOutput) throws(CommandError) {
    try output.write(JSONWriter.write(value, style: .compact) + "\n")
  }
}
