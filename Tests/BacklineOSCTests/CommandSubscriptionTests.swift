import BacklineEngine
import BacklineTestSupport
import CBackline
import Glibc
import Testing

@testable import BacklineOSC

@Suite("OSC subscriptions")
struct CommandSubscriptionTests {
  private func bench(isRunning: Bool = false) throws -> (CommandBench, CommandClient) {
    let bench = try CommandBench(isRunning: isRunning)
    let client = bench.udp()
    _ = client.bundle(
      OSCMessage("/graph/add", "gain", "a"), OSCMessage("/graph/add", "gain", "b"),
      OSCMessage("/graph/add", "noise", "n"), OSCMessage("/graph/connect", "input", "a"),
      OSCMessage("/graph/connect", "a", "output"))
    return (bench, client)
  }

  @Test("the current values come at once, after the reply; then changes under the parameter's own address")
  func values() throws {
    let (bench, client) = try bench()
    defer { bench.end() }
    let watcher = bench.udp()
    #expect(
      watcher.exchange("/subscribe", "/node/[ab]/*", 5) == [
        .reply("/subscribe", "/node/[ab]/*", 5), OSCMessage("/node/a/gain", 0.0), OSCMessage("/node/a/bypass", 0),
        OSCMessage("/node/b/gain", 0.0), OSCMessage("/node/b/bypass", 0),
      ])
    _ = client.exchange("/node/a/gain", -6)
    #expect(watcher.receive() == OSCMessage("/node/a/gain", -6.0))
    _ = client.exchange("/node/*/gain", -9)
    #expect(watcher.receive() == OSCMessage("/node/a/gain", -9.0))
    #expect(watcher.receive() == OSCMessage("/node/b/gain", -9.0))
    _ = client.exchange("/node/b/bypass", 1)
    #expect(watcher.receive() == OSCMessage("/node/b/bypass", 1))
    _ = client.exchange("/node/b/gain/ramp", -3, 1)
    #expect(watcher.receive() == OSCMessage("/node/b/gain", -3.0))
    #expect(
      watcher.exchange("/subscribe", "/{mute,tempo}").dropFirst() == [
        OSCMessage("/mute", 0), OSCMessage("/tempo", .double(120)),
      ])
    _ = client.exchange("/mute", 1)
    #expect(watcher.receive() == OSCMessage("/mute", 1))
    _ = client.exchange("/tempo", 100)
    #expect(watcher.receive() == OSCMessage("/tempo", .double(100)))
    #expect(watcher.ask("/unsubscribe", "/node/[ab]/*") == .reply("/unsubscribe", "/node/[ab]/*"))
    _ = client.exchange("/node/a/gain", -1)
    #expect(watcher.drain() == [])
  }

  @Test("the newest value comes at most once an interval")
  func rate() throws {
    let (bench, client) = try bench()
    defer { bench.end() }
    let watcher = bench.udp()
    _ = watcher.exchange("/subscribe", "/node/a/gain", 100)
    let start = backline_now()
    for index in 1...500 {
      client.send("/node/a/gain", .float(Float(-index) / 10))
      // No faster than the socket's buffer can hold.
      if index % 50 == 0 { _ = client.drain() }
    }
    var messages: [OSCMessage] = []
    while messages.last != OSCMessage("/node/a/gain", -50.0), let message = watcher.receive() {
      messages.append(message)
    }
    let seconds = Double(backline_now() - start) * 1e-9
    #expect(messages.last == OSCMessage("/node/a/gain", -50.0))
    #expect(Double(messages.count) <= 2 + seconds / 0.1)
  }

  @Test("U-33: who moves a fader hears nothing of it, others do; echoes die out, a preset reaches all")
  func echoes() throws {
    let (bench, _) = try bench()
    defer { bench.end() }
    let x = bench.udp(), y = bench.udp()
    for client in [x, y] { _ = client.exchange("/subscribe", "/node/a/*", 5) }
    var heard: [OSCMessage] = []
    func listen() {
      // Y sends back whatever it receives.
      for message in y.drain() {
        heard.append(message)
        y.send(.message(message))
      }
    }
    for index in 1...200 {
      x.send("/node/a/gain", .float(-Float(index) / 10))
      usleep(1_000)
      listen()
    }
    bench.wait("Y has to hear of the last value") {
      listen()
      return heard.last == OSCMessage("/node/a/gain", -20.0)
    }
    _ = y.drain()
    #expect(bench.value("a", "gain") == -20)
    #expect(heard.count > 5)
    #expect(x.drain() == [])
    _ = x.exchange("/node/a/bypass", 1)
    let bypass = y.receive()
    #expect(bypass == OSCMessage("/node/a/bypass", 1))
    _ = x.exchange("/node/a/bypass", 0)
    if let bypass { y.send(.message(bypass)) }
    _ = y.receive { $0 == OSCMessage("/node/a/bypass", 0) }
    #expect(x.ask("/node/a/bypass") == .reply("/node/a/bypass", 0))
    let graph = bench.graph
    bench.onQueue { bench in
      bench.engine.here { engine in
        var changed = graph
        for index in changed.nodes.indices where changed.nodes[index].name == "a" { changed.nodes[index].values = [5] }
        try? engine.perform(.load(changed))
      }
    }
    for client in [x, y] { #expect(client.receive { $0.address == "/node/a/gain" } == OSCMessage("/node/a/gain", 5.0)) }
  }

  @Test("what was set in another form than it is told in is told to the one who set it, too")
  func changedOnTheWay() throws {
    let (bench, client) = try bench()
    defer { bench.end() }
    _ = client.exchange("/subscribe", "/node/[an]/*", 5)
    #expect(client.exchange("/node/n/color", "pink") == [OSCMessage("/node/n/color", 1)])
    for value in [.double(-0.1), .int64(-7), .int32(-8)] as [OSCArgument] {
      #expect(client.exchange("/node/a/gain", value) == [])
    }
  }

  @Test("events come by pattern: edits, states, and what a host reports")
  func events() throws {
    let (bench, client) = try bench(isRunning: true)
    defer { bench.end() }
    let watcher = bench.udp()
    #expect(
      watcher.exchange("/subscribe", "/engine/*").dropFirst() == [OSCMessage("/engine/state", "running", "")])
    _ = watcher.exchange("/subscribe", "/graph/changed")
    let edits: [(OSCMessage, String, String)] = [
      (OSCMessage("/graph/add", "delay", "d"), "added", "d"),
      (OSCMessage("/graph/connect", "n", "d"), "connected", "n d"),
      (OSCMessage("/graph/disconnect", "n", "d"), "disconnected", "n d"),
      (OSCMessage("/graph/rename", "d", "e"), "renamed", "d e"),
      (OSCMessage("/graph/move", "e", "a", "output"), "moved", "e"),
      (OSCMessage("/graph/replace", "e", "reverb"), "replaced", "e"),
      (OSCMessage("/graph/remove", "e"), "removed", "e"),
    ]
    for (edit, what, name) in edits {
      _ = client.exchange(.message(edit))
      #expect(watcher.receive() == OSCMessage("/graph/changed", .string(what), .string(name)))
    }
    bench.host?.send(.periodChanged(128))
    #expect(watcher.receive() == OSCMessage("/engine/configuration", "period", 64, 128, 2))
    client.send("/engine/stop")
    #expect(client.receive() == .reply("/engine/stop"))
    #expect(watcher.receive() == OSCMessage("/engine/state", "stopped", ""))
  }

  @Test("a meter's readings come by themselves, at the interval, while it is subscribed to")
  func readings() throws {
    let (bench, client) = try bench(isRunning: true)
    defer { bench.end() }
    _ = client.exchange("/graph/insert", "meter", "vu", "a", "output")
    let watcher = bench.udp()
    #expect(watcher.exchange("/subscribe", "/node/vu/peakLeft", 5).last == OSCMessage("/node/vu/peakLeft", -96.0))
    bench.render(frames: 9_600)
    let told = watcher.receive { message in
      guard case .float(let level)? = message.arguments.first else { return false }
      return level > -1
    }
    #expect(told?.address == "/node/vu/peakLeft")
    // A meter that comes later is followed, too.
    _ = watcher.exchange("/subscribe", "/node/second/peakLeft", 5)
    _ = client.exchange("/graph/insert", "meter", "second", "vu", "output")
    #expect(watcher.receive { $0.address == "/node/second/peakLeft" } != nil)
  }

  @Test("64 peers subscribe to 64 patterns each, no more; what they have ends with a connection or a refused port")
  func limits() throws {
    let (bench, client) = try bench()
    defer { bench.end() }
    var peers = (0..<64).map { _ in bench.udp() }
    for peer in peers {
      #expect(peer.exchange("/subscribe", "/*/*/*").first == .reply("/subscribe", "/*/*/*", 50))
    }
    #expect(client.code("/subscribe", "/a") == "limitReached")
    for index in 1..<64 { #expect(peers[0].ask("/subscribe", .string("/x\(index)")) != nil) }
    #expect(peers[0].code("/subscribe", "/y") == "limitReached")
    _ = client.exchange("/node/a/gain", -6)
    for peer in peers { #expect(peer.receive() == OSCMessage("/node/a/gain", -6.0)) }
    peers.removeLast().socket.close()
    _ = client.exchange("/node/a/gain", -7)
    bench.wait("the refusing port has to be forgotten") {
      bench.onQueue { $0.router.subscriptions.table.subscribers.count } == 63
    }
    let stream = bench.tcp()
    #expect(stream.exchange("/subscribe", "/*/*/*").first == .reply("/subscribe", "/*/*/*", 50))
    #expect(client.code("/subscribe", "/a") == "limitReached")
    stream.socket.close()
    bench.wait("the ended connection has to be forgotten") {
      bench.onQueue { $0.router.subscriptions.table.subscribers.count } == 63
    }
  }

  @Test("a subscriber with a reply port hears there, and one who subscribes from there is another's business")
  func replyPort() throws {
    let (bench, client) = try bench()
    defer { bench.end() }
    let sender = bench.udp(), ear = bench.udp()
    sender.send("/reply/port", .int32(Int32(ear.port)))
    _ = ear.receive()
    sender.send("/subscribe", "/node/a/gain", 5)
    #expect(ear.receive() == .reply("/subscribe", "/node/a/gain", 5))
    #expect(ear.receive() == OSCMessage("/node/a/gain", 0.0))
    _ = client.exchange("/node/a/gain", -2)
    #expect(ear.receive() == OSCMessage("/node/a/gain", -2.0))
    sender.send("/node/a/gain", -4)
    sender.send("/ping", 77)
    #expect(ear.receive() == .reply("/ping", 77))
  }

  @Test("a reader of TCP that does not read is ended at its limit; others are served")
  func slowReader() throws {
    let (bench, client) = try bench()
    defer { bench.end() }
    // In bundles whose replies fit into a socket's buffer of the usual size.
    for first in stride(from: 0, to: 500, by: 50) {
      let names = (first..<first + 50).map { "\($0)" + String(repeating: "x", count: 60) }
      _ = client.exchange(.bundle(timeTag: 1, messages: names.map { OSCMessage("/graph/add", "gain", .string($0)) }))
    }
    let slow = bench.tcp()
    _ = slow.exchange("/subscribe", "/graph/changed")
    bench.wait("the slow reader has to be gone") {
      for _ in 0..<50 { slow.send("/graph/list") }
      #expect(client.ask("/ping", 1) == .reply("/ping", 1))
      return bench.onQueue { $0.server.clientCount } == 0
    }
    #expect(bench.onQueue { $0.router.subscriptions.table.isEmpty })
    #expect(client.ask("/ping", 5) == .reply("/ping", 5))
  }
}
