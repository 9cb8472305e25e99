import BacklineOSC
import CBackline
import Glibc

/// Asks a running rack on this machine, over UDP, and waits for its answer.
final class OSCClient {
  /// Where a rack listens unless told otherwise.
  static let defaultPort = 9950
  /// How long an answer may take, in nanoseconds.
  static let timeLimit: Int64 = 2_000_000_000
  /// The most bytes of a packet over UDP.
  static let packetLimit = 65_507

  private let descriptor: Int32
  private let port: Int
  private let wire: any OSCWire
  /// Marks the answers to the latest request. Begins anywhere, since an answer to an earlier client that had this port
  /// of ours may be on its way.
  private var id = Int32(truncatingIfNeeded: backline_now() & 0x3FFF_FFFF)

  /// A socket connected to `port` on the loopback address.
  init(port: Int, wire: any OSCWire) throws(CommandError) {
    self.port = port
    self.wire = wire
    descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    if descriptor < 0 { throw CommandError(.internalError, "no socket: \(SystemError.text(errno))") }
    let code = LoopbackAddress.with(port: port) { connect(descriptor, $0, $1) }
    if code != 0 { throw CommandError(.unavailable, "cannot reach port \(port): \(SystemError.text(errno))") }
  }

  deinit { close(descriptor) }

  /// Sends a command and returns its answers, the final one last: each the address that it is about and the values.
  ///
  /// The command goes out under `/id`, so that a set that succeeds, which is silent otherwise, is answered too.
  /// Throws `badData` where it is refused, `unavailable` where nobody answers in time.
  func request(_ message: OSCMessage, timeLimit: Int64 = OSCClient.timeLimit) throws(CommandError) -> [OSCMessage] {
    id &+= 1
    try send(OSCMessage("/id", [.int32(id), .string(message.address)] + message.arguments))
    var answers: [OSCMessage] = []
    var end = backline_now() + timeLimit
    while let packet = try receive(until: end) {
      guard let received = wire.decode(packet) else { continue }
      if let refusal = refusal(in: received) { throw refusal }
      guard let answer = answer(in: received) else { continue }
      answers.append(answer)
      // A question by pattern is answered once a match, and then under the pattern itself.
      if answer.address == message.address { return answers }
      end = backline_now() + timeLimit
    }
    throw CommandError(
      .unavailable, "no answer from port \(port) within \(ValueText.number(Double(timeLimit) / 1e9)) s")
  }

  /// The next message of whatever kind; `nil` where none comes before `end`, a time of `backline_now`.
  func nextMessage(until end: Int64) throws(CommandError) -> OSCMessage? {
    while let packet = try receive(until: end) {
      if let message = wire.decode(packet) { return message }
    }
    return nil
  }

  private func answer(in message: OSCMessage) -> OSCMessage? {
    guard message.address == "/reply/id", message.arguments.count >= 2, message.arguments[0] == .int32(id),
      case .string(let address) = message.arguments[1]
    else { return nil }
    return OSCMessage(address, Array(message.arguments.dropFirst(2)))
  }

  /// The refusal of our command, or of a packet that the rack could not take apart.
  private func refusal(in message: OSCMessage) -> CommandError? {
    var rest = message.arguments[...]
    if message.address == "/error/id" {
      guard rest.first == .int32(id) else { return nil }
      rest.removeFirst()
    } else if message.address != "/error" {
      return nil
    }
    let words = rest.map { argument in
      if case .string(let text) = argument { text } else { OSCArgumentText.show(argument) }
    }
    return CommandError(.badData, words.joined(separator: ": "))
  }

  private func send(_ message: OSCMessage) throws(CommandError) {
    let packet = try wire.encode(message)
    if packet.count > Self.packetLimit {
      throw .usage("the message has \(packet.count) bytes, more than the \(Self.packetLimit) that a packet holds")
    }
    while true {
      let count = packet.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, 0) }
      if count >= 0 { return }
      if errno != EINTR { throw failure(errno) }
    }
  }

  /// The next packet; `nil` where none comes before `end`, a time of `backline_now`.
  private func receive(until end: Int64) throws(CommandError) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: 65_536)
    while true {
      let rest = end - backline_now()
      if rest <= 0 { return nil }
      var ready = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      let count = poll(&ready, 1, Int32((rest + 999_999) / 1_000_000))
      if count == 0 { continue }
      if count < 0 {
        if errno == EINTR { continue }
        throw failure(errno)
      }
      let length = recv(descriptor, &bytes, bytes.count, Int32(MSG_DONTWAIT))
      if length >= 0 { return Array(bytes[..<length]) }
      if errno != EINTR && errno != EAGAIN { throw failure(errno) }
    }
  }

  private func failure(_ code: Int32) -> CommandError {
    if code == ECONNREFUSED {
      return CommandError(.unavailable, "nobody listens on port \(port): is 'backline run' running, with this port?")
    }
    return CommandError(.unavailable, "cannot talk to port \(port): \(SystemError.text(code))")
  }
}

/// 127.0.0.1 for calls of the system.
enum LoopbackAddress {
  static func with<Result>(port: Int, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(port).bigEndian
    address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
    return withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
  }
}
