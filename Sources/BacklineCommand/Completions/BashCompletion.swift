/// Completions for bash.
enum BashCompletion {
  static func script(_ commands: [CommandDeclaration]) -> String {
    """
    # bash completion for backline
    _backline() {
      local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} command=${COMP_WORDS[1]}
      COMPREPLY=()
      # bash breaks words at '=': --option=value comes as three.
      if [[ $current == "=" ]]; then
        current=
      elif [[ $previous == "=" ]]; then
        previous=${COMP_WORDS[COMP_CWORD-2]}
      fi
      if [[ $COMP_CWORD -eq 1 ]]; then
        COMPREPLY=($(compgen -W "\(words(commands.map(\.name) + ["--help", "--version"]))" -- "$current"))
        return
      fi
      case "$command $previous" in
    \(commands.flatMap(optionCases).joined(separator: "\n"))
      esac
      case "$command" in
    \(commands.map { commandCase($0, commands) }.joined(separator: "\n"))
      esac
    }
    complete -F _backline backline

    """
  }

  private static func optionCases(_ command: CommandDeclaration) -> [String] {
    command.options.compactMap { option in
      option.value.map { "    \"\(command.name) \(option.name)\")\n\(completion($0, indent: 6))\n      return ;;" }
    }
  }

  private static func commandCase(_ command: CommandDeclaration, _ commands: [CommandDeclaration]) -> String {
    let options = words(command.allOptions.map(\.name))
    var lines = [
      "    \(command.name))", "      if [[ $current == -* ]]; then",
      "        COMPREPLY=($(compgen -W \"\(options)\" -- \"$current\"))",
    ]
    if let value = command.arguments.first?.value {
      let shown = command.name == "help" ? ValueDeclaration("COMMAND", .word(commands.map(\.name))) : value
      lines += ["      else", completion(shown, indent: 8)]
    }
    return (lines + ["      fi ;;"]).joined(separator: "\n")
  }

  private static func completion(_ value: ValueDeclaration, indent: Int) -> String {
    let space = String(repeating: " ", count: indent)
    switch value.rule {
    case .file, .folder:
      let kind = value.rule == .file ? "-f" : "-d"
      return space + "compopt -o filenames\n" + space + "mapfile -t COMPREPLY < <(compgen \(kind) -- \"$current\")"
    default:
      if value.completions.isEmpty { return space + ":" }
      return space + "COMPREPLY=($(compgen -W \"\(words(value.completions))\" -- \"$current\"))"
    }
  }

  private static func words(_ words: [String]) -> String { words.joined(separator: " ") }
}
