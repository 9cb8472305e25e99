/// A command: declared once, read by the parser, the help and the shells' completions alike.
struct CommandDeclaration: Equatable, Sendable {
  let name: String
  /// What it does, one sentence.
  let summary: String
  /// More about it, for its own help; paragraphs are apart by an empty line.
  let discussion: String
  let arguments: [ArgumentDeclaration]
  let options: [OptionDeclaration]

  init(
    _ name: String, _ summary: String, arguments: [ArgumentDeclaration] = [], options: [OptionDeclaration] = [],
    discussion: String = ""
  ) {
    self.name = name
    self.summary = summary
    self.arguments = arguments
    self.options = options
    self.discussion = discussion
  }

  /// The option that every command has.
  static let helpOption = OptionDeclaration("--help", nil, "Shows this help.")

  /// All options with that for help.
  var allOptions: [OptionDeclaration] { options + [Self.helpOption] }
}
