import BacklineEngine
import BacklineTestSupport
import Testing

@testable import BacklineOSC

@Suite("Commands while several threads render (U-88)")
struct CommandParallelTests {
  private struct Session {
    /// As text, in which what is no number equals itself.
    var replies: [String] = []
    var graph: GraphDescription
    var sound: [UInt32] = []
  }

  /// What 1 000 commands are answered, what comes of the graph, and what is heard meanwhile.
  private func session(_ threads: RenderThreads) throws -> Session {
    let bench = try CommandBench(isRunning: true, threads: threads, isOffline: true)
    defer { bench.end() }
    let client = bench.udp()
    var session = Session(graph: bench.graph)
    var generator = CommandGenerator(88)
    for (name, kind) in [("a", "noise"), ("b", "equalizer"), ("c", "delay"), ("mix", "mixer")] {
      _ = client.exchange("/graph/add", .string(kind), .string(name))
    }
    for (from, to) in [("a", "b"), ("b", "mix"), ("a", "c"), ("c", "mix"), ("mix", "output")] {
      _ = client.exchange("/graph/connect", .string(from), .string(to))
    }
    var count = 0
    while count < 1_000 {
      let message = generator.message()
      // Transactions that are left open, subscriptions and clocks answer by the time of day.
      if !message.address.hasPrefix("/graph/") && !message.address.hasPrefix("/node/") { continue }
      if ["/graph/begin", "/graph/commit", "/graph/rollback"].contains(message.address) { continue }
      count += 1
      session.replies.append("\(client.exchange(.message(message)))")
      bench.render(frames: 64)
    }
    session.graph = bench.graph
    session.sound = bench.output.map(\.bitPattern)
    return session
  }

  @Test("a thousand commands have the same answers, the same graph and the same sound with one thread and with three")
  func sameSession() throws {
    let one = try session(.one)
    let three = try session(.always(3))
    #expect(one.replies == three.replies)
    #expect(one.graph == three.graph)
    #expect(one.sound == three.sound)
    #expect(one.sound.contains { $0 != 0 })
  }
}
