import BacklineEngine
import BacklineTestSupport
import CBackline
import Glibc
import Synchronization
import Testing

@testable import BacklineOSC

@Suite("OSC floods", .serialized)
struct CommandFloodTests {
  @Test("what the render thread has not yet taken is collapsed to the newest values; triggers are not")
  func collapse() throws {
    let bench = try CommandBench(isRunning: true)
    defer { bench.end() }
    let client = bench.udp()
    _ = client.bundle(
      OSCMessage("/graph/add", "gain", "g"), OSCMessage("/graph/add", "gain", "h"),
      OSCMessage("/graph/connect", "input", "g"), OSCMessage("/graph/connect", "g", "output"))
    bench.render(frames: 4_800)
    // Nothing renders meanwhile: more than the queue to the render thread holds.
    for round in 0..<200 {
      for index in 0..<100 { client.send("/node/g/gain", .float(-Float((round * 100 + index) % 90))) }
      for _ in 0..<5 { client.send("/node/h/reset") }
      #expect(client.drain().count == 5)
    }
    #expect(client.exchange("/node/g/gain", -6) == [])
    guard case .int32(let collapsed)? = bench.status("collapsedEvents") else { return }
    #expect(collapsed > 3_000)
    for _ in 0..<64 {
      bench.render(frames: 256)
      bench.onQueue { bench in bench.engine.here { $0.tidyNow() } }
    }
    let level = try #require(bench.output.last)
    #expect(abs(level - 0.501_187) < 1e-4)
    #expect(client.ask("/sync", 1) == .reply("/sync", 1))
  }

  @Test("a sync is answered once the render thread has taken all before it, and not before")
  func sync() throws {
    let bench = try CommandBench(isRunning: true)
    defer { bench.end() }
    let client = bench.udp()
    _ = client.ask("/graph/add", "gain", "g")
    bench.render(frames: 64)
    for step in 1...20 {
      _ = client.exchange("/node/g/gain", .float(-Float(step)))
      _ = client.exchange(step % 2 == 0 ? "/graph/connect" : "/graph/disconnect", "input", "g")
      #expect(client.exchange("/sync", .int32(Int32(step))) == [])
      bench.render(frames: 128)
      #expect(client.receive() == .reply("/sync", .int32(Int32(step))))
    }
    // One that waits when the host stops is answered then, for nothing will be taken any more.
    _ = client.exchange("/node/g/gain", 0)
    #expect(client.exchange("/sync", "last") == [])
    client.send("/engine/stop")
    let answers = [client.receive(), client.receive()]
    #expect(answers.contains(.reply("/sync", "last")) && answers.contains(.reply("/engine/stop")))
  }

  @Test("connections come and go by the hundred while commands are answered")
  func connections() throws {
    let bench = try CommandBench()
    defer { bench.end() }
    let client = bench.udp()
    for round in 0..<20 {
      let streams = (0..<30).map { _ in bench.tcp(round % 2 == 0 ? .slip : .lengthPrefix) }
      for (index, stream) in streams.enumerated() {
        if index % 3 == 0 { _ = stream.exchange("/subscribe", "/*/*/*") }
        if index % 3 == 1 { _ = stream.ask("/graph/begin") }
        if index % 3 == 2 { stream.send(Array([0x2F, 0x61])) }
      }
      #expect(client.ask("/ping", .int32(Int32(round))) == .reply("/ping", .int32(Int32(round))))
      for stream in streams { stream.socket.close() }
    }
    bench.wait("all have to be gone") {
      bench.onQueue { bench in
        bench.server.clientCount == 0 && bench.router.transactions.isEmpty && bench.router.subscriptions.table.isEmpty
      }
    }
  }
}
