import Glibc

/// What the receiver of our output can show.
struct Terminal: Sendable, Equatable {
  /// False for a pipe or a file.
  let isTerminal: Bool
  let style: TextStyle
  /// Characters a line.
  let columns: Int

  /// The width of a terminal that does not tell its own.
  static let defaultColumns = 80
  /// No terminal: plain text for programs, which look for what they want line by line, so that no line is broken.
  static let none = Terminal(isTerminal: false, style: .plain, columns: 100_000)

  init(isTerminal: Bool, style: TextStyle, columns: Int) {
    self.isTerminal = isTerminal
    self.style = style
    self.columns = columns
  }

  /// The terminal behind a descriptor. Colours are left out where `NO_COLOR` is set to anything (no-color.org) or `TERM`
  /// is `dumb`.
  init(descriptor: Int32) {
    guard isatty(descriptor) == 1 else {
      self = .none
      return
    }
    var size = winsize()
    let isSized = ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0
    let isPlain = !(Environment["NO_COLOR"] ?? "").isEmpty || Environment["TERM"] == "dumb"
    self.init(
      isTerminal: true, style: isPlain ? .plain : .colored,
      columns: isSized ? max(20, Int(size.ws_col)) : Self.defaultColumns)
  }

  /// Goes `lines` up and to the first column, and clears everything from there on.
  static func redraw(over lines: Int) -> String { lines > 0 ? "\u{1B}[\(lines)F\u{1B}[J" : "" }
}

/// The environment variables.
enum Environment {
  static subscript(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }
}
