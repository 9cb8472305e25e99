/// A level as a bar of block characters.
enum LevelMeter {
  /// The level at the left end of a bar in dBFS.
  static let floor: Float = -60
  /// From here on a bar is yellow: the last 12 dB.
  static let loud: Float = -12
  /// From here on it is red: the last decibel.
  static let tooLoud: Float = -1

  /// One line: the name, a bar as long as the RMS level with a mark at the peak, and the peak in figures.
  ///
  /// `width` is the whole line's in characters. Levels are in dBFS; the bar goes from -60 to 0.
  static func line(_ name: String, peakDB: Float, rmsDB: Float, width: Int, style: TextStyle = .plain) -> String {
    let nameWidth = nameWidth(width)
    let figure = TextLayout.rightAligned(figures(peakDB), 8)
    let cells = max(4, width - nameWidth - 1 - figure.count)
    let shown = name.count > nameWidth ? name.prefix(nameWidth - 1) + "…" : name[...]
    let bar = Bar.cells(fraction(rmsDB), cells, mark: peakDB > floor ? fraction(peakDB) : nil)
    return TextLayout.padded(String(shown), nameWidth) + " " + colored(bar, style) + mark(figure, peakDB, style)
  }

  /// The characters that a line of `width` has for the name.
  static func nameWidth(_ width: Int) -> Int { min(16, max(4, width / 4)) }

  /// Where on the bar a level lies, from 0 to 1.
  static func fraction(_ decibels: Float) -> Float {
    decibels.isNaN ? 0 : min(1, max(0, (decibels - floor) / -floor))
  }

  private static func figures(_ decibels: Float) -> String {
    decibels <= -96 || decibels.isNaN ? "silent" : "\(ValueText.fixed(Double(decibels), 1)) dB"
  }

  private static func colored(_ cells: [Character], _ style: TextStyle) -> String {
    func cell(_ level: Float) -> Int { Int(fraction(level) * Float(cells.count)) }
    let (low, high) = (cell(loud), min(cell(tooLoud), cells.count - 1))
    return style.green(String(cells[..<low])) + style.yellow(String(cells[low..<high]))
      + style.red(String(cells[high...]))
  }

  private static func mark(_ text: String, _ decibels: Float, _ style: TextStyle) -> String {
    decibels >= tooLoud ? style.red(text) : text
  }
}

/// A bar of block characters, drawn in eighths of a cell.
enum Bar {
  private static let eighths: [Character] = [" ", "▏", "▎", "▍", "▌", "▋", "▊", "▉"]

  /// `count` cells, filled from the left up to `fraction`, with a thin mark where one is given.
  static func cells(_ fraction: Float, _ count: Int, mark: Float? = nil) -> [Character] {
    let filled = Int((max(0, min(1, fraction.isNaN ? 0 : fraction)) * Float(count * 8)).rounded())
    var cells = (0..<count).map { cell -> Character in
      let rest = filled - cell * 8
      return rest >= 8 ? "█" : rest > 0 ? eighths[rest] : " "
    }
    if let mark, count > 0 {
      let cell = min(count - 1, max(0, Int(mark * Float(count))))
      if cells[cell] != "█" { cells[cell] = "│" }
    }
    return cells
  }
}

/// How far something has come.
enum ProgressBar {
  /// One line of `width` characters: a bar and the percentage.
  static func line(_ fraction: Double, width: Int) -> String {
    let known = fraction.isNaN ? 0 : min(1, max(0, fraction))
    let percent = TextLayout.rightAligned("\(Int(known * 100))%", 5)
    return "│" + String(Bar.cells(Float(known), max(4, width - 7))) + "│" + percent
  }
}
