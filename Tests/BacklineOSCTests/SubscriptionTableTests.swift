import BacklineEngine
import Testing

@testable import BacklineOSC

@Suite("Subscriptions")
struct SubscriptionTableTests {
  private let x = OSCPeer(connection: 1)
  private let y = OSCPeer(connection: 2)

  /// A table with a clock in milliseconds and a list of what was told.
  private final class Bench {
    let table = SubscriptionTable()
    var now: Int64 = 0
    var told: [(peer: OSCPeer, message: OSCMessage, at: Int64)] = []
    var samples: [String: Float] = [:]

    func subscribe(_ peer: OSCPeer, _ pattern: String, _ milliseconds: Int = 50) throws {
      try table.subscribe(peer, to: OSCPattern(pattern), milliseconds: milliseconds)
    }

    func set(_ address: String, _ value: Float, by peer: OSCPeer? = nil, changedOnTheWay: Bool = false) {
      table.changed(
        address, to: [.float(value)], by: peer, changedOnTheWay: changedOnTheWay, now: now * 1_000_000,
        deliver: deliver)
    }

    /// Moves the clock on, running the rounds that fall due.
    func advance(_ milliseconds: Int64) {
      for _ in 0..<milliseconds {
        now += 1
        guard let due = table.nextRound, due <= now * 1_000_000 else { continue }
        table.runRounds(
          now: now * 1_000_000, sample: { [samples] in samples[$0].map { [.float($0)] } }, deliver: deliver)
      }
    }

    func deliver(_ message: OSCMessage, _ peer: OSCPeer) { told.append((peer, message, now)) }

    func values(_ peer: OSCPeer, _ address: String? = nil) -> [Float] {
      told.filter { $0.peer == peer && (address == nil || $0.message.address == address) }.compactMap {
        if case .float(let value)? = $0.message.arguments.first { value } else { nil }
      }
    }
  }

  @Test("the first change is told at once, later ones once an interval with the newest value")
  func interval() throws {
    let bench = Bench()
    try bench.subscribe(y, "/n/*/gain")
    for step in 1...100 {
      bench.set("/n/a/gain", Float(step), by: x)
      bench.set("/n/a/pan", Float(step), by: x)
      bench.advance(1)
    }
    bench.advance(200)
    #expect(bench.told.map(\.at) == [0, 50, 100])
    #expect(bench.values(y) == [1, 50, 100])
    #expect(bench.table.nextRound == nil)
  }

  @Test("two controllers that send back whatever they receive: the other follows, no echo of the own move, then rest")
  func echo() throws {
    let bench = Bench()
    for peer in [x, y] { try bench.subscribe(peer, "/n/a/*") }
    var answered = 0
    /// Sends back what was told since; as the server does, an echo is no command.
    func sendBack() {
      while answered < bench.told.count {
        let (peer, message, _) = bench.told[answered]
        answered += 1
        let isEcho = bench.table.isEcho(
          message.arguments, at: message.address, from: peer, now: bench.now * 1_000_000)
        #expect(isEcho)
        if !isEcho, case .float(let value)? = message.arguments.first { bench.set(message.address, value, by: peer) }
      }
    }
    for step in 0...200 {
      bench.set("/n/a/gain", Float(step) / 200, by: x)
      bench.advance(10)
      sendBack()
    }
    let end = bench.now
    for _ in 0..<100 {
      bench.advance(10)
      sendBack()
    }
    #expect(bench.values(x).isEmpty)
    #expect(bench.values(y).last == 1)
    #expect(bench.values(y).count <= 42)
    #expect(bench.told.allSatisfy { $0.at <= end + 200 })
    bench.set("/n/a/gain", 0.25)
    bench.advance(100)
    #expect(bench.values(x) == [0.25] && bench.values(y).last == 0.25)
  }

  @Test("even where echoes are taken for commands, the traffic dies out")
  func echoTakenForCommand() throws {
    let bench = Bench()
    for peer in [x, y] { try bench.subscribe(peer, "/n/a/*") }
    var answered = 0
    bench.set("/n/a/gain", 0.1, by: x)
    bench.set("/n/a/gain", 0.2, by: x)
    for _ in 0..<40 {
      bench.advance(5)
      while answered < bench.told.count {
        let (peer, message, _) = bench.told[answered]
        answered += 1
        if case .float(let value)? = message.arguments.first { bench.set(message.address, value, by: peer) }
      }
    }
    let count = bench.told.count
    bench.advance(1000)
    #expect(bench.told.count == count && bench.table.nextRound == nil)
  }

  @Test("a value sent back later, or another value, is a command")
  func noEcho() throws {
    let bench = Bench()
    try bench.subscribe(x, "/a")
    bench.set("/a", 1)
    func isEcho(_ value: Float, from peer: OSCPeer) -> Bool {
      bench.table.isEcho([.float(value)], at: "/a", from: peer, now: bench.now * 1_000_000)
    }
    #expect(isEcho(1, from: x) && !isEcho(2, from: x) && !isEcho(1, from: y))
    bench.advance(251)
    #expect(!isEcho(1, from: x))
    bench.set("/a", 3, by: x)
    #expect(!isEcho(3, from: x))
  }

  @Test("the sender is told a value that was changed on the way, each time")
  func changedOnTheWay() throws {
    let bench = Bench()
    try bench.subscribe(x, "/a")
    for _ in 0..<2 {
      bench.set("/a", 1, by: x, changedOnTheWay: true)
      bench.advance(60)
    }
    #expect(bench.values(x) == [1, 1])
  }

  @Test("a value that waits is not told to the peer that has set a newer one")
  func supersededByOwnValue() throws {
    let bench = Bench()
    for peer in [x, y] { try bench.subscribe(peer, "/a") }
    bench.set("/a", 1)
    bench.advance(10)
    bench.set("/a", 2)
    bench.advance(10)
    bench.set("/a", 3, by: x)
    bench.advance(100)
    #expect(bench.values(x) == [1] && bench.values(y) == [1, 3])
  }

  @Test("subscribing again changes the interval, and overlapping patterns of a peer tell each value once")
  func idempotent() throws {
    let bench = Bench()
    try bench.subscribe(y, "/*", 500)
    try bench.subscribe(y, "/a", 20)
    try bench.subscribe(y, "/a", 20)
    bench.set("/a", 1)
    bench.set("/b", 1)
    bench.advance(5)
    bench.set("/a", 2)
    bench.set("/b", 2)
    bench.advance(20)
    #expect(bench.values(y, "/a") == [1, 2] && bench.values(y, "/b") == [1])
    bench.advance(500)
    #expect(bench.values(y, "/b") == [1, 2])
    try bench.subscribe(y, "/a", 1000)
    #expect(bench.table.unsubscribe(y, from: try OSCPattern("/*")))
    #expect(!bench.table.unsubscribe(y, from: try OSCPattern("/*")))
    bench.set("/b", 3)
    bench.advance(1000)
    #expect(bench.values(y, "/b") == [1, 2])
  }

  @Test("what waits is not lost when the subscription that would have told it ends or another joins")
  func regrouping() throws {
    let bench = Bench()
    try bench.subscribe(y, "/a", 20)
    try bench.subscribe(y, "/*", 500)
    bench.set("/a", 1)
    bench.set("/a", 2)
    bench.table.unsubscribe(y, from: try OSCPattern("/a"))
    try bench.subscribe(x, "/a")
    bench.advance(600)
    #expect(bench.values(y) == [1, 2])
  }

  @Test("a peer that is gone is told nothing more, and what waits under an address that is gone is not told")
  func gone() throws {
    let bench = Bench()
    for peer in [x, y] { try bench.subscribe(peer, "/*") }
    for value in 1...2 as ClosedRange<Int> { bench.set("/a", Float(value)) }
    bench.set("/b", 1)
    bench.table.remove(x)
    bench.table.forget("/a")
    bench.advance(100)
    #expect(bench.values(x) == [1] && bench.values(y, "/a") == [1] && bench.values(y, "/b") == [1])
    #expect(bench.table.subscribers == [y])
  }

  @Test("events are told at once, once to each peer with a pattern for them")
  func events() throws {
    let bench = Bench()
    for pattern in ["/graph/*", "/graph/changed"] { try bench.subscribe(x, pattern) }
    try bench.subscribe(y, "/node/*/*")
    for _ in 0..<3 { bench.table.event(OSCMessage("/graph/changed", .string("added")), deliver: bench.deliver) }
    #expect(bench.told.map(\.peer) == [x, x, x] && bench.told.allSatisfy { $0.at == 0 })
  }

  @Test("readings are sampled once an interval, and told when they have changed")
  func readings() throws {
    let bench = Bench()
    bench.table.setReadings(["/m/level", "/other"])
    try bench.subscribe(x, "/m/*", 100)
    bench.samples["/m/level"] = -20
    bench.advance(250)
    #expect(bench.values(x) == [-20])
    bench.samples["/m/level"] = -10
    bench.advance(100)
    #expect(bench.values(x) == [-20, -10])
    bench.table.setReadings([])
    bench.samples["/m/level"] = 0
    bench.advance(200)
    #expect(bench.values(x) == [-20, -10] && bench.table.nextRound == nil)
  }

  @Test("intervals, subscribers and patterns have limits, each with an error")
  func limits() throws {
    let table = SubscriptionTable()
    for milliseconds in [4, 60_001, -1] {
      #expect(throws: EngineError.self) { try table.subscribe(x, to: OSCPattern("/a"), milliseconds: milliseconds) }
    }
    for index in 0..<64 { try table.subscribe(OSCPeer(connection: UInt64(index)), to: OSCPattern("/a")) }
    #expect(throws: EngineError.self) { try table.subscribe(OSCPeer(connection: 64), to: OSCPattern("/a")) }
    for index in 1..<64 { try table.subscribe(x, to: OSCPattern("/a\(index)")) }
    #expect(throws: EngineError.self) { try table.subscribe(x, to: OSCPattern("/b")) }
    try table.subscribe(x, to: OSCPattern("/a5"), milliseconds: 5)
    table.remove(x)
    try table.subscribe(OSCPeer(connection: 64), to: OSCPattern("/a"))
  }
}
