import CBackline

/// Who is at the other end: a UDP address with its port, or a TCP connection. Cheap to copy, to compare and to hash.
public struct OSCPeer: Hashable, Sendable {
  private enum Kind: UInt8 {
    case datagram4, datagram6, stream
  }

  private let high: UInt64
  /// The IPv4 address, the lower half of the IPv6 address, or the number of the connection.
  private let low: UInt64
  private let scope: UInt32
  /// The UDP port; 0 for a connection.
  public let port: UInt16
  private let kind: Kind

  private init(high: UInt64, low: UInt64, scope: UInt32, port: UInt16, kind: Kind) {
    self.high = high
    self.low = low
    self.scope = scope
    self.port = port
    self.kind = kind
  }

  /// The sender of datagrams at this address.
  init(_ address: NetworkAddress) {
    self.init(
      high: address.high, low: address.low, scope: address.scope, port: address.port,
      kind: address.family == 6 ? .datagram6 : .datagram4)
  }

  /// A TCP connection, by its number; numbers are never used twice.
  init(connection: UInt64) {
    self.init(high: 0, low: connection, scope: 0, port: 0, kind: .stream)
  }

  /// True for a TCP connection.
  public var isStream: Bool { kind == .stream }

  /// The most bytes that one packet to this peer can have.
  public var packetLimit: Int { isStream ? OSCLimits.streamPacketBytes : OSCLimits.datagramBytes }

  /// The same host's other port; a connection has none and stays itself.
  public func withPort(_ port: UInt16) -> OSCPeer {
    isStream ? self : OSCPeer(high: high, low: low, scope: scope, port: port, kind: kind)
  }

  /// The number of the connection, where it is one.
  var connection: UInt64? { isStream ? low : nil }

  /// Where datagrams to this peer go.
  var address: NetworkAddress {
    NetworkAddress(high: high, low: low, scope: scope, port: port, family: kind == .datagram6 ? 6 : 4)
  }
}

extension OSCPeer: CustomStringConvertible {
  public var description: String {
    if isStream { return "TCP connection \(low)" }
    return "UDP \(address.text(withPort: true))"
  }
}

extension NetworkAddress {
  /// A numeric address or `localhost`; `nil` where the text is neither.
  init?(_ text: String, port: UInt16) {
    self.init()
    if !backline_parse_address(text == "localhost" ? "127.0.0.1" : text, port, &self) { return nil }
  }

  func text(withPort: Bool) -> String {
    var address = self
    let host = withUnsafeTemporaryAllocation(of: CChar.self, capacity: 64) { buffer -> String in
      guard let base = buffer.baseAddress else { return "?" }
      base.initialize(repeating: 0, count: 64)
      backline_format_address(&address, base)
      return String(cString: base)
    }
    if !withPort { return host }
    return family == 6 ? "[\(host)]:\(port)" : "\(host):\(port)"
  }
}
