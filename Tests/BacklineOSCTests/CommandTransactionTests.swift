import BacklineEngine
import BacklineTestSupport
import Glibc
import Testing

@testable import BacklineOSC

@Suite("OSC transactions")
struct CommandTransactionTests {
  @Test("what is between begin and commit acts at the commit as one; others go on meanwhile")
  func commit() throws {
    let bench = try CommandBench()
    defer { bench.end() }
    let client = bench.udp(), other = bench.udp(), stream = bench.tcp(.slip)
    _ = client.ask("/graph/add", "gain", "g")
    #expect(client.ask("/graph/begin") == .reply("/graph/begin"))
    #expect(client.code("/graph/begin") == "busy")
    for message in [
      OSCMessage("/graph/add", "gain", "h"), OSCMessage("/graph/connect", "g", "h"), OSCMessage("/node/h/gain", -6),
      OSCMessage("/node/g/gain", -3), OSCMessage("/id", 9, "/node/h/bypass", 1),
    ] { #expect(client.exchange(.message(message)) == [], "\(message)") }
    #expect(client.ask("/node/g/gain") == .reply("/node/g/gain", 0.0))
    #expect(client.ask("/graph/list") == .reply("/graph/list", "g", "gain"))
    #expect(other.exchange("/node/g/gain", -1) == [])
    #expect(other.code("/graph/commit") == "notFound")
    #expect(stream.ask("/graph/begin") == .reply("/graph/begin"))
    #expect(stream.exchange("/graph/add", "gain", "of-another") == [])
    #expect(
      client.exchange("/graph/commit") == [
        .reply("/graph/add"), .reply("/graph/connect"), OSCMessage("/reply/id", 9, "/node/h/bypass"),
        .reply("/graph/commit", 5),
      ])
    #expect(bench.value("h", "gain") == -6 && bench.value("g", "gain") == -3)
    #expect(bench.graph.nodes.map(\.name) == ["g", "h"])
    #expect(stream.exchange("/graph/rollback") == [.reply("/graph/rollback")])
    #expect(client.ask("/graph/undo") == .reply("/graph/undo"))
    #expect(bench.graph.nodes.map(\.name) == ["g"])
  }

  @Test("a commit is refused whole by one error that names the command; the transaction is over")
  func refused() throws {
    let bench = try CommandBench()
    defer { bench.end() }
    let client = bench.udp()
    for (bad, code) in [
      (OSCMessage("/graph/connect", "a", "nobody"), "unknownNode"), (OSCMessage("/node/a/gain", 99), "outOfRange"),
      (OSCMessage("/graph/unknown"), "unknownAddress"),
    ] {
      _ = client.ask("/graph/begin")
      #expect(client.exchange("/graph/add", "gain", "a") == [])
      #expect(client.exchange(.message(bad)) == [])
      #expect(client.code("/graph/commit") == code)
      #expect(client.code("/graph/commit") == "notFound")
      #expect(bench.graph.nodes.isEmpty)
    }
  }

  @Test("a transaction of 4096 commands commits; one more spoils it, and all is rolled back")
  func limit() throws {
    let bench = try CommandBench()
    defer { bench.end() }
    let client = bench.tcp()
    for extra in [0, 1] {
      _ = client.ask("/graph/begin")
      for index in 0..<4_096 { client.send("/graph/add", "gain", .string("n\(extra)-\(index)")) }
      #expect(client.drain() == [])
      if extra == 1 {
        #expect(client.code("/graph/add", "gain", "extra") == "limitReached")
        #expect(client.code("/graph/commit") == "limitReached")
      } else {
        #expect(client.exchange("/graph/commit").count == 4_097)
      }
      #expect(bench.graph.nodes.count == 4_096)
    }
  }

  @Test(
    "a transaction that is not committed is rolled back after ten seconds, and the sender is told",
    .enabled(if: LongTests.areOn))
  func timeOut() throws {
    let bench = try CommandBench()
    defer { bench.end() }
    let client = bench.udp()
    _ = client.ask("/graph/begin")
    #expect(client.exchange("/graph/add", "gain", "a") == [])
    var told: OSCMessage?
    bench.wait("the sender has to be told") {
      told = client.drain().first
      return told != nil
    }
    #expect(told?.arguments.prefix(2) == ["#transaction", "tooLate"])
    #expect(client.code("/graph/commit") == "notFound")
    #expect(bench.graph.nodes.isEmpty)
  }

  @Test("a sender that is gone leaves no transaction behind")
  func gone() throws {
    let bench = try CommandBench()
    defer { bench.end() }
    let client = bench.tcp()
    _ = client.ask("/graph/begin")
    client.socket.close()
    bench.wait("the transaction has to be gone") { bench.onQueue { $0.router.transactions.isEmpty } }
  }

  @Test("undo and redo walk over edits of every kind, and tell subscribers what they do")
  func undo() throws {
    let bench = try CommandBench()
    defer { bench.end() }
    let client = bench.udp(), watcher = bench.udp()
    let edits: [OSCMessage] = [
      OSCMessage("/graph/add", "gain", "a"), OSCMessage("/graph/add", "mixer", "m"),
      OSCMessage("/graph/connect", "input", "a"), OSCMessage("/graph/connect", "a", "m"),
      OSCMessage("/graph/connect", "m", "output"), OSCMessage("/graph/insert", "delay", "d", "a", "m"),
      OSCMessage("/graph/rename", "d", "echo"), OSCMessage("/graph/move", "echo", "m", "output"),
      OSCMessage("/graph/replace", "echo", "reverb"), OSCMessage("/graph/connect", "echo", "m:3", "feedback"),
      OSCMessage("/graph/disconnect", "a", "m"), OSCMessage("/graph/remove", "m"),
    ]
    var states = [bench.shape]
    for edit in edits {
      #expect(client.exchange(.message(edit)) == [.reply(edit.address)], "\(edit)")
      states.append(bench.shape)
    }
    for state in states.dropLast().reversed() {
      #expect(client.ask("/graph/undo") == .reply("/graph/undo"))
      #expect(bench.shape == state)
    }
    #expect(client.code("/graph/undo") == "notFound")
    _ = watcher.ask("/subscribe", "/graph/changed")
    for state in states.dropFirst() {
      #expect(client.ask("/graph/redo") == .reply("/graph/redo"))
      #expect(bench.shape == state)
    }
    #expect(client.code("/graph/redo") == "notFound")
    let told = watcher.drain()
    #expect(told.first == OSCMessage("/graph/changed", "added", "a"))
    #expect(told.contains(OSCMessage("/graph/changed", "renamed", "d echo")))
    #expect(told.last == OSCMessage("/graph/changed", "removed", "m"))
  }
}

/// Tests that take longer than five seconds run where `BACKLINE_LONG_TESTS` is 1.
enum LongTests {
  static let areOn = getenv("BACKLINE_LONG_TESTS").map { String(cString: $0) } == "1"
}

extension CommandBench {
  /// The graph without values and without the order of slots, to compare what an undo gives back.
  var shape: [String] {
    let graph = graph
    return
      (graph.nodes.map { "\($0.name) \($0.kind) \($0.isBypassed)" }
      + graph.connections.map { "\($0.from) \($0.to) \($0.isFeedback)" }).sorted()
  }
}
