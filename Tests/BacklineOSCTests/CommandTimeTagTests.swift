import BacklineEngine
import BacklineTestSupport
import CBackline
import Testing

@testable import BacklineOSC

@Suite("OSC time tags")
struct CommandTimeTagTests {
  /// A running rack whose gain passes DC, and whose frame 0 plays at a time a little ahead.
  private func bench(ahead seconds: Double = 0) throws -> (CommandBench, CommandClient, time: Int64) {
    let bench = try CommandBench(isRunning: true)
    let client = bench.udp()
    _ = client.bundle(
      OSCMessage("/graph/add", "gain", "g", "gain", -96), OSCMessage("/graph/add", "gain", "h"),
      OSCMessage("/graph/connect", "input", "g"), OSCMessage("/graph/connect", "g", "output"))
    bench.render(frames: 4_800)
    bench.onQueue { bench in bench.engine.here { $0.tidyNow() } }
    bench.render(frames: 4_800)
    let now = backline_now() + Int64(seconds * 1e9)
    bench.host?.anchor = (Int64(bench.output.count), now)
    return (bench, client, now)
  }

  /// The first frame at which the output is not what it was at `start`.
  private func change(_ bench: CommandBench, from start: Int) -> Int? {
    bench.output.indices.dropFirst(start).first { bench.output[$0] != bench.output[start] }
  }

  @Test("U-17: a bundle acts on the frame of its tag, all of it at once; two are as far apart as their tags")
  func frames() throws {
    let (bench, client, time) = try bench(ahead: 0.2)
    defer { bench.end() }
    let start = bench.output.count
    let watcher = bench.udp()
    _ = watcher.ask("/subscribe", "/taken")
    let up = [OSCMessage("/node/g/gain", 0), OSCMessage("/node/h/gain", -3), OSCMessage("/node/h/bypass", 1)]
    let first = 0.010, apart = 0.0123
    client.send(.bundle(timeTag: TimeTag.tag(of: time + Int64(first * 1e9)), messages: up))
    client.send(
      .bundle(
        timeTag: TimeTag.tag(of: time + Int64((first + apart) * 1e9)), messages: [OSCMessage("/node/g/gain", -96)]))
    #expect(client.drain() == [])
    bench.render(frames: 2_400)
    // A ramp of 10 ms begins at the frame: its first sample has moved or is the last one at rest.
    let rise = try #require(change(bench, from: start)) - start
    #expect(abs(rise - Int((first * 48_000).rounded())) <= 1)
    let top = try #require(bench.output.indices.dropFirst(start).first { bench.output[$0] == 1 })
    let fall = try #require(change(bench, from: top)) - start
    #expect(abs(fall - rise - Int((apart * 48_000).rounded())) <= 1)
    let taken = [watcher.receive(), watcher.receive()].compactMap(\.?.arguments)
    #expect(taken.map(\.first) == ["/node/g/gain", "/node/g/gain"])
    for (arguments, wanted) in zip(taken, [first, first + apart]) {
      guard case .int64(let frame)? = arguments.last else { continue }
      #expect(abs(Int(frame) - start - Int((wanted * 48_000).rounded())) <= 1)
    }
    #expect(bench.status("lateEvents") == 0)
  }

  @Test("U-17: a tag in the past acts at once, is counted and reported; tag 1 acts at once and is not late")
  func late() throws {
    let (bench, client, time) = try bench()
    defer { bench.end() }
    let watcher = bench.udp()
    _ = watcher.ask("/subscribe", "/late")
    for tag in [time - 200_000_000, time - 1_000_000_000_000] {
      client.send(.bundle(timeTag: TimeTag.tag(of: tag), messages: [OSCMessage("/node/g/gain", 0)]))
    }
    client.send(.bundle(timeTag: 0, messages: [OSCMessage("/node/g/gain", 0)]))
    client.send(.bundle(timeTag: 1, messages: [OSCMessage("/node/g/gain", -6)]))
    #expect(client.drain() == [])
    #expect(bench.value("g", "gain") == -6)
    #expect(bench.status("lateEvents") == 3)
    #expect(watcher.receive() == OSCMessage("/late", "/node/g/gain", .int64(9_600)))
    #expect(watcher.receive() == OSCMessage("/late", "/node/g/gain", .int64(48_000_000)))
    #expect(watcher.drain().map(\.address) == ["/late"])
  }

  @Test("U-16: bundles an hour ahead are refused, each with an error; ordinary messages act at once")
  func farAhead() throws {
    let (bench, client, _) = try bench()
    defer { bench.end() }
    let count = LongTests.areOn ? 100_000 : 2_000
    for _ in 0..<count / 100 {
      for _ in 0..<100 {
        client.send(.bundle(timeTag: TimeTag.tag(in: 3_600), messages: [OSCMessage("/node/g/gain", 0)]))
      }
      let answers = client.drain()
      #expect(answers.count == 100 && answers.allSatisfy { CommandClient.code([$0], "#bundle") == "outOfRange" })
    }
    client.send(.bundle(timeTag: .max, messages: [OSCMessage("/node/g/gain", 0)]))
    #expect(CommandClient.code(client.drain(), "#bundle") == "outOfRange")
    #expect(client.exchange("/node/g/gain", -6) == [])
    #expect(bench.value("g", "gain") == -6)
    #expect(bench.status("refusedEvents") == .int32(Int32(count + 1)))
  }

  @Test("U-16: at most 4096 scheduled commands wait; what is beyond is refused until some have acted")
  func waiting() throws {
    let (bench, client, _) = try bench()
    defer { bench.end() }
    let thousand = (0..<1_000).map { _ in OSCMessage("/node/g/gain", -20) }
    let tag = TimeTag.tag(in: 50)
    for _ in 0..<4 { client.send(.bundle(timeTag: tag, messages: thousand)) }
    #expect(client.drain() == [])
    client.send(.bundle(timeTag: tag, messages: thousand))
    #expect(CommandClient.code(client.drain(), "#bundle") == "limitReached")
    client.send(.bundle(timeTag: tag, messages: Array(thousand.prefix(96))))
    #expect(client.drain() == [])
    client.send(.bundle(timeTag: tag, messages: [OSCMessage("/version")]))
    #expect(CommandClient.code(client.drain(), "#bundle") == "limitReached")
    #expect(client.exchange(.bundle(timeTag: 1, messages: [OSCMessage("/version")])).count == 1)
    #expect(bench.value("g", "gain") == -96)
  }

  @Test("a timed bundle is checked when it comes and refused whole; nothing of it acts")
  func checked() throws {
    let (bench, client, time) = try bench(ahead: 0.2)
    defer { bench.end() }
    let before = bench.graph
    for ahead in [0.01, 30] {
      for bad in [OSCMessage("/node/x/gain", 0), OSCMessage("/graph/connect", "new", "g"), OSCMessage("/sync", 1)] {
        client.send(
          .bundle(
            timeTag: TimeTag.tag(of: time + Int64(ahead * 1e9)),
            messages: [OSCMessage("/graph/add", "gain", "new"), OSCMessage("/node/g/gain", 0), bad]))
        #expect(CommandClient.code(client.drain(), "#bundle") != nil, "\(bad)")
      }
    }
    #expect(bench.graph == before)
  }

  @Test("a timed edit of the graph acts on its frame, with the values of its bundle")
  func edit() throws {
    let (bench, client, _) = try bench()
    defer { bench.end() }
    let watcher = bench.udp()
    _ = watcher.ask("/subscribe", "/taken")
    let start = bench.output.count
    let due = backline_now() + 60_000_000
    bench.host?.anchor = (Int64(start + 480), due)
    client.send(
      .bundle(
        timeTag: TimeTag.tag(of: due),
        messages: [
          OSCMessage("/graph/disconnect", "g", "output"), OSCMessage("/graph/add", "gain", "new", "gain", 0),
          OSCMessage("/graph/connect", "input", "new"), OSCMessage("/graph/connect", "new", "output"),
        ]))
    // Published as late as is safe, so that no plan before it has to wait.
    bench.wait("the edit has to be made") { bench.graph.nodes.count == 3 }
    #expect(
      client.drain().map(\.arguments.first) == ["/graph/disconnect", "/graph/add", "/graph/connect", "/graph/connect"])
    bench.onQueue { bench in bench.engine.here { $0.flush() } }
    bench.render(frames: 1_024)
    let first = try #require(change(bench, from: start)) - start
    #expect(abs(first - 480) <= 1)
    bench.onQueue { bench in bench.engine.here { $0.flush() } }
    guard let taken = watcher.receive(), case .int64(let frame)? = taken.arguments.last else {
      Issue.record("nothing was told")
      return
    }
    #expect(taken.arguments.first == "/graph/disconnect" && abs(Int(frame) - start - 480) <= 1)
  }

  @Test("where no audio runs a timed bundle waits for its time by the clock")
  func idle() throws {
    let bench = try CommandBench()
    defer { bench.end() }
    let client = bench.udp()
    let due = backline_now() + 150_000_000
    client.send(.bundle(timeTag: TimeTag.tag(of: due), messages: [OSCMessage("/graph/add", "gain", "g")]))
    #expect(client.receive() == .reply("/graph/add"))
    #expect(backline_now() >= due - 1_000_000)
    #expect(bench.status("lateEvents") == 0)
  }
}
