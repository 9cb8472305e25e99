import BacklineOSC
import CBackline

/// `backline run`, as a client of the private JACK server.
final class Rack: BenchServer {
  static let port: UInt16 = 57_410
  static let clientName = "bench-rack"

  let kind = ServerKind.backline
  let child: Child
  let socket: OSCSocket
  var lastSync: Int32 = 0
  let answersEdits = true

  init(_ program: String, _ jack: JACKServer, isStream: Bool, threads: Int = 1, root: String? = nil) throws {
    child = try Self.start(program, threads: threads, root: root)
    let questions = try OSCSocket(port: Self.port, isStream: false)
    try Self.awaitRunning(child, questions)
    socket = isStream ? try OSCSocket(port: Self.port, isStream: true) : questions
  }

  /// Only starts it.
  static func start(_ program: String, threads: Int = 1, root: String? = nil) throws(BenchError) -> Child {
    try Child(
      [
        program, "run", "--name", clientName, "--server", JACKServer.name, "--host", "jack", "--osc-port", "\(port)",
        "--threads", "\(threads)",
      ] + (root.map { ["--root", $0] } ?? []), log: "/tmp/\(JACKServer.name)-rack.log")
  }

  static func awaitRunning(_ child: Child, _ socket: OSCSocket) throws {
    let limit = backline_now() + 5_000_000_000
    while backline_now() < limit {
      try socket.send(try socket.wire(OSCMessage("/engine/state")))
      if let answer = try socket.receive(until: backline_now() + 20_000_000),
        answer.arguments.contains(.string("running"))
      {
        return
      }
      if !child.isRunning { break }
      try Interruption.sleep(0.005)
    }
    throw BenchError("backline does not run: \(child.lastWords)")
  }

  func syncNumber(_ message: OSCMessage) -> Int32? {
    guard message.address == "/reply", message.arguments.count == 2, message.arguments[0] == .string("/sync"),
      case .int32(let number) = message.arguments[1]
    else { return nil }
    return number
  }

  func isStatus(_ message: OSCMessage) -> Bool { message.arguments.first == .string("/status") }

  func isEditReply(_ message: OSCMessage) -> Bool {
    message.address == "/reply" || message.address == "/reply/id"
  }

  // MARK: Load

  func build(_ topology: Topology) throws {
    try bundled([
      OSCMessage("/graph/add", .string("noise"), .string("source"), .string("gain"), .float(-26)),
      OSCMessage("/graph/add", .string("mixer"), .string("mix")),
      OSCMessage("/graph/connect", .string("mix"), .string("output")),
    ])
    if topology == .series { try bundled([connect("source", "mix:0")]) }
  }

  func grow(_ topology: Topology, from: Int, to: Int) throws {
    var messages: [OSCMessage] = []
    var last = from == 0 ? "source" : "n\(from - 1)"
    if topology == .series {
      try bundled([OSCMessage("/graph/disconnect", .string(last), .string("mix:0"))])
    }
    for node in from..<to {
      messages.append(addition("n\(node)", NodeLaw.frequency(node, topology), NodeLaw.gain(node)))
      messages.append(connect(topology == .series ? last : "source", "n\(node)"))
      if topology == .parallel {
        messages.append(connect("n\(node)", "mix:\(node)"))
        messages.append(OSCMessage("/node/mix/input\(node)Volume", .float(0.001)))
      }
      last = "n\(node)"
    }
    if topology == .series { messages.append(connect(last, "mix:0")) }
    try bundled(messages)
  }

  func buildChains(_ chains: Int, length: Int) throws {
    var messages = [
      OSCMessage("/graph/add", .string("mixer"), .string("mix")), connect("mix", "output"),
    ]
    for chain in 0..<chains {
      var last = "s\(chain)"
      messages.append(OSCMessage("/graph/add", .string("noise"), .string(last), .string("gain"), .float(-26)))
      for index in 0..<length {
        let node = "c\(chain)n\(index)"
        messages.append(addition(node, NodeLaw.frequency(index, .series), NodeLaw.gain(index)))
        messages.append(connect(last, node))
        last = node
      }
      messages.append(connect(last, "mix:\(chain)"))
    }
    try bundled(messages)
  }

  private func connect(_ from: String, _ to: String) -> OSCMessage {
    OSCMessage("/graph/connect", .string(from), .string(to))
  }

  /// An equalizer with one band.
  private func addition(_ name: String, _ frequency: Float, _ gain: Float) -> OSCMessage {
    OSCMessage(
      "/graph/add", .string("equalizer"), .string(name), .string("band1Frequency"), .float(frequency),
      .string("band1Gain"), .float(gain), .string("band1Q"), .float(1), .string("band1Enabled"), .int32(1))
  }

  func setting(of node: Int, to frequency: Float) -> OSCMessage {
    OSCMessage("/node/n\(node)/band1Frequency", .float(frequency))
  }

  /// Nodes without any sound, in series behind the silent input.
  func addSilentNodes(_ count: Int) throws {
    var messages: [OSCMessage] = []
    for node in 0..<count {
      messages.append(addition("s\(node)", 1000, 1))
      messages.append(connect(node == 0 ? "input" : "s\(node - 1)", "s\(node)"))
    }
    messages.append(connect("s\(count - 1)", "output"))
    try bundled(messages)
  }

  // MARK: Edits

  func edits(_ kind: EditKind, count: Int) throws -> [OSCMessage] {
    switch kind {
    case .add: (0..<count).map { addition("x\($0)", 500, 1) }
    case .set: (0..<count).map { OSCMessage("/node/x\($0)/band1Frequency", .float(700)) }
    case .remove: (0..<count).map { OSCMessage("/graph/remove", .string("x\($0)")) }
    case .move: try moves(count)
    }
  }

  /// Puts the nodes into a chain that no sound reaches, and gives the moves of each, in a random order, to its beginning.
  private func moves(_ count: Int) throws -> [OSCMessage] {
    let ends = ["head", "tail"].map { OSCMessage("/graph/add", .string("gain"), .string($0)) }
    let chain = ["head"] + (0..<count).map { "x\($0)" } + ["tail"]
    try bundled((lastSync > 0 && hasEnds ? [] : ends) + zip(chain, chain.dropFirst()).map { connect($0, $1) })
    hasEnds = true
    var random = SplitMix(seed: 1)
    var first = "x0"
    var messages: [OSCMessage] = []
    for node in (1..<count).shuffled(using: &random) + [0] {
      let name = "x\(node)"
      messages.append(OSCMessage("/graph/move", .string(name), .string("head"), .string(first)))
      first = name
    }
    return messages
  }

  /// True once the ends of the silent chain are there.
  private var hasEnds = false

  // MARK: Verification

  func verify() throws -> (sent: Int, missing: Int) {
    var addresses: [String] = []
    for node in 0..<100 { for band in 1...16 { addresses.append("/node/n\(node)/band\(band)Frequency") } }
    let packets = try addresses.enumerated().map { try socket.wire(OSCMessage($1, .float(Self.mark($0)))) }
    for packet in packets { try socket.send(packet) }
    try synchronizeRepeatedly()
    var missing = 0
    for (index, address) in addresses.enumerated() {
      try send(OSCMessage(address))
      let end = backline_now() + Self.timeLimit
      while let answer = try socket.receive(until: end) {
        if answer.arguments.first != .string(address) { continue }
        if answer.arguments.last != .float(Self.mark(index)) { missing += 1 }
        break
      }
    }
    return (packets.count, missing)
  }

  private static func mark(_ index: Int) -> Float { Float(100 + index) }
}
