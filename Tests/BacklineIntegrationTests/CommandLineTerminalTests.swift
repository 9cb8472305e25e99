import BacklinePresets
import Testing

@testable import BacklineCommand

@Suite("Meters, bars and text on a terminal")
struct CommandLineTerminalTests {
  @Test("a meter's line is as wide as asked, whatever the levels", arguments: [20, 40, 80, 133])
  func width(width: Int) {
    for level in [-Float.infinity, -96, -60, -30.5, -6, 0, 12, .nan] {
      #expect(LevelMeter.line("output", peakDB: level, rmsDB: level, width: width).count == width)
      #expect(LevelMeter.line("a name that is far too long", peakDB: 0, rmsDB: level, width: width).count == width)
    }
  }

  @Test("a meter's bar is as long as its level, with a mark at the peak")
  func bar() {
    // Name 10, a space, 21 cells, figures 8: half of the 60 dB is ten and a half cells.
    let line = LevelMeter.line("in", peakDB: -12, rmsDB: -30, width: 40)
    let cells = Array(line.dropFirst(11).prefix(21))
    #expect(String(cells[..<10]) == String(repeating: "█", count: 10))
    #expect(cells[10] == "▌")
    #expect(cells.firstIndex(of: "│") == 16)
    #expect(line.hasSuffix("-12.0 dB"))
    #expect(LevelMeter.line("in", peakDB: -96, rmsDB: -96, width: 40).hasSuffix("  silent"))
  }

  @Test("a meter turns yellow and red only where it is loud, and colours add nothing else")
  func colour() {
    let line = LevelMeter.line("in", peakDB: 0, rmsDB: 0, width: 40, style: .colored)
    #expect(line.contains("\u{1B}[33m") && line.contains("\u{1B}[31m"))
    var plain = line
    for code in ["\u{1B}[31m", "\u{1B}[32m", "\u{1B}[33m", "\u{1B}[0m"] {
      plain = plain.split(separator: code, omittingEmptySubsequences: false).joined()
    }
    #expect(plain == LevelMeter.line("in", peakDB: 0, rmsDB: 0, width: 40))
  }

  @Test("a bar is drawn in eighths and never leaves its cells")
  func eighths() {
    #expect(String(Bar.cells(0, 2)) == "  ")
    #expect(String(Bar.cells(1 / 16, 2)) == "▏ ")
    #expect(String(Bar.cells(0.5, 2)) == "█ ")
    #expect(String(Bar.cells(9, 2)) == "██")
    #expect(String(Bar.cells(.nan, 2)) == "  ")
    #expect(ProgressBar.line(0.5, width: 17) == "│█████     │  50%")
    #expect(ProgressBar.line(2, width: 17) == "│██████████│ 100%")
  }

  @Test("numbers are rounded half away from zero, without a negative zero")
  func numbers() {
    #expect(ValueText.fixed(-0.04, 1) == "0.0")
    #expect(ValueText.fixed(-2.25, 1) == "-2.3")
    #expect(ValueText.fixed(1.005, 0) == "1")
    #expect(ValueText.fixed(99.95, 1) == "100.0")
    #expect(ValueText.fixed(0.05, 2) == "0.05")
    #expect(ValueText.number(20_000 as Float) == "20000")
    #expect(ValueText.number(0.1 as Float) == "0.1")
  }

  @Test("lines break between words, and a table's last column hangs")
  func layout() {
    #expect(TextLayout.wrapped("one two three", 7) == ["one two", "three"])
    #expect(TextLayout.wrapped("a\n\nb", 20) == ["a", "", "b"])
    #expect(TextLayout.wrapped("  one two", 6) == ["  one", "  two"])
    let table = TextLayout.table([["a", "one two three four five six"], ["bbb", "x"]], indent: 1, width: 26)
    #expect(table == " a    one two three four\n      five six\n bbb  x\n")
  }

  @Test("JSON escapes what it must and writes no number that it does not have")
  func json() {
    #expect(JSONWriter.quoted("a\"\\\n\u{1}é") == "\"a\\\"\\\\\\n\\u0001é\"")
    let value: JSONOutput = ["a": .array([1, true, .null]), "b": .float(.infinity), "c": .double(0.5)]
    #expect(JSONWriter.write(value, style: .compact) == "{\"a\":[1,true,null],\"b\":null,\"c\":0.5}")
  }
}
