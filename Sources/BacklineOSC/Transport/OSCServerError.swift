import Glibc

/// Why the server could not open its sockets.
public enum OSCServerError: Error, Equatable, Sendable {
  /// Another program has the port, over UDP or TCP.
  case portTaken(UInt16)
  /// The port is reserved for the super-user.
  case portForbidden(UInt16)
  /// Not a numeric IPv4 or IPv6 address.
  case invalidAddress(String)
  /// The machine has no such address.
  case addressUnavailable(String)
  /// Another failure of the system, by its number.
  case system(Int32)

  init(_ code: Int32, address: String, port: UInt16) {
    self =
      switch code {
      case EADDRINUSE: .portTaken(port)
      case EACCES, EPERM: .portForbidden(port)
      case EADDRNOTAVAIL: .addressUnavailable(address)
      default: .system(code)
      }
  }
}

extension OSCServerError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .portTaken(let port): "OSC port \(port) is taken by another program; choose another port, or 0 for any"
    case .portForbidden(let port): "OSC port \(port) is reserved for the super-user; choose one from 1024 on"
    case .invalidAddress(let text): "'\(text)' is no numeric address to listen on"
    case .addressUnavailable(let text): "this machine has no address \(text)"
    case .system(let code): "cannot open the OSC sockets: \(String(cString: strerror(code)))"
    }
  }
}
