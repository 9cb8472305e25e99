import BacklineOSC
import BacklineTestSupport
import CBackline
import Foundation
import Glibc
import Testing

/// A `backline run` of a test, on the timer, in a folder of its own, and a UDP socket to talk to it.
final class RunningRack {
  let process: ProcessRunner
  let port: UInt16
  /// The folder that paths are confined to; made for the test and removed with it.
  let folder: String
  private let descriptor: Int32
  private var token: Int32 = 1_000_000

  init(_ arguments: [String] = [], presets: [String: String] = [:]) throws {
    let folder = FileManager.default.temporaryDirectory.path + "/backline-osc-\(UUID().uuidString)"
    self.folder = folder
    try FileManager.default.createDirectory(atPath: folder + "/presets", withIntermediateDirectories: true)
    for (name, text) in presets {
      try text.write(toFile: "\(folder)/presets/\(name).json", atomically: false, encoding: .utf8)
    }
    process = try ProcessRunner(
      BuiltProgram.backline(),
      ["run", "--host", "timer", "--osc-port", "0", "--root", folder] + arguments,
      environment: ["BACKLINE_PRESETS": folder + "/presets", "XDG_CONFIG_HOME": folder + "/config"])
    let ready = try process.readLine()
    port = try #require(Self.port(in: ready))
    descriptor = Self.socket(SOCK_DGRAM, port)
  }

  /// The port that a ready line names.
  static func port(in line: String?) -> UInt16? {
    let words = line?.split(separator: " ") ?? []
    return words.first { $0.hasPrefix("osc=") }.flatMap { UInt16($0.dropFirst(4)) }
  }

  deinit {
    close(descriptor)
    process.send(SIGTERM)
    _ = try? process.wait(5)
    try? FileManager.default.removeItem(atPath: folder)
  }

  /// A connected socket that gives up after ten seconds.
  static func socket(_ type: __socket_type, _ port: UInt16) -> Int32 {
    // Not for programs that other tests start meanwhile: they would hold the connection open.
    let descriptor = Glibc.socket(AF_INET, Int32(type.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    var limit = timeval(tv_sec: 10, tv_usec: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    _ = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    return descriptor
  }

  // MARK: Talking

  func send(_ bytes: [UInt8]) { _ = Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) }

  func send(_ address: String, _ arguments: OSCArgument...) {
    if let bytes = try? OSCMessage(address, arguments).encoded() { send(bytes) }
  }

  /// The coming message; `nil` after ten seconds.
  func receive() -> OSCMessage? {
    var buffer = [UInt8](repeating: 0, count: 65_536)
    let count = recv(descriptor, &buffer, buffer.count, 0)
    guard count > 0, case .message(let message)? = try? OSCPacket(parsing: Array(buffer.prefix(count))) else {
      return nil
    }
    return message
  }

  /// The final answer to a command; what else comes is left out.
  func ask(_ address: String, _ arguments: OSCArgument...) -> OSCMessage? {
    if let bytes = try? OSCMessage(address, arguments).encoded() { send(bytes) }
    while let message = receive() {
      if ["/reply", "/error"].contains(message.address), message.arguments.first == .string(address) { return message }
    }
    return nil
  }

  /// The values of a reply; `nil` where there was none.
  func values(_ address: String, _ arguments: OSCArgument...) -> [OSCArgument]? {
    if let bytes = try? OSCMessage(address, arguments).encoded() { send(bytes) }
    while let message = receive() {
      guard message.arguments.first == .string(address) else { continue }
      return message.address == "/reply" ? Array(message.arguments.dropFirst()) : nil
    }
    return nil
  }

  /// The code and the sentence of a refusal.
  func refusal(_ address: String, _ arguments: OSCArgument...) -> (code: String, sentence: String)? {
    if let bytes = try? OSCMessage(address, arguments).encoded() { send(bytes) }
    while let message = receive() {
      guard message.arguments.first == .string(address) else { continue }
      guard message.address == "/error", case .string(let code) = message.arguments[1],
        case .string(let sentence) = message.arguments[2]
      else { return nil }
      return (code, sentence)
    }
    return nil
  }

  /// What came up to now.
  func drain() -> [OSCMessage] {
    token += 1
    send("/ping", .int32(token))
    var messages: [OSCMessage] = []
    while let message = receive() {
      if message == OSCMessage("/reply", .string("/ping"), .int32(token)) { break }
      messages.append(message)
    }
    return messages
  }

  /// What `/status` says under a key.
  func status(_ key: String) -> OSCArgument? {
    let pairs = values("/status") ?? []
    for index in stride(from: 0, to: pairs.count - 1, by: 2) where pairs[index] == .string(key) {
      return pairs[index + 1]
    }
    return nil
  }

  func integer(_ key: String) -> Int {
    switch status(key) {
    case .int32(let value): Int(value)
    case .int64(let value): Int(value)
    default: -1
    }
  }

  func path(_ name: String) -> String { folder + "/" + name }

  /// Waits until something holds, for at most ten seconds.
  func wait(_ what: Comment, until condition: () -> Bool) {
    for _ in 0..<1_000 {
      if condition() { return }
      usleep(10_000)
    }
    Issue.record(what)
  }
}
