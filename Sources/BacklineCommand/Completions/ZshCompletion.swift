/// Completions for zsh.
enum ZshCompletion {
  static func script(_ commands: [CommandDeclaration]) -> String {
    """
    #compdef backline
    # zsh completion for backline
    _backline() {
      local -a commands
      commands=(
    \(commands.map { "    " + quoted("\($0.name):\($0.summary)") }.joined(separator: "\n"))
      )
      if (( CURRENT == 2 )); then
        _describe command commands
        return
      fi
      local command=$words[2]
      shift words
      (( CURRENT-- ))
      case $command in
    \(commands.map { commandCase($0, commands) }.joined(separator: "\n"))
      esac
    }
    if [[ $funcstack[1] == _backline ]]; then
      _backline "$@"
    else
      compdef _backline backline
    fi

    """
  }

  private static func commandCase(_ command: CommandDeclaration, _ commands: [CommandDeclaration]) -> String {
    let options = command.allOptions.map { option in
      let begin = (option.isRepeatable ? "*" : "") + option.name
      let summary = "[\(escaped(option.summary))]"
      guard let value = option.value else { return begin + summary }
      return begin + "=" + summary + ":\(value.placeholder):\(action(value))"
    }
    let arguments = command.arguments.enumerated().map { index, argument in
      let value =
        command.name == "help" ? ValueDeclaration("COMMAND", .word(commands.map(\.name))) : argument.value
      let place = argument.isRepeatable ? "*" : argument.isOptional ? "\(index + 1):" : "\(index + 1)"
      return "\(place):\(value.placeholder):\(action(value))"
    }
    let specifications = (options + arguments).map { "        " + quoted($0) }.joined(separator: " \\\n")
    return "    \(command.name))\n      _arguments \\\n\(specifications)\n      ;;"
  }

  private static func action(_ value: ValueDeclaration) -> String {
    switch value.rule {
    case .file: "_files"
    case .folder: "_files -/"
    default: value.completions.isEmpty ? " " : "(\(value.completions.joined(separator: " ")))"
    }
  }

  /// A summary inside the brackets of a specification.
  private static func escaped(_ text: String) -> String {
    text.reduce(into: "") { result, character in
      if "[]:\\".contains(character) { result.append("\\") }
      result.append(character)
    }
  }

  private static func quoted(_ text: String) -> String {
    "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
  }
}
