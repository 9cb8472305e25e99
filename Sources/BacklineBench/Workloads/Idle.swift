import BacklineOSC
import CBackline
import Glibc

/// W7: how soon a server is there, what it holds, and what nodes cost that nothing sounds in.
extension Bench {
  private static let silentNodes = 1000

  func measureIdle(_ report: inout Report) throws {
    let jack = try JACKServer(frames: 64)
    try Interruption.sleep(0.5)
    try measureStart(jack, &report)
    try measureSilence(jack, &report)
  }

  // MARK: Start

  private func measureStart(_ jack: JACKServer, _ report: inout Report) throws {
    var starts: [ServerKind: [Start]] = [:]
    // One more than are counted: the first warms the file cache.
    for turn in 0...max(3, options.repeats) {
      for kind in self.turn(turn) {
        let start = try start(kind, jack)
        if turn > 0 { starts[kind, default: []].append(start) }
      }
    }
    var table = Report.Table(
      title: "W7 start and idle at 64 frames",
      columns: [
        "server", "ports visible ms", "least", "/status answered ms", "least", "after ports ms", "private dirty MiB",
        "processor % idle", "DSP load % idle",
      ])
    for kind in kinds {
      guard let found = starts[kind] else { continue }
      func cell(_ digits: Int, _ value: (Start) -> Double) -> Report.Cell {
        .number(Statistics.median(found.map(value)), digits)
      }
      table.rows.append([
        .text(kind.rawValue), cell(1) { $0.ports }, .number(found.map(\.ports).min(), 1), cell(1) { $0.status },
        .number(found.map(\.status).min(), 1), cell(1) { $0.status - $0.ports }, cell(1) { $0.memory },
        cell(1) { $0.processor }, cell(1) { $0.load },
      ])
    }
    report.add(table)
  }

  /// Milliseconds from the start of the process; MiB; percent.
  private struct Start {
    let ports: Double
    let status: Double
    let memory: Double
    let processor: Double
    let load: Double
  }

  private func start(_ kind: ServerKind, _ jack: JACKServer) throws -> Start {
    let (name, port) =
      kind == .backline ? (Rack.clientName, Rack.port) : (Scsynth.clientName, Scsynth.port)
    // The server takes a while to bury a client that was ended.
    while jack.portCount(of: name) > 0 { try Interruption.sleep(0.01) }
    let child = kind == .backline ? try Rack.start(backline) : try Scsynth.startSmall()
    defer { child.end() }
    let socket = try OSCSocket(port: port, isStream: false)
    let question = try socket.wire(OSCMessage("/status"))
    var ports: Int64?
    var status: Int64?
    let limit = child.begin + 10_000_000_000
    while ports == nil || status == nil {
      if backline_now() > limit || !child.isRunning { throw BenchError("\(name) does not start: \(child.lastWords)") }
      if ports == nil && jack.portCount(of: name) >= 4 { ports = backline_now() }
      if status == nil {
        try socket.send(question)
        if try socket.receive(until: backline_now() + 500_000) != nil { status = backline_now() }
      } else {
        usleep(500)
      }
    }
    try Interruption.sleep(1)
    let time = child.processorTime
    let load = try jack.load(seconds: 1)
    let milliseconds = { (time: Int64?) in Double((time ?? limit) - child.begin) / 1e6 }
    return Start(
      ports: milliseconds(ports), status: milliseconds(status), memory: child.privateDirty,
      processor: 100 * (child.processorTime - time), load: load.median)
  }

  // MARK: Silence

  private func measureSilence(_ jack: JACKServer, _ report: inout Report) throws {
    var loads: [(empty: Double, full: Double)] = []
    for _ in 0..<options.repeats {
      let rack = try Rack(backline, jack, isStream: false)
      defer { rack.child.end() }
      try Interruption.sleep(1)
      let empty = try jack.load(seconds: options.seconds).median
      try rack.addSilentNodes(Self.silentNodes)
      // What the filters were started with has died away after this.
      try Interruption.sleep(3)
      loads.append((empty, try jack.load(seconds: options.seconds).median))
    }
    var table = Report.Table(
      title: "W7 \(Self.silentNodes) silent nodes at 64 frames, DSP load in percent",
      columns: ["server", "empty", "with the nodes", "more", "least"])
    let more = loads.map { $0.full - $0.empty }
    table.rows.append([
      .text("backline"), .number(Statistics.median(loads.map(\.empty)), 1),
      .number(Statistics.median(loads.map(\.full)), 1), .number(Statistics.median(more), 1), .number(more.min(), 1),
    ])
    report.add(table)
  }
}
