import BacklineOSC
import BacklinePresets
import Glibc

/// `backline status [--port PORT] [--json] [--watch] [--nodes]`.
enum StatusCommand {
  /// Between two looks in nanoseconds.
  static let interval = 250_000_000

  static func command(wire: any OSCWire) -> ProgramCommand {
    ProgramCommand(.status) { arguments, context throws(CommandError) in
      let client = try OSCClient(port: arguments.integer(.port) ?? OSCClient.defaultPort, wire: wire)
      let isJSON = arguments.contains(.json)
      let hasNodes = arguments.contains(.nodes)
      if !arguments.contains(.watch) {
        try show(try fetch(client), hasNodes ? try fetchLoads(client) : nil, isJSON, context)
        return .done
      }
      var shown = 0
      while true {
        let status = try fetch(client)
        let loads = hasNodes ? try fetchLoads(client) : nil
        if !isJSON && context.terminal.isTerminal { try context.write(Terminal.redraw(over: shown)) }
        try show(status, loads, isJSON, context)
        shown = status.entries.count + (loads?.rows.count ?? 0)
        var rest = timespec(tv_sec: 0, tv_nsec: interval)
        nanosleep(&rest, nil)
      }
    }
  }

  private static func fetch(_ client: OSCClient) throws(CommandError) -> StatusReport {
    try StatusReport(client.request(OSCMessage("/status")).last?.arguments ?? [])
  }

  /// The loads of all nodes, asked for in pages that fit into a packet.
  private static func fetchLoads(_ client: OSCClient) throws(CommandError) -> NodeLoadTable {
    let size: Int32 = 256
    var values: [OSCArgument] = []
    while true {
      let first = Int32(values.count / 3)
      let page = try client.request(OSCMessage("/graph/load", [.int32(first), .int32(size)])).last?.arguments ?? []
      values += page
      if page.count < 3 * Int(size) { return try NodeLoadTable(values) }
    }
  }

  private static func show(
    _ status: StatusReport, _ loads: NodeLoadTable?, _ isJSON: Bool, _ context: CommandContext
  ) throws(CommandError) {
    if isJSON {
      try context.write(json: .object(status.members + (loads.map { [.init("nodeLoads", $0.json)] } ?? [])))
    } else {
      try context.write(status.text(context.terminal) + (loads?.text(context.terminal) ?? ""))
    }
  }
}

/// The answer to `/status`: names and values in turn.
struct StatusReport: Equatable {
  struct Entry: Equatable {
    let name: String
    let value: OSCArgument
  }

  let entries: [Entry]

  init(_ arguments: [OSCArgument]) throws(CommandError) {
    var entries: [Entry] = []
    for index in stride(from: 0, to: arguments.count, by: 2) {
      guard index + 1 < arguments.count, case .string(let name) = arguments[index] else {
        throw CommandError(.badData, "the answer to /status is no list of names and values: is this a rack?")
      }
      entries.append(Entry(name: name, value: arguments[index + 1]))
    }
    self.entries = entries
  }

  var members: [JSONOutput.Member] { entries.map { .init($0.name, OSCArgumentText.json($0.value)) } }

  /// One line a name, with a bar for loads, which come in percent.
  func text(_ terminal: Terminal) -> String {
    let width = entries.map(\.name.count).max() ?? 0
    return entries.map { entry in
      let name = SafeText.line(entry.name)
      return terminal.style.bold(name) + String(repeating: " ", count: max(0, width - name.count) + 2)
        + shown(entry, terminal) + "\n"
    }.joined()
  }

  private func shown(_ entry: Entry, _ terminal: Terminal) -> String {
    guard ["load", "loadMax", "load9999"].contains(entry.name), let load = number(entry.value) else {
      return OSCArgumentText.show(entry.value)
    }
    let figure = TextLayout.rightAligned("\(ValueText.fixed(load, 1))%", 6)
    let bar = String(Bar.cells(Float(load / 100), 20))
    let style = terminal.style
    let colored = load < 50 ? style.green(bar) : load < 80 ? style.yellow(bar) : style.red(bar)
    return "\(figure) │\(colored)│"
  }

  private func number(_ value: OSCArgument) -> Double? {
    switch value {
    case .float(let value): Double(value)
    case .double(let value): value
    case .int32(let value): Double(value)
    default: nil
    }
  }
}
