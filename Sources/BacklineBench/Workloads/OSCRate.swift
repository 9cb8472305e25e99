import BacklineOSC
import CBackline

/// W4: how many messages a second are taken, none lost, and how long answers take.
extension Bench {
  private static let messageCount = 100_000
  private static let nodeCounts = [100, 900]
  private static let windows = [50, 200, 1000]

  func measureOSC(_ report: inout Report) throws {
    let jack = try JACKServer(frames: 64)
    try Interruption.sleep(0.5)
    var table = Report.Table(
      title: "W4 OSC at 64 frames (a period is \(Statistics.text(jack.period / 1e6, 3)) ms; "
        + "the sender alone \(Int(try ceiling())) messages/s)",
      columns: [
        "server", "nodes", "over", "/sync p50 periods", "p99", "/status p50 ms", "p99",
      ] + Self.windows.map { "window \($0) msgs/s" } + [
        "bundles of 50", "unpaced", "dropped by kernel", "lost by server",
      ])
    for isStream in [false, true] {
      for nodes in isStream ? [Self.nodeCounts[0]] : Self.nodeCounts {
        var results: [ServerKind: [OSCResult]] = [:]
        for turn in 0..<options.repeats {
          for kind in self.turn(turn) {
            results[kind, default: []].append(try measure(kind, jack, nodes: nodes, isStream: isStream))
          }
        }
        for kind in kinds {
          guard let found = results[kind] else { continue }
          table.rows.append(row(kind, nodes, isStream, found, jack))
        }
      }
    }
    report.add(table)
  }

  /// One server, once. Times in nanoseconds, rates in messages a second.
  private struct OSCResult {
    var syncs: [Double] = []
    var statuses: [Double] = []
    var windows: [Double] = []
    var bundles = 0.0
    var unpaced = 0.0
    var drops = 0
    var lost = 0
  }

  private func measure(_ kind: ServerKind, _ jack: JACKServer, nodes: Int, isStream: Bool) throws -> OSCResult {
    let server = try server(kind, jack, isStream: isStream)
    defer { server.child.end() }
    try server.build(.series)
    try server.grow(.series, from: 0, to: nodes)
    try Interruption.sleep(0.5)
    var result = OSCResult()
    result.syncs = try roundTrips(server) { try server.synchronize() }
    let question = try server.socket.wire(OSCMessage("/status"))
    result.statuses = try roundTrips(server) {
      try server.socket.send(question)
      try server.awaitStatus()
    }
    let messages = (0..<100).map { server.setting(of: $0, to: 500 + Float($0)) }
    let singles = try messages.map { try server.socket.wire($0) }
    let bundles = try (0..<100).map { first in
      try server.socket.wire(
        .bundle(timeTag: OSCPacket.immediately, messages: (0..<50).map { messages[(first + $0) % 100] }))
    }
    let before = Machine.drops(atPort: server.socket.port)
    for window in Self.windows { result.windows.append(try flood(server, singles, window: window)) }
    result.bundles = 50 * (try flood(server, bundles, count: Self.messageCount / 50, window: 20))
    result.unpaced = try flood(server, singles, window: Self.messageCount)
    result.drops = Machine.drops(atPort: server.socket.port) - before
    result.lost = try verified(server)
    return result
  }

  /// Values that were sent without a pause, that the kernel delivered, and that are not there.
  private func verified(_ server: any BenchServer) throws -> Int {
    let before = Machine.drops(atPort: server.socket.port)
    let (_, missing) = try server.verify()
    return max(0, missing - (Machine.drops(atPort: server.socket.port) - before))
  }

  /// Packets a second, with a `/sync` awaited after each window.
  private func flood(
    _ server: any BenchServer, _ packets: [[UInt8]], count: Int = Bench.messageCount, window: Int
  ) throws -> Double {
    let begin = backline_now()
    for start in stride(from: 0, to: count, by: window) {
      for index in start..<min(count, start + window) { try server.socket.send(packets[index % packets.count]) }
      try server.synchronizeRepeatedly()
    }
    return Double(count) * 1e9 / Double(backline_now() - begin)
  }

  /// Nanoseconds of a thousand questions, at times that have nothing to do with the period.
  private func roundTrips(_ server: any BenchServer, _ ask: () throws -> Void) throws -> [Double] {
    var random = SplitMix(seed: 4)
    return try (0..<1000).map { _ in
      try Interruption.sleep(Double.random(in: 0.0005...0.0015, using: &random))
      let begin = backline_now()
      try ask()
      return Double(backline_now() - begin)
    }
  }

  private func row(
    _ kind: ServerKind, _ nodes: Int, _ isStream: Bool, _ results: [OSCResult], _ jack: JACKServer
  ) -> [Report.Cell] {
    /// The median over the repeats of something of each.
    func median(_ scale: Double, _ digits: Int, _ value: (OSCResult) -> Double?) -> Report.Cell {
      .number(Statistics.median(results.compactMap(value)).map { $0 * scale }, digits)
    }
    let cells: [Report.Cell] = [
      .text(kind.rawValue), .count(nodes), .text(isStream ? "TCP" : "UDP"),
      median(1 / jack.period, 2) { Statistics.quantile($0.syncs, 0.5) },
      median(1 / jack.period, 2) { Statistics.quantile($0.syncs, 0.99) },
      median(1e-6, 3) { Statistics.quantile($0.statuses, 0.5) },
      median(1e-6, 3) { Statistics.quantile($0.statuses, 0.99) },
    ]
    return cells + Self.windows.indices.map { index in median(1, 0) { $0.windows[index] } } + [
      median(1, 0) { $0.bundles }, median(1, 0) { $0.unpaced }, .count(results.reduce(0) { $0 + $1.drops }),
      .count(results.reduce(0) { $0 + $1.lost }),
    ]
  }

  /// Messages a second into a socket that nobody reads.
  private func ceiling() throws -> Double {
    let sink = try OSCSocket(port: 57_499, isStream: false)
    let packet = try sink.wire(OSCMessage("/node/n1/band1Frequency", .float(500)))
    let begin = backline_now()
    for _ in 0..<Self.messageCount { try sink.send(packet) }
    return Double(Self.messageCount) * 1e9 / Double(backline_now() - begin)
  }
}
