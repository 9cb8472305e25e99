/// The rule that names of nodes keep (R16).
public enum NodeName {
  /// The longest name in bytes of UTF-8.
  public static let longest = 64
  /// The names that stand for the host's side.
  public static let reserved = ["input", "output"]

  /// Refuses what cannot name a node, saying why.
  public static func check(_ name: String) throws(EngineError) {
    if let reason = problem(with: name) { throw EngineError(.invalidName, reason) }
  }

  private static func problem(with name: String) -> String? {
    if name.isEmpty { return "a name has at least one letter" }
    if name.utf8.count > longest { return "a name has at most \(longest) bytes of UTF-8; shorten it" }
    if reserved.contains(name) { return "`\(name)` stands for the audio host; take another name" }
    for scalar in name.unicodeScalars {
      if scalar == " " { return "a name has no spaces; write `_` or `-` instead" }
      if scalar == ":" { return "a name has no `:`, which begins a bus number" }
      if "#*,/?[]{}".unicodeScalars.contains(scalar) { return "a name has no `\(scalar)`, which OSC reserves" }
    }
    return hasControls(name) ? "a name has no control characters" : nil
  }

  /// True where a text has characters that are not seen but change what is: control characters, line and paragraph separators,
  /// and the controls of writing direction, which make another name look the same. No name of anything has them.
  public static func hasControls(_ text: String) -> Bool {
    text.unicodeScalars.contains { scalar in
      switch scalar.properties.generalCategory {
      case .control, .lineSeparator, .paragraphSeparator: true
      default: scalar.properties.isBidiControl
      }
    }
  }
}
