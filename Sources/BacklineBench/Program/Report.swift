import BacklinePresets

/// What has been measured: notes and tables, as text for people or JSON for programs.
struct Report {
  enum Cell {
    case text(String)
    case number(Double, digits: Int)
    case none

    /// A number with as many digits after the point.
    static func number(_ value: Double?, _ digits: Int) -> Cell { value.map { .number($0, digits: digits) } ?? .none }
    static func count(_ value: Int) -> Cell { .number(Double(value), digits: 0) }
  }

  struct Table {
    let title: String
    let columns: [String]
    var rows: [[Cell]] = []
  }

  private var notes: [String] = []
  private var tables: [Table] = []
  private(set) var plots: [(name: String, plot: LinePlot)] = []

  mutating func note(_ line: String) {
    notes.append(line)
    BenchProgram.say(line)
  }

  /// Adds a finished table, and shows it at once, since the rest may take long.
  mutating func add(_ table: Table) {
    tables.append(table)
    BenchProgram.say(Self.text(table))
  }

  /// Adds a picture; `name` tells it from others.
  mutating func add(_ plot: LinePlot, name: String) { plots.append((name, plot)) }

  // MARK: Text

  var text: String { notes.map { $0 + "\n" }.joined() + tables.map { "\n" + Self.text($0) }.joined() }

  private static func text(_ table: Table) -> String {
    let lines = [table.columns] + table.rows.map { $0.map(text) }
    let widths = table.columns.indices.map { column in lines.map { $0[column].count }.max() ?? 0 }
    func line(_ cells: [String]) -> String {
      "| " + zip(cells, widths).map { $0 + String(repeating: " ", count: $1 - $0.count) }.joined(separator: " | ")
        + " |\n"
    }
    let rule = "|" + widths.map { String(repeating: "-", count: $0 + 2) }.joined(separator: "|") + "|\n"
    return "### \(table.title)\n\n" + line(lines[0]) + rule + lines.dropFirst().map(line).joined()
  }

  private static func text(_ cell: Cell) -> String {
    switch cell {
    case .text(let text): text
    case .number(let value, let digits): Statistics.text(value, digits)
    case .none: "-"
    }
  }

  // MARK: JSON

  var json: String {
    let values = tables.map { table in
      JSONOutput.object([
        .init("title", .string(table.title)),
        .init(
          "rows",
          .array(table.rows.map { row in .object(zip(table.columns, row).map { .init($0, Self.json($1)) }) })),
      ])
    }
    return JSONWriter.write(
      .object([.init("notes", .array(notes.map { .string($0) })), .init("tables", .array(values))]))
  }

  private static func json(_ cell: Cell) -> JSONOutput {
    switch cell {
    case .text(let text): .string(text)
    case .number(let value, let digits): digits == 0 ? .integer(Int64(value.rounded())) : .double(value)
    case .none: .null
    }
  }
}
