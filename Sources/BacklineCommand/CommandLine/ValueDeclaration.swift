/// A value that an option or an argument takes: its name in the help, and what is allowed.
struct ValueDeclaration: Equatable, Sendable {
  /// What may be given.
  enum Rule: Equatable, Sendable {
    /// Any text of at most so many bytes of UTF-8.
    case text(maximumBytes: Int = 4096)
    /// One of these words.
    case word([String])
    /// A whole number in the range, or the word.
    case integer(ClosedRange<Int>, or: String? = nil)
    /// The path of a file; the shell completes it.
    case file
    /// The path of a folder; the shell completes it.
    case folder
  }

  /// The name in the help, in capitals.
  let placeholder: String
  let rule: Rule
  /// Words that the shell offers, beside those of the rule.
  let offers: [String]

  init(_ placeholder: String, _ rule: Rule = .text(), offers: [String] = []) {
    self.placeholder = placeholder
    self.rule = rule
    self.offers = offers
  }

  /// The words that the shell offers.
  var completions: [String] {
    switch rule {
    case .word(let words): words
    case .integer(_, let word): offers + (word.map { [$0] } ?? [])
    default: offers
    }
  }

  /// The widest list of words that stands in a usage; of a longer one the placeholder does.
  private static let widestList = 30

  /// True where the usage does not say which words there are.
  var hidesWords: Bool {
    if case .word(let words) = rule { words.joined(separator: "|").count > Self.widestList } else { false }
  }

  /// How the value is shown in the usage: `auto|jack|timer`, `N|auto`, `PORT`.
  var usage: String {
    switch rule {
    case .word(let words): hidesWords ? placeholder : words.joined(separator: "|")
    case .integer(_, let word?): "\(placeholder)|\(word)"
    default: placeholder
    }
  }

  /// Refuses a value that is not allowed; `owner` is the option or argument that it was given to.
  func check(_ text: String, of owner: String) throws(CommandError) {
    switch rule {
    case .text(let limit):
      if text.utf8.count > limit { throw .usage("\(owner): '\(text)' has \(text.utf8.count) bytes, at most \(limit)") }
    case .word(let words):
      if words.contains(text) { return }
      throw .usage(
        "\(owner): '\(text)' is none of \(words.joined(separator: ", "))\(Suggestion.sentence(for: text, among: words))"
      )
    case .integer(let range, let word):
      if text == word { return }
      if !text.hasPrefix("+"), let number = Int(text), range.contains(number) { return }
      let others = word.map { " or '\($0)'" } ?? ""
      throw .usage(
        "\(owner): '\(text)' is no whole number from \(range.lowerBound) to \(range.upperBound)\(others)")
    case .file, .folder:
      if text.isEmpty { throw .usage("\(owner): the path is empty") }
    }
  }
}
