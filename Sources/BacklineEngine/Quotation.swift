/// Text from outside as a message shows it: in quotation marks, on one line, and not longer than a line.
public func quoted(_ text: some StringProtocol) -> String {
  let longest = 64
  var shown = "`"
  for (index, scalar) in text.unicodeScalars.enumerated() {
    if index == longest { return shown + "…`" }
    shown.unicodeScalars.append(scalar.properties.generalCategory == .control ? "\u{FFFD}" : scalar)
  }
  return shown + "`"
}
