import BacklineOSC
import CBackline

/// W5: a thousand edits of each kind while 500 nodes sound at 64 frames, and the cycles that came late meanwhile.
extension Bench {
  private static let editCount = 1000
  private static let presentNodes = 500

  /// How edits are sent.
  private enum Pace: String, CaseIterable {
    /// Fifty, then a `/sync` awaited.
    case windows = "windows of 50 + /sync"
    /// Fifty, then their own final answers awaited.
    case answered = "windows of 50 + answers"
    /// Each with a `/sync` awaited.
    case each = "each + /sync"
  }

  func measureEdits(_ report: inout Report) throws {
    let jack = try JACKServer(frames: 64)
    try Interruption.sleep(0.5)
    var results: [Case: [(microseconds: Double, late: Int, idleLate: Double)]] = [:]
    for turn in 0..<options.repeats {
      for kind in self.turn(turn) {
        let server = try server(kind, jack)
        defer { server.child.end() }
        try server.build(.series)
        try server.grow(.series, from: 0, to: Self.presentNodes)
        try Interruption.sleep(0.8)
        for pace in Pace.allCases where pace != .answered || server.answersEdits {
          for edit in EditKind.allCases {
            results[Case(kind: kind, pace: pace, edit: edit), default: []].append(try measure(server, edit, pace, jack))
          }
          try Interruption.sleep(0.5)
        }
      }
    }
    var table = Report.Table(
      title: "W5 edits at 64 frames with \(Self.presentNodes) nodes sounding",
      columns: [
        "server", "sent as", "edit", "us an edit", "least", "periods", "late in all", "late in the same time idle",
      ])
    for kind in kinds {
      for pace in Pace.allCases {
        for edit in EditKind.allCases {
          guard let found = results[Case(kind: kind, pace: pace, edit: edit)] else { continue }
          let times = found.map(\.microseconds)
          table.rows.append([
            .text(kind.rawValue), .text(pace.rawValue), .text(edit.rawValue), .number(Statistics.median(times), 1),
            .number(times.min(), 1), .number(Statistics.median(times).map { $0 * 1e3 / jack.period }, 3),
            .count(found.reduce(0) { $0 + $1.late }), .number(found.reduce(0) { $0 + $1.idleLate }, 1),
          ])
        }
      }
    }
    report.add(table)
  }

  private struct Case: Hashable {
    let kind: ServerKind
    let pace: Pace
    let edit: EditKind
  }

  private func measure(
    _ server: any BenchServer, _ edit: EditKind, _ pace: Pace, _ jack: JACKServer
  ) throws -> (microseconds: Double, late: Int, idleLate: Double) {
    let messages = try server.edits(edit, count: Self.editCount)
    let packets = try messages.enumerated().map { index, message in
      try server.socket.wire(pace == .answered ? numbered(message, index) : message)
    }
    try server.synchronize()
    try Interruption.sleep(0.3)
    let idle = try jack.load(seconds: 0.5)
    let before = jack.lateCycles.client
    let begin = backline_now()
    let window = pace == .each ? 1 : 50
    for start in stride(from: 0, to: packets.count, by: window) {
      let end = min(packets.count, start + window)
      for packet in packets[start..<end] { try server.socket.send(packet) }
      if pace == .answered { try awaitAnswers(server, end - start) } else { try server.synchronize() }
    }
    let duration = Double(backline_now() - begin)
    try server.synchronize()
    try Interruption.sleep(0.1)
    let late = jack.lateCycles.client - before
    return (duration / 1e3 / Double(packets.count), late, Double(idle.late) * duration / 0.5e9)
  }

  /// The same with an id, without which a set that succeeds is not answered.
  private func numbered(_ message: OSCMessage, _ id: Int) -> OSCMessage {
    OSCMessage("/id", [.int32(Int32(id)), .string(message.address)] + message.arguments)
  }

  private func awaitAnswers(_ server: any BenchServer, _ count: Int) throws {
    let end = backline_now() + 5_000_000_000
    var left = count
    while left > 0 {
      guard let message = try server.socket.receive(until: end) else {
        throw BenchError("\(server.kind.rawValue): \(left) edits were not answered")
      }
      try server.refuse(message)
      if server.isEditReply(message) { left -= 1 }
    }
  }
}
