/// The connections that the user wants, learnt from what is connected and disconnected while the server lives.
///
/// A connection whose peer vanishes stays wanted. One that is taken apart while both ports exist is the user's doing and is
/// forgotten, but only after a while: the news that the peer has vanished follows that of the disconnection.
struct ConnectionMemory: Sendable {
  /// How long a disconnection waits for the news that explains it, in nanoseconds.
  static let patience: Int64 = 500_000_000

  /// The wanted connections in the order in which they were made.
  private(set) var wanted: [JACKConnection]
  private var pending: [(connection: JACKConnection, due: Int64)] = []
  private var reported: Set<String> = []
  /// The own ports that have ever been there, and those of them that are not there now.
  private var known: Set<String> = []
  private var withdrawn: Set<String> = []
  /// Ports of others that have gone: news of their disconnections may follow that of their end.
  private var gone: Set<String> = []

  init(_ wanted: [JACKConnection]) { self.wanted = wanted }

  /// Takes down that a connection has been made.
  mutating func connected(_ connection: JACKConnection) {
    pending.removeAll { $0.connection == connection }
    reported.remove(connection.peer)
    gone.remove(connection.peer)
    if !wanted.contains(connection) { wanted.append(connection) }
  }

  /// Takes down that a connection is gone, at a time in nanoseconds.
  mutating func disconnected(_ connection: JACKConnection, at now: Int64) {
    // With an own port that the graph has no use for now, its connections go for the time being.
    if isWithdrawn(connection) || gone.contains(connection.peer) { return }
    guard wanted.contains(connection), !pending.contains(where: { $0.connection == connection }) else { return }
    pending.append((connection, now + Self.patience))
  }

  /// Takes down that a port of another client has vanished: its disconnections were nobody's wish.
  mutating func vanished(_ peer: String) {
    if wanted.contains(where: { $0.peer == peer }) { gone.insert(peer) }
    pending.removeAll { $0.connection.peer == peer }
  }

  /// Takes down that a port of another client is there.
  mutating func appeared(_ peer: String) { gone.remove(peer) }

  /// Takes down that the server is gone, and every connection with it.
  mutating func lost() {
    pending = []
    reported = []
    gone = []
  }

  mutating func renamed(from old: String, to new: String) {
    for index in wanted.indices where wanted[index].peer == old { wanted[index].peer = new }
    for index in pending.indices where pending[index].connection.peer == old { pending[index].connection.peer = new }
  }

  /// Takes down which own ports there are; returns those that have not been there before.
  mutating func introduce(_ ports: [String]) -> Set<String> {
    withdrawn = known.subtracting(ports)
    let new = Set(ports).subtracting(known)
    known.formUnion(ports)
    return new
  }

  /// Takes back that these own ports have been there.
  mutating func reconsider(_ ports: Set<String>) { known.subtract(ports) }

  /// Takes down that own ports are about to go.
  mutating func withdraw(_ ports: Set<String>) { withdrawn.formUnion(ports) }

  /// Gives own ports their new names, all at once.
  mutating func renameOwn(_ names: [String: String]) {
    func renamed(_ connection: JACKConnection) -> JACKConnection {
      let peer = connection.peer.hasPrefix(":") ? names[String(connection.peer.dropFirst())].map { ":\($0)" } : nil
      return JACKConnection(port: names[connection.port] ?? connection.port, peer: peer ?? connection.peer)
    }
    wanted = wanted.map(renamed)
    for index in pending.indices { pending[index].connection = renamed(pending[index].connection) }
    known.formUnion(names.values)
  }

  private func isWithdrawn(_ connection: JACKConnection) -> Bool {
    withdrawn.contains(connection.port)
      || (connection.peer.hasPrefix(":") && withdrawn.contains(String(connection.peer.dropFirst())))
  }

  /// Forgets the disconnected whose time has come and whose peer still exists.
  mutating func settle(at now: Int64, exists: (String) -> Bool) {
    let due = pending.filter { $0.due <= now }.map(\.connection)
    pending.removeAll { $0.due <= now }
    for connection in due where exists(connection.peer) { wanted.removeAll { $0 == connection } }
  }

  /// The wanted connections that are not waiting to be forgotten.
  var restorable: [JACKConnection] {
    wanted.filter { connection in !pending.contains { $0.connection == connection } }
  }

  /// True the first time that a peer is found missing since it was last there.
  mutating func reportMissing(_ peer: String) -> Bool { reported.insert(peer).inserted }

  /// Replaces what is wanted.
  mutating func replace(_ connections: [JACKConnection]) {
    wanted = connections
    pending = []
    reported = []
    gone = []
  }
}
