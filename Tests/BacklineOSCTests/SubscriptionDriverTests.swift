import BacklineEngine
import Glibc
import Testing

@testable import BacklineOSC

@Suite("Subscription driver")
struct SubscriptionDriverTests {
  @Test("what waits is told by the clock to the subscriber's socket, and the newest value comes last")
  func rounds() throws {
    let bench = try ServerBench()
    defer { bench.end() }
    let server = bench.server
    let driver = SubscriptionDriver(executor: bench.executor) { message, peer in server.send(message, to: peer) }
    let client = bench.udp()
    client.send(OSCMessage("/here"))
    bench.wait("the client has to be known") { bench.senders.count == 1 }
    let peer = try #require(bench.senders.first)
    let pattern = try OSCPattern("/a/*")
    let error = bench.onQueue { () -> EngineError? in
      do throws(EngineError) {
        try driver.subscribe(peer, to: pattern, milliseconds: 10)
      } catch {
        return error
      }
      for step in 1...100 { driver.changed("/a/b", to: [.int32(Int32(step))]) }
      driver.event(OSCMessage("/a/event"))
      return nil
    }
    #expect(error == nil)
    #expect(client.receiveMessage() == OSCMessage("/a/b", .int32(1)))
    #expect(client.receiveMessage() == OSCMessage("/a/event"))
    #expect(client.receiveMessage() == OSCMessage("/a/b", .int32(100)))
    bench.onQueue {
      driver.remove(peer)
      driver.changed("/a/b", to: [.int32(0)])
      server.send(OSCMessage("/end"), to: peer)
    }
    #expect(client.receiveMessage() == OSCMessage("/end"))
    bench.onQueue { driver.stop() }
  }

  @Test("readings are sampled for as long as somebody has subscribed to them")
  func readings() throws {
    let bench = try ServerBench()
    defer { bench.end() }
    let server = bench.server
    let driver = SubscriptionDriver(
      executor: bench.executor, sample: { [.string($0)] }, deliver: { message, peer in server.send(message, to: peer) })
    let client = bench.udp()
    client.send(OSCMessage("/here"))
    bench.wait("the client has to be known") { bench.senders.count == 1 }
    let peer = try #require(bench.senders.first)
    let pattern = try OSCPattern("/meter/*")
    bench.onQueue {
      driver.setReadings(["/meter/level", "/other"])
      do throws(EngineError) {
        try driver.subscribe(peer, to: pattern)
      } catch {
        Issue.record(error)
      }
    }
    #expect(client.receiveMessage() == OSCMessage("/meter/level", .string("/meter/level")))
    bench.onQueue { driver.stop() }
  }
}
