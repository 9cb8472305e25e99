/// The help, written from the declarations.
enum HelpText {
  /// The widest line of help in characters.
  static let mostColumns = 100

  /// `backline graph PRESET [--format text|dot|svg]`.
  static func usage(_ command: CommandDeclaration) -> String {
    let options = command.options.map { "[\($0.usage)]\($0.isRepeatable ? " ..." : "")" }
    return (["backline", command.name] + command.arguments.map(\.usage) + options).joined(separator: " ")
  }

  /// The help on the program.
  static func program(_ commands: [CommandDeclaration], _ terminal: Terminal = .none) -> String {
    let width = min(terminal.columns, mostColumns)
    let style = terminal.style
    let codes = ExitCode.allCases.map { [String($0.rawValue), $0.summary] }
    return "Backline, a live effects rack for JACK, rewired while it plays.\n\n"
      + heading("Usage", style) + "  backline COMMAND [ARGUMENT ...] [--option VALUE ...]\n\n"
      + heading("Commands", style)
      + TextLayout.table(commands.map { [$0.name, $0.summary] }, indent: 2, width: width, style: style) + "\n"
      + heading("Exit codes", style) + TextLayout.table(codes, indent: 2, width: width) + "\n"
      + TextLayout.paragraph("'backline COMMAND --help' shows everything about a command.", width: width)
  }

  /// The help on one command.
  static func command(_ command: CommandDeclaration, _ terminal: Terminal = .none) -> String {
    let width = min(terminal.columns, mostColumns)
    let style = terminal.style
    var text = TextLayout.paragraph(command.summary, width: width) + "\n" + heading("Usage", style)
    text += hangingUsage(command, width) + "\n"
    if !command.arguments.isEmpty {
      let rows = command.arguments.map { [$0.usage, $0.summary + allowed($0.value)] }
      text += heading("Arguments", style) + TextLayout.table(rows, indent: 2, width: width, style: style) + "\n"
    }
    let rows = command.allOptions.map { option in
      let words = option.value.map { $0.hidesWords ? allowed($0) : "" } ?? ""
      return [option.usage, option.summary + words + (option.isRepeatable ? " May be repeated." : "")]
    }
    text += heading("Options", style) + TextLayout.table(rows, indent: 2, width: width, style: style)
    if !command.discussion.isEmpty { text += "\n" + TextLayout.paragraph(command.discussion, width: width) }
    return text
  }

  private static func heading(_ title: String, _ style: TextStyle) -> String { style.bold(title + ":") + "\n" }

  private static func allowed(_ value: ValueDeclaration) -> String {
    guard case .word(let words) = value.rule else { return "" }
    return " One of \(words.joined(separator: ", "))."
  }

  /// The usage, broken between options only, since an option and its value belong together.
  private static func hangingUsage(_ command: CommandDeclaration, _ width: Int) -> String {
    let begin = "  backline \(command.name)"
    let hanging = String(repeating: " ", count: begin.count)
    let options = command.options.map { "[\($0.usage)]\($0.isRepeatable ? " ..." : "")" }
    var lines = [begin]
    for part in command.arguments.map(\.usage) + options {
      let last = lines[lines.count - 1]
      if last.count + 1 + part.count > width && last != hanging && last != begin {
        lines.append(hanging + " " + part)
      } else {
        lines[lines.count - 1] = last + " " + part
      }
    }
    return lines.joined(separator: "\n") + "\n"
  }
}
