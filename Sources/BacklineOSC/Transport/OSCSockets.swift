import CBackline
import Glibc

/// A UDP socket and a TCP listener on one address and one port.
final class OSCSockets {
  let datagram: Int32
  let listener: Int32
  let port: UInt16

  private var isOpen = true

  /// As much as the kernel may hold for us while the control queue is busy: some 20 000 small messages.
  private static let receiveBuffer: Int32 = 8 << 20

  /// Opens both. Port 0 takes one that is free for both.
  init(bind text: String, port: UInt16) throws(OSCServerError) {
    guard var address = NetworkAddress(text, port: port) else { throw .invalidAddress(text) }
    var attempts = port == 0 ? 64 : 1
    while true {
      attempts -= 1
      address.port = port
      // TCP first: a port in use by a connection of someone else's is found out before UDP takes it.
      let listener = backline_open_listener(&address)
      if listener < 0 { throw OSCServerError(-listener, address: text, port: port) }
      let found = backline_local_port(listener)
      address.port = UInt16(clamping: found)
      let datagram = found < 0 ? found : backline_open_datagram_socket(&address, Self.receiveBuffer)
      if datagram >= 0 {
        self.datagram = datagram
        self.listener = listener
        self.port = address.port
        return
      }
      Glibc.close(listener)
      if datagram != -EADDRINUSE || attempts == 0 { throw OSCServerError(-datagram, address: text, port: port) }
    }
  }

  /// No sockets at all.
  init() {
    datagram = -1
    listener = -1
    port = 0
    isOpen = false
  }

  deinit { close() }

  /// Gives the port back.
  func close() {
    if !isOpen { return }
    isOpen = false
    Glibc.close(datagram)
    Glibc.close(listener)
  }
}
