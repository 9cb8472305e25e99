/// Columns and line breaks.
enum TextLayout {
  /// `text` filled up with spaces to `width` characters.
  static func padded(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(0, width - text.count))
  }

  /// `text` filled up with spaces on its left.
  static func rightAligned(_ text: String, _ width: Int) -> String {
    String(repeating: " ", count: max(0, width - text.count)) + text
  }

  /// The lines of `text`, broken between words so that each has at most `width` characters where its words
  /// allow it. Spaces at the start of a line are kept.
  static func wrapped(_ text: String, _ width: Int) -> [String] {
    var lines: [String] = []
    for paragraph in text.split(separator: "\n", omittingEmptySubsequences: false) {
      let indent = String(paragraph.prefix { $0 == " " })
      var line = indent
      for word in paragraph.split(separator: " ") {
        if line.count > indent.count && line.count + 1 + word.count > width {
          lines.append(line)
          line = indent
        }
        line += line.count == indent.count ? word : " " + word
      }
      lines.append(line)
    }
    return lines
  }

  /// A paragraph, indented, with a line break at its end.
  static func paragraph(_ text: String, indent: Int = 0, width: Int) -> String {
    let space = String(repeating: " ", count: indent)
    return wrapped(text, max(20, width - indent)).map { $0.isEmpty ? "\n" : space + $0 + "\n" }.joined()
  }

  /// Rows in aligned columns, two spaces apart; the last column is broken into lines. The first one is bold in style.
  static func table(_ rows: [[String]], indent: Int = 0, width: Int, style: TextStyle = .plain) -> String {
    let columns = rows.map(\.count).max() ?? 0
    let widths = (0..<max(0, columns - 1)).map { column in
      rows.filter { column < $0.count - 1 }.map { $0[column].count }.max() ?? 0
    }
    let space = String(repeating: " ", count: indent)
    var text = ""
    for row in rows {
      var line = space
      var used = indent
      for (column, cell) in row.dropLast().enumerated() {
        let shown = padded(cell, widths[column] + 2)
        used += shown.count
        line += column == 0 ? style.bold(cell) + shown.dropFirst(cell.count) : shown
      }
      let lines = wrapped(row.last ?? "", max(20, width - used))
      let hanging = "\n" + String(repeating: " ", count: used)
      let last = lines.joined(separator: hanging)
      text += trimmed(line + (row.count == 1 ? style.bold(last) : last)) + "\n"
    }
    return text
  }

  private static func trimmed(_ line: String) -> Substring {
    var line = line[...]
    while line.last == " " { line.removeLast() }
    return line
  }
}
