import BacklineOSC
import BacklineTestSupport
import CBackline
import Glibc
import Synchronization

@testable import BacklineCommand

/// A code of our own in place of OSC's: fields between NULs, each with a letter for its type.
struct FakeWire: OSCWire {
  func encode(_ message: OSCMessage) throws(CommandError) -> [UInt8] {
    let fields = message.arguments.map { argument in
      switch argument {
      case .int32(let value): "i\(value)"
      case .float(let value): "f\(value)"
      case .string(let text): "s\(text)"
      case .true: "T"
      default: "N"
      }
    }
    return Array(([message.address] + fields).joined(separator: "\0").utf8)
  }

  func decode(_ packet: [UInt8]) -> OSCMessage? {
    let fields = packet.split(separator: 0, omittingEmptySubsequences: false).map {
      String(decoding: $0, as: UTF8.self)
    }
    guard let address = fields.first, address.hasPrefix("/") else { return nil }
    return OSCMessage(
      address,
      fields.dropFirst().map { field in
        let text = String(field.dropFirst())
        switch field.first {
        case "i": return .int32(Int32(text) ?? 0)
        case "f": return .float(Float(text) ?? 0)
        case "s": return .string(text)
        case "T": return .true
        default: return .nil
        }
      })
  }
}

/// A socket bound to a free port of the loopback address.
final class LoopbackSocket: Sendable {
  let descriptor: Int32
  let port: Int

  init(isUDP: Bool) throws {
    let type = Int32((isUDP ? SOCK_DGRAM : SOCK_STREAM).rawValue) | Int32(SOCK_CLOEXEC.rawValue)
    descriptor = socket(AF_INET, type | Int32(SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_in()
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let number = descriptor
    let isBound = LoopbackAddress.with(port: 0) { bind(number, $0, $1) } == 0
    if !isUDP { listen(descriptor, 1) }
    withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { _ = getsockname(number, $0, &length) }
    }
    port = Int(in_port_t(bigEndian: address.sin_port))
    if !isBound { throw CommandError(.internalError, "no port is free") }
  }

  deinit { close(descriptor) }
}

/// Answers commands as a rack would, on a thread of its own.
final class FakeRack: Sendable {
  typealias Answer = @Sendable (_ id: OSCArgument, _ address: String, _ values: [OSCArgument]) -> [OSCMessage]

  private let socket: LoopbackSocket
  private let wire: FakeWire
  private let answer: Answer
  private let received = Mutex<[OSCMessage]>([])
  private let thread = Mutex<pthread_t?>(nil)

  var port: Int { socket.port }

  private let commands: Int

  /// Ends after so many commands.
  init(_ wire: FakeWire, commands: Int = 1, _ answer: @escaping Answer) throws {
    self.commands = commands
    socket = try LoopbackSocket(isUDP: true)
    self.wire = wire
    self.answer = answer
    var id = pthread_t()
    pthread_create(&id, nil, rackThread, Unmanaged.passRetained(self).toOpaque())
    thread.withLock { $0 = id }
  }

  /// Waits for the thread and returns the commands that came.
  func finish() -> [OSCMessage] {
    if let id = thread.withLock({ $0 }) { pthread_join(id, nil) }
    return received.withLock { $0 }
  }

  fileprivate func run() { for _ in 0..<commands { serve() } }

  private func serve() {
    var ready = pollfd(fd: socket.descriptor, events: Int16(POLLIN), revents: 0)
    if poll(&ready, 1, 5000) <= 0 { return }
    var bytes = [UInt8](repeating: 0, count: 65_536)
    var sender = sockaddr_storage()
    var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
    withUnsafeMutablePointer(to: &sender) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        let count = recvfrom(socket.descriptor, &bytes, bytes.count, 0, address, &length)
        guard count > 0, let message = wire.decode(Array(bytes[..<count])), message.address == "/id",
          message.arguments.count >= 2, case .string(let target) = message.arguments[1]
        else { return }
        let values = Array(message.arguments.dropFirst(2))
        received.withLock { $0.append(OSCMessage(target, values)) }
        for reply in answer(message.arguments[0], target, values) {
          guard let packet = try? wire.encode(reply) else { continue }
          sendto(socket.descriptor, packet, packet.count, 0, address, length)
        }
      }
    }
  }
}

private func rackThread(_ rack: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
  guard let rack else { return nil }
  Unmanaged<FakeRack>.fromOpaque(rack).takeRetainedValue().run()
  return nil
}
