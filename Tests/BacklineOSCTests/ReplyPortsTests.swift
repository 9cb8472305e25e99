import CBackline
import Testing

@testable import BacklineOSC

@Suite("Reply ports")
struct ReplyPortsTests {
  private func peer(_ port: UInt16) -> OSCPeer {
    OSCPeer(NetworkAddress(high: 0, low: 0x7F00_0001, scope: 0, port: port, family: 4))
  }

  @Test("a port is kept for each sending address and port, and taken back by naming the sender's own")
  func mapping() {
    var ports = ReplyPorts()
    ports.set(9000, for: peer(5001))
    #expect(ports.destination(for: peer(5001)) == peer(9000))
    #expect(ports.destination(for: peer(5002)) == peer(5002))
    ports.set(5001, for: peer(5001))
    #expect(ports.destination(for: peer(5001)) == peer(5001))
    #expect(ports.count == 0)
  }

  @Test("a connection has no other port")
  func connection() {
    var ports = ReplyPorts()
    ports.set(9000, for: OSCPeer(connection: 3))
    #expect(ports.destination(for: OSCPeer(connection: 3)) == OSCPeer(connection: 3))
    #expect(ports.count == 0)
  }

  @Test("beyond the limit the oldest mapping makes room; one set again is new")
  func limit() {
    var ports = ReplyPorts(limit: 3)
    for port in 1...3 as ClosedRange<UInt16> { ports.set(9000, for: peer(port)) }
    ports.set(9001, for: peer(1))
    ports.set(9000, for: peer(4))
    #expect(ports.count == 3)
    #expect(ports.destination(for: peer(2)) == peer(2))
    #expect(ports.destination(for: peer(1)) == peer(9001))
  }

  @Test("all senders answered at a port that is gone are named and forgotten")
  func gone() {
    var ports = ReplyPorts()
    for port in 1...3 as ClosedRange<UInt16> { ports.set(port == 2 ? 9001 : 9000, for: peer(port)) }
    #expect(Set(ports.remove(answeredAt: peer(9000))) == [peer(1), peer(3)])
    #expect(ports.count == 1)
  }
}
