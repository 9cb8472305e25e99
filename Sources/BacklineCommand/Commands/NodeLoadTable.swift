import BacklineOSC
import BacklinePresets

/// The answer to `/graph/load`: what each node takes of the time there is.
struct NodeLoadTable: Equatable {
  struct Row: Equatable {
    let name: String
    /// In percent: on average, and at most.
    let mean: Float
    let largest: Float
  }

  /// The most demanding first.
  let rows: [Row]

  init(_ arguments: [OSCArgument]) throws(CommandError) {
    var rows: [Row] = []
    for index in stride(from: 0, to: arguments.count, by: 3) {
      guard index + 2 < arguments.count, case .string(let name) = arguments[index],
        case .float(let mean) = arguments[index + 1], case .float(let largest) = arguments[index + 2]
      else { throw CommandError(.badData, "the answer to /graph/load is no list of names and loads: is this a rack?") }
      rows.append(Row(name: name, mean: mean, largest: largest))
    }
    self.rows = rows.sorted { ($0.mean, $1.name) > ($1.mean, $0.name) }
  }

  /// One line a node, with a bar of its mean and its largest part.
  func text(_ terminal: Terminal) -> String {
    let names = rows.map { SafeText.line($0.name) }
    let width = names.map(\.count).max() ?? 0
    return zip(rows, names).map { row, name in
      let mean = TextLayout.rightAligned("\(ValueText.fixed(Double(row.mean), 1))%", 6)
      let largest = TextLayout.rightAligned("\(ValueText.fixed(Double(row.largest), 1))%", 6)
      return terminal.style.bold(name) + String(repeating: " ", count: max(0, width - name.count) + 2)
        + "\(mean) │\(String(Bar.cells(row.mean / 100, 20)))│ at most \(largest)\n"
    }.joined()
  }

  var json: JSONOutput {
    .object(
      rows.map { row in
        .init(
          row.name,
          .object([.init("mean", .double(Double(row.mean))), .init("largest", .double(Double(row.largest)))]))
      })
  }
}
