import CBackline
import Foundation
import Glibc

@testable import BacklineOSC

/// A client's socket that waits, with a time limit.
final class TestSocket {
  let descriptor: Int32
  private var received: [UInt8] = []

  /// A UDP or TCP socket that is connected to a port of the loopback address.
  init(_ type: __socket_type, port: UInt16, from localPort: UInt16 = 0) {
    descriptor = socket(AF_INET, Int32(type.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    var limit = timeval(tv_sec: 10, tv_usec: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    var noDelay: Int32 = 1
    if type == SOCK_STREAM {
      setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &noDelay, socklen_t(MemoryLayout<Int32>.size))
    }
    if localPort != 0 { _ = Self.call(descriptor, localPort, bind) }
    _ = Self.call(descriptor, port, connect)
  }

  deinit { close() }

  private var isClosed = false

  func close() {
    if !isClosed { Glibc.close(descriptor) }
    isClosed = true
  }

  private static func call(
    _ descriptor: Int32, _ port: UInt16, _ function: (Int32, UnsafePointer<sockaddr>, socklen_t) -> Int32
  ) -> Int32 {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    return withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        function(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
  }

  var localPort: UInt16 { UInt16(clamping: backline_local_port(descriptor)) }

  /// Sends all of the bytes; false where the connection does not take them.
  @discardableResult
  func send(_ bytes: [UInt8]) -> Bool {
    if bytes.isEmpty { return Glibc.send(descriptor, bytes, 0, 0) == 0 }
    var sent = 0
    while sent < bytes.count {
      let count = bytes.withUnsafeBytes {
        Glibc.send(descriptor, $0.baseAddress! + sent, bytes.count - sent, Int32(MSG_NOSIGNAL))
      }
      if count <= 0 { return false }
      sent += count
    }
    return true
  }

  @discardableResult
  func send(_ message: OSCMessage) -> Bool { (try? message.encoded()).map { send($0) } ?? false }

  @discardableResult
  func send(_ message: OSCMessage, in framing: OSCStreamFraming) -> Bool {
    guard let packet = try? message.encoded() else { return false }
    return send(Self.frame(packet, framing))
  }

  static func frame(_ packet: [UInt8], _ framing: OSCStreamFraming) -> [UInt8] {
    var bytes: [UInt8] = []
    packet.withUnsafeBytes { framing.encode($0, into: &bytes) }
    return bytes
  }

  /// The coming datagram; `nil` after ten seconds of silence or where the port is refused.
  func receiveDatagram() -> [UInt8]? {
    var buffer = [UInt8](repeating: 0, count: 65_536)
    let count = recv(descriptor, &buffer, buffer.count, 0)
    return count < 0 ? nil : Array(buffer.prefix(count))
  }

  func receiveMessage() -> OSCMessage? {
    guard let bytes = receiveDatagram(), case .message(let message)? = try? OSCPacket(parsing: bytes) else {
      return nil
    }
    return message
  }

  /// The coming message of a stream; `nil` at its end, after ten seconds, or where it is none.
  func receiveMessage(in framing: OSCStreamFraming) -> OSCMessage? {
    while true {
      if let packet = takePacket(framing) {
        guard case .message(let message)? = try? OSCPacket(parsing: packet) else { return nil }
        return message
      }
      guard receiveMore() else { return nil }
    }
  }

  /// True where the peer has ended the connection.
  func isEnded() -> Bool {
    while receiveMore() {}
    return errno != EAGAIN
  }

  private func receiveMore() -> Bool {
    var buffer = [UInt8](repeating: 0, count: 65_536)
    errno = 0
    let count = recv(descriptor, &buffer, buffer.count, 0)
    if count <= 0 { return false }
    received += buffer.prefix(count)
    return true
  }

  private func takePacket(_ framing: OSCStreamFraming) -> [UInt8]? {
    switch framing {
    case .lengthPrefix:
      guard received.count >= 4 else { return nil }
      let size = received.prefix(4).reduce(0) { $0 << 8 | Int($1) }
      guard received.count >= 4 + size else { return nil }
      defer { received.removeFirst(4 + size) }
      return Array(received[4..<4 + size])
    case .slip:
      while received.first == OSCStreamFraming.end { received.removeFirst() }
      guard let end = received.firstIndex(of: OSCStreamFraming.end) else { return nil }
      defer { received.removeFirst(end + 1) }
      var packet: [UInt8] = []
      var isEscaped = false
      for byte in received[..<end] {
        if isEscaped {
          packet.append(byte == OSCStreamFraming.escapedEnd ? OSCStreamFraming.end : OSCStreamFraming.escape)
          isEscaped = false
        } else if byte == OSCStreamFraming.escape {
          isEscaped = true
        } else {
          packet.append(byte)
        }
      }
      return packet
    }
  }
}
