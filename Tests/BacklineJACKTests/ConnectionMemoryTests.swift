import Testing

@testable import BacklineJACK

@Suite("Connection memory")
struct ConnectionMemoryTests {
  private let playback = JACKConnection(port: "out_1", peer: "system:playback_1")
  private let synth = JACKConnection(port: "in_1", peer: "synth:out")

  @Test("what has been connected is wanted, once, in order")
  func connected() {
    var memory = ConnectionMemory([])
    for connection in [synth, playback, synth] { memory.connected(connection) }
    #expect(memory.wanted == [synth, playback])
  }

  @Test("a disconnection between living ports is forgotten after a while")
  func userDisconnects() {
    var memory = ConnectionMemory([synth, playback])
    memory.disconnected(synth, at: 0)
    #expect(memory.restorable == [playback])
    memory.settle(at: ConnectionMemory.patience - 1) { _ in true }
    #expect(memory.wanted == [synth, playback])
    memory.settle(at: ConnectionMemory.patience) { _ in true }
    #expect(memory.wanted == [playback])
  }

  @Test("a disconnection by the death of the peer or of the server is no wish")
  func death() {
    var memory = ConnectionMemory([synth, playback])
    memory.disconnected(synth, at: 0)
    memory.vanished("synth:out")
    memory.disconnected(playback, at: 0)
    memory.lost()
    memory.settle(at: .max) { _ in true }
    #expect(memory.wanted == [synth, playback])
    memory.disconnected(synth, at: 0)
    memory.settle(at: .max) { _ in false }
    #expect(memory.wanted == [synth, playback])
  }

  @Test("the death of a peer that is told before its disconnection is no wish either, and its return begins anew")
  func deathFirst() {
    var memory = ConnectionMemory([synth])
    memory.vanished("synth:out")
    memory.disconnected(synth, at: 0)
    #expect(memory.restorable == [synth])
    memory.appeared("synth:out")
    memory.settle(at: .max) { _ in true }
    #expect(memory.wanted == [synth])
    memory.disconnected(synth, at: 0)
    memory.settle(at: .max) { _ in true }
    #expect(memory.wanted == [])
  }

  @Test("own ports are new once, and again when that was taken back")
  func introduced() {
    var memory = ConnectionMemory([])
    #expect(memory.introduce(["in_1", "out_1"]) == ["in_1", "out_1"])
    #expect(memory.introduce(["in_1", "out_1"]) == [])
    memory.reconsider(["out_1"])
    #expect(memory.introduce(["in_1", "out_1"]) == ["out_1"])
  }

  @Test("a connection made again in time is not forgotten")
  func madeAgain() {
    var memory = ConnectionMemory([synth])
    memory.disconnected(synth, at: 0)
    memory.connected(synth)
    memory.settle(at: .max) { _ in true }
    #expect(memory.wanted == [synth])
  }

  @Test("a missing peer is told once, and again after it has been there")
  func missing() {
    var memory = ConnectionMemory([synth])
    var told = [memory.reportMissing("synth:out"), memory.reportMissing("synth:out")]
    memory.connected(synth)
    told.append(memory.reportMissing("synth:out"))
    #expect(told == [true, false, true])
  }

  @Test("a renamed peer is followed")
  func renamed() {
    var memory = ConnectionMemory([synth, playback])
    memory.renamed(from: "synth:out", to: "synth:left")
    #expect(memory.wanted.first?.peer == "synth:left")
  }

  @Test("a port's name for people")
  func prettyNames() {
    #expect(prettyPortName("in_1") == "In 1")
    #expect(prettyPortName("") == "")
  }
}
