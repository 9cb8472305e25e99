import BacklineOSC
import CBackline

/// SuperCollider's server, as a client of the private JACK server.
final class Scsynth: BenchServer {
  static let port: UInt16 = 57_411
  static let clientName = "bench-scsynth"

  let kind = ServerKind.scsynth
  let child: Child
  let socket: OSCSocket
  var lastSync: Int32 = 0
  let answersEdits = false

  /// The group of the nodes of a load, and the first numbers of nodes and of edited nodes.
  private static let group: Int32 = 1
  private static let firstNode: Int32 = 2_000
  private static let firstEdited: Int32 = 20_000

  init(_ jack: JACKServer, isStream: Bool) throws {
    child = try Self.start(period: jack.frames, isStream: isStream)
    socket = try OSCSocket(port: Self.port, isStream: isStream)
    try awaitRunning()
    try send(OSCMessage("/d_recv", .blob(SynthDefinition.file(SynthDefinition.all))))
    try synchronize()
    try send(OSCMessage("/g_new", .int32(Self.group), .int32(0), .int32(0)))
    try synchronize()
  }

  /// Only starts it: everything as large as the workloads need, in blocks no longer than the period.
  static func start(period: Int, isStream: Bool) throws(BenchError) -> Child {
    try Child(
      [
        "scsynth", isStream ? "-t" : "-u", "\(port)", "-H", "\(JACKServer.name):\(clientName)", "-i", "2", "-o", "2",
        "-a", "8192", "-c", "65536", "-n", "16384", "-m", "262144", "-d", "512", "-z", "\(min(64, period))", "-R", "0",
        "-l", "4", "-w", "64", "-D", "0",
      ],
      environment: [
        "JACK_DEFAULT_SERVER=\(JACKServer.name)", "SC_JACK_DEFAULT_OUTPUTS=system", "SC_JACK_DEFAULT_INPUTS=",
      ], log: "/tmp/\(JACKServer.name)-scsynth.log")
  }

  /// Only starts it, as large as it is by itself.
  static func startSmall() throws(BenchError) -> Child {
    try Child(
      ["scsynth", "-u", "\(port)", "-H", "\(JACKServer.name):\(clientName)", "-i", "2", "-o", "2", "-R", "0"],
      environment: [
        "JACK_DEFAULT_SERVER=\(JACKServer.name)", "SC_JACK_DEFAULT_OUTPUTS=", "SC_JACK_DEFAULT_INPUTS=",
      ], log: "/tmp/\(JACKServer.name)-scsynth.log")
  }

  private func awaitRunning() throws {
    for _ in 0..<100 {
      try send(OSCMessage("/status"))
      let end = backline_now() + 100_000_000
      while let message = try socket.receive(until: end) { if isStatus(message) { return } }
      if !child.isRunning { break }
    }
    throw BenchError("scsynth does not run: \(child.lastWords)")
  }

  func syncNumber(_ message: OSCMessage) -> Int32? {
    guard message.address == "/synced", case .int32(let number)? = message.arguments.first else { return nil }
    return number
  }

  func isStatus(_ message: OSCMessage) -> Bool { message.address == "/status.reply" }
  func isEditReply(_ message: OSCMessage) -> Bool { false }

  // MARK: Load

  func build(_ topology: Topology) throws {
    try send(synth("source", 1_500, Self.head, of: 0, [("bus", 16)]))
    try send(synth("mix", 1_501, Self.tail, of: Self.group, [("in", topology == .series ? 16 : 18)]))
    try send(OSCMessage("/g_new", .int32(10), .int32(Self.head), .int32(Self.group)))
    try synchronize()
  }

  func grow(_ topology: Topology, from: Int, to: Int) throws {
    try bundled(
      (from..<to).map { node in
        let values: [(String, Float)] = [
          ("freq", NodeLaw.frequency(node, topology)), ("rq", 1), ("db", NodeLaw.gain(node)),
        ]
        let id = Self.firstNode + Int32(node)
        switch topology {
        case .series: return synth("series", id, Self.tail, of: 10, [("bus", 16)] + values)
        case .parallel:
          return synth("parallel", id, Self.tail, of: 10, [("in", 16), ("out", 18)] + values + [("amp", 0.001)])
        }
      })
  }

  func buildChains(_ chains: Int, length: Int) throws {
    var messages: [OSCMessage] = []
    for chain in 0..<chains {
      let bus = Float(16 + 2 * chain)
      messages.append(synth("source", 1_500 + Int32(chain), Self.tail, of: Self.group, [("bus", bus)]))
      for index in 0..<length {
        messages.append(
          synth(
            "series", Self.firstNode + Int32(chain * length + index), Self.tail, of: Self.group,
            [("bus", bus), ("freq", NodeLaw.frequency(index, .series)), ("rq", 1), ("db", NodeLaw.gain(index))]))
      }
    }
    for chain in 0..<chains {
      messages.append(synth("mix", 1_700 + Int32(chain), Self.tail, of: Self.group, [("in", Float(16 + 2 * chain))]))
    }
    try bundled(messages)
  }

  /// Where a node goes in a group.
  private static let head: Int32 = 0
  private static let tail: Int32 = 1

  private func synth(
    _ definition: String, _ id: Int32, _ place: Int32, of group: Int32, _ values: [(String, Float)]
  ) -> OSCMessage {
    OSCMessage(
      "/s_new",
      [.string(definition), .int32(id), .int32(place), .int32(group)]
        + values.flatMap { [OSCArgument.string($0.0), .float($0.1)] })
  }

  func setting(of node: Int, to frequency: Float) -> OSCMessage {
    OSCMessage("/n_set", .int32(Self.firstNode + Int32(node)), .string("freq"), .float(frequency))
  }

  // MARK: Edits

  func edits(_ kind: EditKind, count: Int) throws -> [OSCMessage] {
    let ids = (0..<Int32(count)).map { Self.firstEdited + $0 }
    switch kind {
    case .add:
      // On a bus of their own, so that the sound of the others is not touched.
      return ids.map {
        synth("series", $0, Self.tail, of: Self.group, [("bus", 100), ("freq", 500), ("rq", 1), ("db", 1)])
      }
    case .move:
      var random = SplitMix(seed: 1)
      let order = ids.shuffled(using: &random)
      return zip(order, order.dropFirst() + order.prefix(1)).map { OSCMessage("/n_before", .int32($0), .int32($1)) }
    case .set: return ids.map { OSCMessage("/n_set", .int32($0), .string("freq"), .float(700)) }
    case .remove: return ids.map { OSCMessage("/n_free", .int32($0)) }
    }
  }

  // MARK: Verification

  func verify() throws -> (sent: Int, missing: Int) {
    let count: Int32 = 1_600
    let packets = try (0..<count).map { try socket.wire(OSCMessage("/c_set", .int32($0), .float(Float($0 + 1)))) }
    for packet in packets { try socket.send(packet) }
    try synchronizeRepeatedly()
    var missing = 0
    for first in stride(from: 0, to: count, by: 100) {
      try send(OSCMessage("/c_getn", .int32(first), .int32(100)))
      let end = backline_now() + Self.timeLimit
      while let answer = try socket.receive(until: end) {
        if answer.address != "/c_setn" { continue }
        for (offset, value) in answer.arguments.dropFirst(2).enumerated()
        where value != .float(Float(Int(first) + offset + 1)) { missing += 1 }
        break
      }
    }
    return (packets.count, missing)
  }
}
