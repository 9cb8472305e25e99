import BacklineOSC
import CBackline
import Glibc

/// A socket to an OSC server on this machine: UDP, or TCP with a length before each packet.
///
/// Packets are made before they are measured: `wire` gives the bytes, `send` only sends them.
final class OSCSocket {
  let isStream: Bool
  let port: UInt16
  private let descriptor: Int32
  private let poll = backline_poll_create()
  private var buffer = [UInt8](repeating: 0, count: 1 << 17)
  private var filled = 0

  /// Connects; a TCP server that does not listen yet is waited for.
  init(port: UInt16, isStream: Bool) throws(BenchError) {
    self.port = port
    self.isStream = isStream
    let type = (isStream ? SOCK_STREAM : SOCK_DGRAM).rawValue
    let limit = backline_now() + 5_000_000_000
    while true {
      let descriptor = socket(AF_INET, Int32(type) | Int32(SOCK_CLOEXEC.rawValue), 0)
      if descriptor < 0 { throw BenchError.system("socket") }
      if Self.connect(descriptor, port) == 0 {
        self.descriptor = descriptor
        break
      }
      close(descriptor)
      if backline_now() > limit { throw BenchError("nobody listens on TCP port \(port)") }
      try Interruption.sleep(0.01)
    }
    var one: Int32 = 1
    var size: Int32 = 4 << 20
    let length = socklen_t(MemoryLayout<Int32>.size)
    if isStream { setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &one, length) }
    setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, length)
    _ = backline_poll_set(poll, descriptor, true, false)
  }

  deinit {
    close(poll)
    close(descriptor)
  }

  private static func connect(_ descriptor: Int32, _ port: UInt16) -> Int32 {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    return withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
  }

  // MARK: Packets

  /// A packet as it goes over this socket.
  func wire(_ packet: OSCPacket) throws -> [UInt8] {
    let bytes = try packet.encoded()
    return isStream ? withUnsafeBytes(of: UInt32(bytes.count).bigEndian) { Array($0) } + bytes : bytes
  }

  func wire(_ message: OSCMessage) throws -> [UInt8] { try wire(OSCPacket.message(message)) }

  func send(_ bytes: [UInt8]) throws(BenchError) {
    var sent = 0
    while sent < bytes.count {
      let count = bytes.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress! + sent, $0.count - sent, 0) }
      if count < 0 {
        // A server that does not listen yet, or not any more: its silence will be noticed.
        if errno == ECONNREFUSED && !isStream { return }
        if errno != EINTR { throw BenchError.system("send") }
        continue
      }
      sent += count
    }
  }

  /// The next message; `nil` where none comes before `end` (CLOCK_MONOTONIC, nanoseconds).
  func receive(until end: Int64) throws -> OSCMessage? {
    while true {
      if let packet = takePacket() {
        if case .message(let message) = try OSCPacket(parsing: packet) { return message }
        continue
      }
      let rest = end - backline_now()
      if rest <= 0 { return nil }
      try Interruption.check()
      var ready = ReadyDescriptor()
      if backline_poll_wait(poll, &ready, 1, rest) > 0 { try fill() }
    }
  }

  private func fill() throws(BenchError) {
    let room = buffer.count - filled
    let count = buffer.withUnsafeMutableBytes { recv(descriptor, $0.baseAddress! + filled, room, Int32(MSG_DONTWAIT)) }
    if count > 0 { filled += count } else if count == 0 && isStream { throw BenchError("the server has hung up") }
    if count < 0 && errno != EAGAIN && errno != EINTR && errno != ECONNREFUSED { throw BenchError.system("recv") }
  }

  private func takePacket() -> [UInt8]? {
    if filled == 0 { return nil }
    if !isStream {
      defer { filled = 0 }
      return Array(buffer[..<filled])
    }
    if filled < 4 { return nil }
    let length = Int(buffer[0]) << 24 | Int(buffer[1]) << 16 | Int(buffer[2]) << 8 | Int(buffer[3])
    if filled < 4 + length { return nil }
    defer {
      buffer.withUnsafeMutableBytes { bytes in
        _ = memmove(bytes.baseAddress!, bytes.baseAddress! + 4 + length, filled - 4 - length)
      }
      filled -= 4 + length
    }
    return Array(buffer[4..<4 + length])
  }
}
