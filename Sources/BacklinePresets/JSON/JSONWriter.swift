import BacklineEngine

/// Writes JSON.
public enum JSONWriter {
  public enum Style: Sendable {
    /// For people: two spaces a level; lists of scalars, and objects of scalars and such lists, stand on one line where they
    /// fit. Ends with a new line.
    case pretty
    /// One line without spaces, nothing at the end.
    case compact
  }

  /// The widest line on which a list or object is kept together.
  static let width = 100

  /// The text of a value.
  public static func write(_ value: JSONOutput, style: Style = .pretty) -> String {
    var text = ""
    switch style {
    case .compact:
      writeLine(value, into: &text, space: "")
    case .pretty:
      writePretty(value, into: &text, indent: "", used: 0)
      text += "\n"
    }
    return text
  }

  /// A string in quotation marks, escaped.
  public static func quoted(_ string: String) -> String {
    var text = ""
    quote(string, into: &text)
    return text
  }

  /// Appends `string` in quotation marks, escaped.
  static func quote(_ string: String, into text: inout String) {
    text += "\""
    for scalar in string.unicodeScalars {
      switch scalar {
      case "\"": text += "\\\""
      case "\\": text += "\\\\"
      case "\n": text += "\\n"
      case "\r": text += "\\r"
      case "\t": text += "\\t"
      case "\u{0}"..."\u{1F}", "\u{7F}":
        let digits = String(scalar.value, radix: 16, uppercase: true)
        text += "\\u" + String(repeating: "0", count: 4 - digits.utf8.count) + digits
      default: text.unicodeScalars.append(scalar)
      }
    }
    text += "\""
  }

  private static func writePretty(_ value: JSONOutput, into text: inout String, indent: String, used: Int) {
    if isFlat(value) {
      var line = ""
      writeLine(value, into: &line, space: " ")
      if isEmpty(value) || isScalar(value) || used + line.unicodeScalars.count <= width {
        text += line
        return
      }
    }
    let deeper = indent + "  "
    switch value {
    case .array(let elements):
      text += "["
      for (index, element) in elements.enumerated() {
        text += index == 0 ? "\n" + deeper : ",\n" + deeper
        writePretty(element, into: &text, indent: deeper, used: deeper.utf8.count)
      }
      text += "\n" + indent + "]"
    case .object(let members):
      text += "{"
      for (index, member) in members.enumerated() {
        var key = deeper
        quote(member.name, into: &key)
        key += ": "
        text += index == 0 ? "\n" + key : ",\n" + key
        writePretty(member.value, into: &text, indent: deeper, used: key.unicodeScalars.count)
      }
      text += "\n" + indent + "}"
    default: break  // scalars are flat
    }
  }

  /// Appends a value on one line, with `space` after commas and colons and inside braces.
  private static func writeLine(_ value: JSONOutput, into text: inout String, space: String) {
    switch value {
    case .null: text += "null"
    case .bool(let value): text += value ? "true" : "false"
    case .integer(let value): text += String(value)
    case .float(let value): text += value.isFinite ? NumberText.shortest(value) : "null"
    case .double(let value): text += value.isFinite ? NumberText.shortest(value) : "null"
    case .string(let value): quote(value, into: &text)
    case .array(let elements):
      text += "["
      for (index, element) in elements.enumerated() {
        if index > 0 { text += "," + space }
        writeLine(element, into: &text, space: space)
      }
      text += "]"
    case .object(let members):
      text += members.isEmpty ? "{" : "{" + space
      for (index, member) in members.enumerated() {
        if index > 0 { text += "," + space }
        quote(member.name, into: &text)
        text += ":" + space
        writeLine(member.value, into: &text, space: space)
      }
      text += members.isEmpty ? "}" : space + "}"
    }
  }

  private static func isScalar(_ value: JSONOutput) -> Bool {
    switch value {
    case .array, .object: false
    default: true
    }
  }

  private static func isEmpty(_ value: JSONOutput) -> Bool {
    switch value {
    case .array(let elements): elements.isEmpty
    case .object(let members): members.isEmpty
    default: false
    }
  }

  private static func isFlat(_ value: JSONOutput) -> Bool {
    if case .object(let members) = value { return members.allSatisfy { isFlatList($0.value) } }
    return isFlatList(value)
  }

  private static func isFlatList(_ value: JSONOutput) -> Bool {
    if case .array(let elements) = value { return elements.allSatisfy(isScalar) }
    return isScalar(value) || isEmpty(value)
  }
}
