import BacklineOSC
import Glibc

/// Whether a rack can listen on a port of this machine.
enum OSCPortProbe: Equatable, Sendable {
  case free
  /// A rack answers there, of this version.
  case rack(String)
  /// Something else has it.
  case taken
  case failed(String)

  /// Tries to bind the port over UDP and TCP, and asks who is there where it is taken.
  static func probe(port: Int, wire: (any OSCWire)?) -> OSCPortProbe {
    for type in [SOCK_DGRAM, SOCK_STREAM] {
      let code = bindError(port, Int32(type.rawValue))
      if code == 0 { continue }
      if code != EADDRINUSE { return .failed(SystemError.text(code)) }
      return wire.flatMap { version(port, $0) }.map { .rack($0) } ?? .taken
    }
    return .free
  }

  func finding(port: Int) -> DoctorFinding {
    let name = "oscPort"
    switch self {
    case .free: return .ok(name, "port \(port) for OSC is free")
    case .rack(let version): return .ok(name, "a rack of version \(version) listens on port \(port)")
    case .taken:
      return .problem(
        name, "port \(port) for OSC is taken",
        "end who has it ('ss -lunp sport = :\(port)' tells), or run with '--osc-port PORT'")
    case .failed(let reason):
      return .problem(name, "port \(port) for OSC cannot be used: \(reason)", "run with '--osc-port PORT'")
    }
  }

  /// 0, or the error of binding the port on the loopback address.
  private static func bindError(_ port: Int, _ type: Int32) -> Int32 {
    let descriptor = socket(AF_INET, type | Int32(SOCK_CLOEXEC.rawValue), 0)
    if descriptor < 0 { return errno }
    defer { close(descriptor) }
    var one: Int32 = 1
    // A TCP port whose connections have just ended is free for a server, which sets this too.
    if type == Int32(SOCK_STREAM.rawValue) {
      setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &one, socklen_t(MemoryLayout<Int32>.size))
    }
    return LoopbackAddress.with(port: port) { bind(descriptor, $0, $1) == 0 ? 0 : errno }
  }

  private static func version(_ port: Int, _ wire: any OSCWire) -> String? {
    guard let client = try? OSCClient(port: port, wire: wire),
      let answer = try? client.request(OSCMessage("/version"), timeLimit: 500_000_000).last
    else { return nil }
    return answer.arguments.map(OSCArgumentText.show).joined(separator: " ")
  }
}
