/// Writes JSON on one line.
enum JSONLine {
  static func write(_ value: JSONOutput) -> String {
    switch value {
    case .null: "null"
    case .bool(let value): value ? "true" : "false"
    case .integer(let value): String(value)
    case .float(let value): value.isFinite ? ValueText.number(value) : "null"
    case .double(let value): value.isFinite ? ValueText.number(value) : "null"
    case .string(let value): quoted(value)
    case .array(let elements): "[" + elements.map(write).joined(separator: ",") + "]"
    case .object(let members):
      "{" + members.map { quoted($0.name) + ":" + write($0.value) }.joined(separator: ",") + "}"
    }
  }

  /// A string in quotation marks, escaped.
  static func quoted(_ string: String) -> String {
    var text = "\""
    for scalar in string.unicodeScalars {
      switch scalar {
      case "\"": text += "\\\""
      case "\\": text += "\\\\"
      case "\n": text += "\\n"
      case "\r": text += "\\r"
      case "\t": text += "\\t"
      case "\u{0}"..."\u{1F}", "\u{7F}":
        let digits = String(scalar.value, radix: 16)
        text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: text.unicodeScalars.append(scalar)
      }
    }
    return text + "\""
  }
}
