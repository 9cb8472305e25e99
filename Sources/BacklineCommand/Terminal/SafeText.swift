/// Text from outside made fit for one line of a terminal.
enum SafeText {
  /// `text` with control characters written as escapes, so that it stays on its line and cannot steer the terminal.
  static func line(_ text: String) -> String {
    if !text.unicodeScalars.contains(where: isControl) { return text }
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\n": result += "\\n"
      case "\r": result += "\\r"
      case "\t": result += "\\t"
      case _ where isControl(scalar): result += "\\u{" + String(scalar.value, radix: 16) + "}"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }

  private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
    scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value)
  }
}
