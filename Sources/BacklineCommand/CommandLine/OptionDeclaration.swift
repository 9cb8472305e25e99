/// An option of a command, such as `--port PORT` or `--json`.
struct OptionDeclaration: Equatable, Sendable {
  /// With its dashes.
  let name: String
  /// `nil` for a switch.
  let value: ValueDeclaration?
  /// What it does, one sentence.
  let summary: String
  let isRepeatable: Bool

  init(_ name: String, _ value: ValueDeclaration? = nil, _ summary: String, isRepeatable: Bool = false) {
    self.name = name
    self.value = value
    self.summary = summary
    self.isRepeatable = isRepeatable
  }

  /// `--port PORT`.
  var usage: String { value.map { "\(name) \($0.usage)" } ?? name }
}

/// An argument of a command that is no option, such as `PRESET`.
struct ArgumentDeclaration: Equatable, Sendable {
  let value: ValueDeclaration
  /// What it is, one sentence.
  let summary: String
  let isOptional: Bool
  /// Takes all that follow, but for those that later arguments need; one argument of a command may.
  let isRepeatable: Bool

  init(_ value: ValueDeclaration, _ summary: String, isOptional: Bool = false, isRepeatable: Bool = false) {
    self.value = value
    self.summary = summary
    self.isOptional = isOptional
    self.isRepeatable = isRepeatable
  }

  var name: String { value.placeholder }

  /// `PRESET`, `[PRESET]`, `PRESET ...` or `[VALUE ...]`.
  var usage: String {
    let shown = isRepeatable ? "\(name) ..." : name
    return isOptional ? "[\(shown)]" : shown
  }
}
