import Glibc

@testable import BacklineCommand

/// Sends datagrams to a port of this machine and reads nothing.
final class DatagramSender {
  private let descriptor: Int32

  init(port: Int) throws {
    descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    let number = descriptor
    guard LoopbackAddress.with(port: port, { connect(number, $0, $1) }) == 0 else {
      throw CommandError(.unavailable, "no datagrams to port \(port)")
    }
  }

  deinit { close(descriptor) }

  func send(_ bytes: [UInt8]) { _ = Glibc.send(descriptor, bytes, bytes.count, 0) }
}
