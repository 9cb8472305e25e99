import BacklineOSC
import CBackline
import Glibc

/// How close to its deadline a rack of twelve units comes while its player reads a file, its output is recorded, parameters move a
/// thousand times a second, and the graph is edited ten times a second.
extension Bench {
  /// The chain, from the player on.
  private static let units = [
    "player", "gate", "compressor", "equalizer", "distortion", "chorus", "delay", "reverb", "width", "pan", "limiter",
    "meter",
  ]
  private static let figures = [
    "load", "load9999", "loadMax", "ownLate", "serverXruns", "recordLostFrames", "diskUnderruns",
  ]

  func measureDeadline(_ report: inout Report) throws {
    let folder = "/tmp/\(JACKServer.name)-deadline"
    mkdir(folder, 0o755)
    let source = folder + "/source.wav", take = folder + "/take.wav"
    defer {
      for path in [source, take] { unlink(path) }
      rmdir(folder)
    }
    try OfflineSignal.write(source, seconds: 60)
    var table = Report.Table(
      title: "Deadline: 12 units with a player, a recording, 1 000 sets and 10 edits a second, for "
        + "\(Statistics.text(options.seconds, 0)) s; load in percent of the period",
      columns: ["frames", "mean", "99.99 % below", "largest", "late", "xruns", "frames not recorded", "underruns"])
    for frames in options.frames {
      let jack = try JACKServer(frames: frames)
      try Interruption.sleep(0.5)
      let rack = try Rack(backline, jack, isStream: false, root: folder)
      defer { rack.child.end() }
      try prepare(rack)
      try drive(rack)
      let status = try status(of: rack)
      try rack.send(OSCMessage("/record/stop"))
      try Interruption.sleep(1)
      unlink(take)
      table.rows.append(
        [.count(frames)] + Self.figures.map { name in .number(status[name], name.hasPrefix("load") ? 1 : 0) })
    }
    report.add(table)
  }

  private func prepare(_ rack: Rack) throws {
    var messages = Self.units.map { OSCMessage("/graph/add", .string($0), .string($0)) }
    messages += zip(Self.units, Self.units.dropFirst() + ["output"]).map {
      OSCMessage("/graph/connect", .string($0), .string($1))
    }
    try rack.bundled(messages)
    try rack.send(OSCMessage("/player/player/load", .string("source.wav")))
    try Interruption.sleep(1)
    try rack.send(OSCMessage("/player/player/loop", .float(0), .float(60)))
    try rack.send(OSCMessage("/player/player/play"))
    try rack.send(OSCMessage("/record/start", .string("take.wav")))
    try Interruption.sleep(1)
    while try rack.socket.receive(until: backline_now()) != nil {}
  }

  /// Moves parameters and edits the graph for as long as was asked for.
  private func drive(_ rack: Rack) throws {
    let begin = backline_now()
    let end = begin + Int64(options.seconds * 1e9)
    var random = SplitMix(seed: 1)
    var count: Int64 = 0
    while backline_now() < end {
      let frequency = Float.random(in: 100...10_000, using: &random)
      try rack.send(OSCMessage("/node/equalizer/band1Frequency", .float(frequency)))
      if count % 200 == 0 { try rack.send(OSCMessage("/graph/add", .string("reverb"), .string("extra"))) }
      if count % 200 == 50 {
        try rack.send(OSCMessage("/graph/connect", .string("compressor"), .string("extra")))
        try rack.send(OSCMessage("/graph/connect", .string("extra"), .string("limiter")))
      }
      if count % 200 == 150 { try rack.send(OSCMessage("/graph/remove", .string("extra"))) }
      while let answer = try rack.socket.receive(until: backline_now()) { try rack.refuse(answer) }
      count += 1
      let wait = begin + count * 1_000_000 - backline_now()
      if wait > 0 { usleep(UInt32(wait / 1_000)) }
    }
  }

  /// What `/status` says in numbers.
  private func status(of rack: Rack) throws -> [String: Double] {
    try rack.send(OSCMessage("/status"))
    let limit = backline_now() + 5_000_000_000
    while let answer = try rack.socket.receive(until: limit) {
      guard rack.isStatus(answer) || answer.arguments.first == .string("/status") else { continue }
      var values: [String: Double] = [:]
      let pairs = Array(answer.arguments.dropFirst())
      for index in stride(from: 0, to: pairs.count - 1, by: 2) {
        guard case .string(let name) = pairs[index] else { continue }
        switch pairs[index + 1] {
        case .float(let value): values[name] = Double(value)
        case .int32(let value): values[name] = Double(value)
        case .int64(let value): values[name] = Double(value)
        default: break
        }
      }
      return values
    }
    throw BenchError("backline does not answer /status")
  }
}
