/// What a command line asks for.
enum CommandLineRequest: Equatable, Sendable {
  /// Help on a command, or on the program where `nil`.
  case help(command: String?)
  case run(command: String, ParsedArguments)
}

/// Reads a command line by the declarations of the commands; all of it or nothing.
///
/// `--option value` and `--option=value` are the same; `--` ends the options; `-` and negative numbers are plain
/// arguments. Options may stand before, between and after arguments and are never abbreviated.
struct CommandLineParser: Sendable {
  let commands: [CommandDeclaration]

  init(_ commands: [CommandDeclaration]) { self.commands = commands }

  /// Reads what follows the program's name.
  func parse(_ words: [String]) throws(CommandError) -> CommandLineRequest {
    guard let first = words.first else { throw .usage("no command was given: 'backline help' lists them") }
    if first == "--help" || first == "-h" { return try alone(first, words, .help(command: nil)) }
    if first == "--version" { return try alone(first, words, .run(command: "version", ParsedArguments())) }
    if first.hasPrefix("-") {
      throw .usage("unknown option '\(first)' before the command: options follow their command, see 'backline help'")
    }
    let command = try declaration(first)
    var reader = CommandReader(command, Array(words.dropFirst()))
    return try reader.read()
  }

  /// The declaration of a command.
  func declaration(_ name: String) throws(CommandError) -> CommandDeclaration {
    if let found = commands.first(where: { $0.name == name }) { return found }
    let suggestion = Suggestion.sentence(for: name, among: commands.map(\.name))
    throw .usage("unknown command '\(name)'\(suggestion.isEmpty ? ": 'backline help' lists them" : suggestion)")
  }

  private func alone(
    _ option: String, _ words: [String], _ request: CommandLineRequest
  ) throws(CommandError) -> CommandLineRequest {
    if words.count > 1 { throw .usage("unexpected argument '\(words[1])' after \(option)") }
    return request
  }
}

/// Reads what follows one command.
private struct CommandReader {
  let command: CommandDeclaration
  let words: [String]
  var position = 0
  var result = ParsedArguments()
  var plain: [String] = []

  init(_ command: CommandDeclaration, _ words: [String]) {
    self.command = command
    self.words = words
  }

  mutating func read() throws(CommandError) -> CommandLineRequest {
    while position < words.count {
      let word = words[position]
      position += 1
      if word == "--" {
        plain += words[position...]
        position = words.count
      } else if word == "--help" || word == "-h" {
        return .help(command: command.name)
      } else if Self.isOption(word) {
        try readOption(word)
      } else {
        plain.append(word)
      }
    }
    try assign()
    return .run(command: command.name, result)
  }

  /// True for what begins like an option: not `-`, and not a negative number.
  private static func isOption(_ word: String) -> Bool {
    guard word.hasPrefix("-"), let next = word.dropFirst().first else { return false }
    return !(next.isASCII && next.isNumber) && next != "."
  }

  private mutating func readOption(_ word: String) throws(CommandError) {
    let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    let name = String(parts[0])
    guard let option = command.options.first(where: { $0.name == name }) else {
      let names = command.allOptions.map(\.name)
      let suggestion = Suggestion.sentence(for: name, among: names)
      let help = ": 'backline \(command.name) --help' lists them"
      throw .usage("unknown option '\(name)' of '\(command.name)'\(suggestion.isEmpty ? help : suggestion)")
    }
    if result.contains(option) && !option.isRepeatable { throw .usage("\(name) was given twice") }
    guard let value = option.value else {
      if parts.count > 1 { throw .usage("\(name) takes no value") }
      result.set(option, nil)
      return
    }
    let text = parts.count > 1 ? String(parts[1]) : try next(after: option)
    if text.isEmpty { throw .usage("\(name) needs a value: \(option.usage)") }
    try value.check(text, of: name)
    result.set(option, text)
  }

  private mutating func next(after option: OptionDeclaration) throws(CommandError) -> String {
    guard position < words.count, !Self.isOption(words[position]) else {
      throw .usage("\(option.name) needs a value: \(option.usage)")
    }
    defer { position += 1 }
    return words[position]
  }

  /// Gives the plain words to the arguments, in order.
  private mutating func assign() throws(CommandError) {
    var rest = plain[...]
    for (index, argument) in command.arguments.enumerated() {
      // One that takes all leaves enough for those after it.
      let needed = command.arguments[(index + 1)...].count { !$0.isOptional }
      let available = argument.isRepeatable || argument.isOptional ? max(0, rest.count - needed) : rest.count
      if available == 0 && !argument.isOptional {
        let missing = rest.isEmpty ? argument.name : command.arguments[index + 1].name
        throw .usage("\(missing) is missing: \(HelpText.usage(command))")
      }
      for word in rest.prefix(argument.isRepeatable ? available : min(1, available)) {
        try argument.value.check(word, of: argument.name)
        result.add(argument, word)
        rest.removeFirst()
      }
    }
    if let extra = rest.first { throw .usage("unexpected argument '\(extra)': \(HelpText.usage(command))") }
  }
}
