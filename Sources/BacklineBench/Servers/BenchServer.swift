import BacklineOSC
import CBackline

/// How the nodes of a load test hang together.
enum Topology: String, CaseIterable {
  /// Source, node 1, ..., node N, mixer.
  case series
  /// The source into every node, and all nodes into one mixer, at 0.001 each.
  case parallel
}

/// One of a thousand edits of the graph.
enum EditKind: String, CaseIterable { case add, move, set, remove }

/// A server that is measured: a rack, or a peer that does the same.
protocol BenchServer: AnyObject {
  var kind: ServerKind { get }
  var child: Child { get }
  var socket: OSCSocket { get }
  /// The number of the last `/sync`.
  var lastSync: Int32 { get set }

  /// The number that a message answers a `/sync` with, if it does.
  func syncNumber(_ message: OSCMessage) -> Int32?
  /// What a question for the status is answered under.
  func isStatus(_ message: OSCMessage) -> Bool
  /// The final answer that one of the edits gets; nobody who answers none can be paced by answers.
  func isEditReply(_ message: OSCMessage) -> Bool
  var answersEdits: Bool { get }

  /// Makes the source and the mixer.
  func build(_ topology: Topology) throws
  /// Makes `chains` sources, each with `length` nodes in series behind it, and the sum of all. Nothing else has been made.
  func buildChains(_ chains: Int, length: Int) throws
  /// Adds the nodes from one number up to another.
  func grow(_ topology: Topology, from: Int, to: Int) throws
  /// Sets the frequency of one node.
  func setting(of node: Int, to frequency: Float) -> OSCMessage
  /// Prepares for a round of 1 000 edits and returns their messages, in an order in which all of them succeed.
  func edits(_ kind: EditKind, count: Int) throws -> [OSCMessage]
  /// Writes many different values without a pause, reads them back, and counts those that were sent and those missing.
  func verify() throws -> (sent: Int, missing: Int)
}

/// The nodes that all servers have in common.
enum NodeLaw {
  /// 60 Hz to 14 kHz in 64 steps of an eighth of an octave; a series has each step twice, up and down.
  static func frequency(_ node: Int, _ topology: Topology) -> Float {
    let step = (topology == .series ? node / 2 : node) % 64
    var frequency = 60.0
    for _ in 0..<step / 8 { frequency *= 2 }
    for _ in 0..<step % 8 { frequency *= 1.090_507_732_665_257_7 }  // the eighth root of 2
    return Float(frequency)
  }

  /// Decibels.
  static func gain(_ node: Int) -> Float { node % 2 == 0 ? 1 : -1 }
}

extension BenchServer {
  /// How long an answer may take, in nanoseconds.
  static var timeLimit: Int64 { 5_000_000_000 }

  func send(_ message: OSCMessage) throws { try socket.send(try socket.wire(message)) }

  /// Sends messages as bundles that fit into a datagram, each taken before the next is sent.
  func bundled(_ messages: [OSCMessage], _ size: Int = 40) throws {
    for start in stride(from: 0, to: messages.count, by: size) {
      let part = Array(messages[start..<min(messages.count, start + size)])
      try socket.send(try socket.wire(.bundle(timeTag: OSCPacket.immediately, messages: part)))
      try synchronize()
    }
  }

  /// Waits until all that was sent before has been taken by the audio thread.
  func synchronize() throws {
    lastSync += 1
    try send(OSCMessage("/sync", .int32(lastSync)))
    try awaitSync()
  }

  /// Waits for the answer to the last `/sync`.
  func awaitSync() throws {
    let end = backline_now() + Self.timeLimit
    while let message = try socket.receive(until: end) {
      if syncNumber(message) == lastSync { return }
      try refuse(message)
    }
    throw BenchError("\(kind.rawValue): no answer to /sync: \(child.lastWords)")
  }

  /// The same where the kernel may have dropped the `/sync`: asks again every 20 ms.
  func synchronizeRepeatedly() throws {
    let first = lastSync + 1
    for _ in 0..<500 {
      lastSync += 1
      try send(OSCMessage("/sync", .int32(lastSync)))
      let end = backline_now() + 20_000_000
      while let message = try socket.receive(until: end) {
        if let number = syncNumber(message), number >= first { return }
      }
    }
    throw BenchError("\(kind.rawValue): no answer to /sync: \(child.lastWords)")
  }

  func awaitStatus() throws {
    let end = backline_now() + Self.timeLimit
    while let message = try socket.receive(until: end) { if isStatus(message) { return } }
    throw BenchError("\(kind.rawValue): no answer to /status: \(child.lastWords)")
  }

  /// A refusal means that the bench asks for the wrong thing.
  func refuse(_ message: OSCMessage) throws {
    if message.address.hasPrefix("/error") || message.address == "/fail" {
      throw BenchError("\(kind.rawValue) refused: \(message.arguments)")
    }
  }
}
