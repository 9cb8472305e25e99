import Glibc

/// One connection between a port of this client and a port of another.
public struct JACKConnection: Sendable, Hashable {
  /// The own port's short name.
  public var port: String
  /// The other port's full name, `client:port`; an own one is written `:port`, since the client's name may change.
  public var peer: String

  public init(port: String, peer: String) {
    self.port = port
    self.peer = peer
  }
}

/// What is connected when the host starts for the first time and no connections were saved.
public enum JACKConnectPolicy: String, Sendable {
  /// Inputs to the system's capture ports and outputs to its playback ports, in order.
  case auto
  /// Nothing.
  case none
}

/// How the JACK host attaches to its server.
public struct JACKOptions: Sendable {
  /// The server's name; the default one where `nil`.
  public var server: String?
  /// Refuse to open under another name than the one asked for.
  public var exactName: Bool
  public var connectPolicy: JACKConnectPolicy
  /// The connections to make, now or when their ports appear. With any, the policy is not used.
  public var connections: [JACKConnection]
  /// Gets one line for what a user should know (a missing peer, a changed name). Called on a thread of the host's.
  public var log: @Sendable (String) -> Void

  public init(
    server: String? = nil, exactName: Bool = false, connectPolicy: JACKConnectPolicy = .auto,
    connections: [JACKConnection] = [], log: @escaping @Sendable (String) -> Void = JACKOptions.logToStandardError
  ) {
    self.server = server
    self.exactName = exactName
    self.connectPolicy = connectPolicy
    self.connections = connections
    self.log = log
  }

  /// Writes a line to standard error.
  public static func logToStandardError(_ message: String) {
    var line = "backline: jack: \(message)\n"
    line.withUTF8 { bytes in _ = write(STDERR_FILENO, bytes.baseAddress, bytes.count) }
  }
}
