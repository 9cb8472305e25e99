import BacklineEngine
import BacklineTestSupport
import CBackline
import Glibc
import Testing

@testable import BacklineOSC

@Suite("OSC server", .serialized)
struct OSCServerTests {
  private let ping = OSCMessage("/ping", .int32(7), .string("é"))
  private let pong = OSCMessage("/reply", .string("/ping"), .int32(7), .string("é"))

  @Test("an answer over UDP goes to the sender's port and comes from the listening port; clients get only their own")
  func answersOverUDP() throws {
    let bench = try ServerBench()
    defer { bench.end() }
    let a = bench.udp()
    let b = bench.udp()
    a.send(OSCMessage("/ping", .string("a")))
    b.send(OSCMessage("/ping", .string("b")))
    // A connected socket takes datagrams of its peer's address and port only.
    #expect(a.receiveMessage() == OSCMessage("/reply", .string("/ping"), .string("a")))
    #expect(b.receiveMessage() == OSCMessage("/reply", .string("/ping"), .string("b")))
  }

  @Test("a reply port is honoured, inside one bundle too")
  func replyPort() throws {
    let bench = try ServerBench()
    defer { bench.end() }
    let sender = bench.udp()
    let receiver = bench.udp()
    let bundle = OSCPacket.bundle(
      timeTag: 1, messages: [OSCMessage("/reply/port", .int32(Int32(receiver.localPort))), ping])
    sender.send(try bundle.encoded())
    #expect(receiver.receiveMessage() == pong)
  }

  @Test("both framings are answered in kind, whether bytes come one by one or two messages in one write")
  func framings() throws {
    let bench = try ServerBench()
    defer { bench.end() }
    for framing in [OSCStreamFraming.lengthPrefix, .slip] {
      let client = bench.tcp()
      let tricky = OSCMessage("/ping", .blob([0xC0, 0xDB, 0xDC, 0xC0, 0xDD]))
      let frame = TestSocket.frame(try tricky.encoded(), framing)
      for byte in frame { client.send([byte]) }
      let answer = OSCMessage("/reply", .string("/ping"), tricky.arguments[0])
      #expect(client.receiveMessage(in: framing) == answer)
      client.send(frame + frame)
      for _ in 0..<2 { #expect(client.receiveMessage(in: framing) == answer) }
    }
    let single = bench.tcp()
    single.send(Array(TestSocket.frame(try ping.encoded(), .slip).dropFirst()))
    #expect(single.receiveMessage(in: .slip) == pong)
  }

  @Test(
    "blobs up to the limit arrive whole over TCP, and the connection goes on",
    arguments: [32_752, 32_753, 65_536, 1_000_000])
  func blobs(_ size: Int) throws {
    let bench = try ServerBench()
    defer { bench.end() }
    var generator = SeededGenerator(UInt64(size))
    let blob = (0..<size).map { _ in UInt8.random(in: 0...255, using: &generator) }
    let sum = blob.reduce(Int64(0)) { $0 + Int64($1) }
    for framing in [OSCStreamFraming.lengthPrefix, .slip] {
      let client = bench.tcp()
      client.send(OSCMessage("/sum", .blob(blob)), in: framing)
      client.send(ping, in: framing)
      #expect(
        client.receiveMessage(in: framing) == OSCMessage("/reply", .string("/sum"), .int64(sum), .int32(Int32(size))))
      #expect(client.receiveMessage(in: framing) == pong)
    }
  }

  @Test("a packet above the limit is refused with the limit stated, and the connection goes on")
  func oversized() throws {
    let bench = try ServerBench()
    defer { bench.end() }
    for framing in [OSCStreamFraming.lengthPrefix, .slip] {
      let client = bench.tcp()
      client.send(TestSocket.frame([UInt8](repeating: 0x2F, count: (1 << 20) + 4), framing))
      client.send(ping, in: framing)
      let error = OSCMessage(
        "/error", .string("#packet"), .string("limitReached"),
        .string("1048580 bytes are more than the limit of 1048576"))
      #expect(client.receiveMessage(in: framing) == error)
      #expect(client.receiveMessage(in: framing) == pong)
    }
    #expect(bench.counters.oversizedPackets == 2 && bench.counters.malformedPackets == 2)
  }

  @Test("connections cut in the middle of a frame a thousand times leave nothing behind, and a healthy one works on")
  func cuts() throws {
    let bench = try ServerBench()
    defer { bench.end() }
    let healthy = bench.tcp()
    healthy.send(ping, in: .slip)
    #expect(healthy.receiveMessage(in: .slip) == pong)
    let descriptors = openDescriptors()
    for index in 0..<1000 {
      let framing = index % 2 == 0 ? OSCStreamFraming.lengthPrefix : .slip
      let client = bench.tcp()
      client.send(Array(TestSocket.frame(try ping.encoded(), framing).prefix(1 + index % 20)))
      client.close()
    }
    bench.wait("all cut connections have to be gone") { bench.gone.count == 1000 }
    #expect(bench.onQueue { bench.server.clientCount } == 1)
    // Other tests of this process open a few of their own meanwhile, and close them.
    bench.wait("no descriptor may be left open") { openDescriptors() <= descriptors }
    healthy.send(ping, in: .slip)
    #expect(healthy.receiveMessage(in: .slip) == pong)
  }

  private func openDescriptors() -> Int {
    (0..<1024).filter { fcntl($0, F_GETFD) != -1 }.count
  }

  @Test("malformed packets and ten thousand mutated ones are counted, the log stays short, and the next message works")
  func malformed() throws {
    let bench = try ServerBench()
    defer { bench.end() }
    let client = bench.udp()
    for (_, bytes, _) in TestPackets.malformed { client.send(bytes) }
    bench.wait("all malformed packets have to be counted") {
      bench.counters.malformedPackets == TestPackets.malformed.count
    }
    var generator = SeededGenerator(7)
    let stream = bench.tcp()
    for _ in 0..<10_000 {
      stream.send(TestSocket.frame(TestPackets.mutation(&generator), .lengthPrefix))
    }
    bench.wait("all mutated packets have to be seen") {
      let counters = bench.counters
      return counters.packets + counters.malformedPackets == 10_000 + TestPackets.malformed.count
    }
    #expect(bench.log.count < 200)
    let fresh = bench.udp()
    fresh.send(ping)
    #expect(fresh.receiveMessage() == pong)
  }

  @Test("what is no packet is answered with the reason, ten times a second at most, and not where it is an answer")
  func brokenPackets() throws {
    let bench = try ServerBench()
    defer { bench.end() }
    func isRefusal(_ message: OSCMessage?) -> Bool {
      message?.address == "/error" && message?.arguments.prefix(2) == [.string("#packet"), .string("wrongType")]
    }
    let client = bench.udp()
    client.send(Array("GET / HTTP/1.1\r\n".utf8))
    #expect(isRefusal(client.receiveMessage()))
    // A broken answer is none that is answered: what comes next is the answer to what follows.
    client.send(Array("/error\0\0,s".utf8))
    client.send(ping)
    #expect(client.receiveMessage() == pong)
    let stream = bench.tcp()
    stream.send([0xC0, 0xDB, 0x00, 0xC0])
    #expect(isRefusal(stream.receiveMessage(in: .slip)))
    let broken = bench.tcp()
    broken.send([0xFF, 0xFF, 0xFF, 0xFF])
    #expect(isRefusal(broken.receiveMessage(in: .lengthPrefix)))
    let before = bench.counters.malformedPackets
    for _ in 0..<100 { client.send([1, 2, 3]) }
    bench.wait("all have to be counted") { bench.counters.malformedPackets == before + 100 }
    client.send(ping)
    var refusals = 0
    while let message = client.receiveMessage(), message != pong { refusals += isRefusal(message) ? 1 : 0 }
    // The hundred may come over two of the seconds.
    #expect(refusals <= 20)
  }

  @Test("text that is no UTF-8 is refused by an error that names the address, and an answer is never answered")
  func invalidText() throws {
    let bench = try ServerBench()
    defer { bench.end() }
    let client = bench.udp()
    client.send(TestPackets.message("/reply", "s", [0xFF, 0, 0, 0]))
    client.send(TestPackets.message("/label", "s", [0xFF, 0, 0, 0]))
    let error = client.receiveMessage()
    #expect(error?.address == "/error" && error?.arguments.prefix(2) == [.string("/label"), .string("wrongType")])
    #expect(bench.kept.isEmpty)
  }

  @Test("a reply that does not fit into a datagram becomes an error that says what to do; TCP carries it")
  func largeReply() throws {
    let bench = try ServerBench()
    defer { bench.end() }
    let client = bench.udp()
    client.send(OSCMessage("/large", .int32(70_000)))
    let error = client.receiveMessage()
    #expect(error?.arguments.prefix(2) == [.string("/large"), .string("limitReached")])
    let stream = bench.tcp()
    stream.send(OSCMessage("/large", .int32(1_000_000)), in: .lengthPrefix)
    let reply = stream.receiveMessage(in: .lengthPrefix)
    #expect(reply?.arguments.last == .blob([UInt8](repeating: 0xC0, count: 1_000_000)))
  }

  @Test("a taken port is a typed error, whether UDP or TCP has it, and free again after a shutdown")
  func portTaken() throws {
    let bench = try ServerBench()
    let port = bench.port
    #expect(throws: OSCServerError.portTaken(port)) { try OSCServer(executor: bench.executor, port: port) }
    let other = try OSCServer(executor: bench.executor, port: 0)
    #expect(other.port != port && other.port != 0)
    bench.onQueue { bench.server.shutdown() }
    let holder = TestSocket(SOCK_DGRAM, port: 9, from: port)
    #expect(holder.localPort == port)
    #expect(throws: OSCServerError.portTaken(port)) { try OSCServer(executor: bench.executor, port: port) }
    holder.close()
    let again = try OSCServer(executor: bench.executor, port: port)
    #expect(again.port == port)
    bench.end()
  }

  @Test("an address that is none, or not this machine's, is refused")
  func address() throws {
    let executor = try ControlExecutor()
    defer { executor.shutdown() }
    #expect(throws: OSCServerError.invalidAddress("here")) { try OSCServer(executor: executor, bind: "here", port: 0) }
    #expect(throws: OSCServerError.addressUnavailable("192.0.2.1")) {
      try OSCServer(executor: executor, bind: "192.0.2.1", port: 0)
    }
  }

  @Test("the sixty-fifth connection is told so and ended; one that ends makes room")
  func clientLimit() throws {
    let bench = try ServerBench()
    defer { bench.end() }
    var clients = (0..<64).map { _ in bench.tcp() }
    for client in clients {
      client.send(ping, in: .lengthPrefix)
      #expect(client.receiveMessage(in: .lengthPrefix) == pong)
    }
    let extra = bench.tcp()
    let error = extra.receiveMessage(in: .lengthPrefix)
    #expect(error?.address == "/error" && error?.arguments.contains(.string("limitReached")) == true)
    #expect(extra.isEnded())
    clients.removeLast().close()
    bench.wait("the closed connection has to be gone") { bench.gone.count == 1 }
    let next = bench.tcp()
    next.send(ping, in: .slip)
    #expect(next.receiveMessage(in: .slip) == pong)
    #expect(bench.counters.refusedClients == 1)
  }

  @Test("a reader that falls behind is disconnected and counted; others are served meanwhile")
  func slowReader() throws {
    let bench = try ServerBench()
    defer { bench.end() }
    let slow = bench.tcp()
    for _ in 0..<16 { slow.send(OSCMessage("/large", .int32(1_000_000)), in: .lengthPrefix) }
    bench.wait("the slow reader has to be gone") { bench.gone.count == 1 }
    #expect(bench.counters.slowClients == 1)
    let other = bench.udp()
    other.send(ping)
    #expect(other.receiveMessage() == pong)
  }

  @Test("what waits for a reader is sent once it reads")
  func backlog() throws {
    let bench = try ServerBench()
    defer { bench.end() }
    let client = bench.tcp()
    var asked = 0
    while asked < 60 && bench.onQueue({ bench.server.clients.values.allSatisfy { $0.waitingCount == 0 } }) {
      client.send(OSCMessage("/large", .int32(300_000)), in: .lengthPrefix)
      asked += 1
    }
    client.send(ping, in: .lengthPrefix)
    let large = OSCMessage("/reply", .string("/large"), .blob([UInt8](repeating: 0xC0, count: 300_000)))
    for _ in 0..<asked { #expect(client.receiveMessage(in: .lengthPrefix) == large) }
    #expect(client.receiveMessage(in: .lengthPrefix) == pong)
    #expect(asked < 60)
  }

  @Test("a UDP peer whose port refuses an answer is named as gone, by its sender's port too where they differ")
  func refusedPort() throws {
    let bench = try ServerBench()
    defer { bench.end() }
    let client = bench.udp()
    let closed = bench.udp()
    client.send(OSCMessage("/keep", .int32(1)))
    client.send(OSCMessage("/reply/port", .int32(Int32(closed.localPort))))
    bench.wait("the message has to come") { bench.kept.count == 1 }
    let sender = try #require(bench.senders.first)
    closed.close()
    client.send(ping)
    bench.wait("the refusal has to be learnt") { bench.gone.contains(sender) }
    #expect(bench.onQueue { bench.server.replyPorts.count } == 0)
    client.send(ping)
    #expect(client.receiveMessage() == pong)
  }

  @Test("IPv6 works where it is asked for")
  func version6() throws {
    guard let bench = try? ServerBench(bind: "::1") else { return }
    defer { bench.end() }
    #expect(bench.port != 0)
    #expect("\(OSCPeer(NetworkAddress("::1", port: 5)!))" == "UDP [::1]:5")
    #expect("\(OSCPeer(NetworkAddress("localhost", port: 5)!))" == "UDP 127.0.0.1:5")
  }

  @Test("datagrams that come faster than one batch are all taken in order")
  func burst() throws {
    let bench = try ServerBench()
    defer { bench.end() }
    let client = bench.udp()
    for index in 0..<1000 { client.send(OSCMessage("/n", .int32(Int32(index)))) }
    bench.wait("all have to come") { bench.kept.count == 1000 }
    #expect(bench.kept == (0..<1000).map { OSCMessage("/n", .int32(Int32($0))) })
  }
}
