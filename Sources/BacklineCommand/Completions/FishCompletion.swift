/// Completions for fish.
enum FishCompletion {
  static func script(_ commands: [CommandDeclaration]) -> String {
    var lines = ["# fish completion for backline", "complete -c backline -f"]
    for command in commands {
      lines.append(
        "complete -c backline -n __fish_use_subcommand -a \(command.name) -d \(quoted(command.summary))")
    }
    for command in commands {
      let begin = "complete -c backline -n \(quoted("__fish_seen_subcommand_from \(command.name)"))"
      for option in command.allOptions {
        let name = option.name.dropFirst(2)
        lines.append("\(begin) -l \(name)\(option.value.map(value) ?? "") -d \(quoted(option.summary))")
      }
      if let argument = command.arguments.first {
        let offered = command.name == "help" ? commands.map(\.name) : argument.value.completions
        if !offered.isEmpty { lines.append("\(begin) -a \(quoted(offered.joined(separator: " ")))") }
        if argument.value.rule == .file { lines.append("\(begin) -F") }
      }
    }
    return lines.joined(separator: "\n") + "\n"
  }

  private static func value(_ value: ValueDeclaration) -> String {
    switch value.rule {
    case .file: " -r -F"
    case .folder: " -x -a '(__fish_complete_directories)'"
    default: value.completions.isEmpty ? " -x" : " -x -a \(quoted(value.completions.joined(separator: " ")))"
    }
  }

  private static func quoted(_ text: String) -> String {
    "'"
      + text.reduce(into: "") { result, character in
        if character == "'" || character == "\\" { result.append("\\") }
        result.append(character)
      } + "'"
  }
}
