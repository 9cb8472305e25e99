import BacklineOSC
import BacklineTestSupport
import CBackline
import Testing

@testable import BacklineCommand

extension JACKRackTests {
  /// One kind of long control work, and the seconds that it may take.
  enum Work: String, CaseIterable, Sendable, CustomTestStringConvertible {
    case largePreset, largeFile, manyMessages

    var testDescription: String { rawValue }
  }

  @Test("long control work does not reach the audio thread: no cycle is late by it (U-15)", arguments: Work.allCases)
  func controlWork(_ work: Work) async throws {
    let files = try JACKRackFiles()
    let preset = try largePreset(files)
    if work == .largeFile { _ = try files.sparseWave("large.wav", dataBytes: 2_000_000_000) }
    try await JACKServer.with(period: 64) { _ in
      let rack = try JACKRack(["clean-channel", "--connect", "none"], root: files.folder)
      let watcher = try JACKTestClient("watcher")
      if work == .largeFile { try rack.ask("/graph/add", .string("player"), .string("p")) }
      // The machine may be late by itself, so the same time without any work is the measure; work of ours that blocked the
      // callback would make late cycles every time.
      var attempts: [String] = []
      for _ in 0..<6 {
        let before = try rack.lateness()
        let begin = backline_now()
        try perform(work, rack, preset)
        try rack.ask("/sync")
        let worked = backline_now() - begin
        let busy = try rack.lateness()
        try await Task.sleep(nanoseconds: UInt64(worked))
        let idle = try rack.lateness()
        let late = zip(busy, before).map { $0 - $1 }, lateIdle = zip(idle, busy).map { $0 - $1 }
        if zip(late, lateIdle).allSatisfy({ $0 <= $1 }) {
          attempts = []
          break
        }
        attempts.append("\(late) late at work, \(lateIdle) idle, in \(worked / 1_000_000) ms")
        if work == .largePreset { try rack.ask("/preset/load", .string("clean-channel")) }
      }
      #expect(attempts.isEmpty, "\(attempts)")
      #expect(try rack.word("state") == "running")
      watcher.close()
      #expect(try rack.quit() == 0)
    }
  }

  private func perform(_ work: Work, _ rack: JACKRack, _ preset: String) throws {
    switch work {
    case .largePreset:
      try rack.ask("/preset/load", .string(preset))
      #expect(try rack.count("nodes") == 500)
    case .largeFile:
      let answer = try rack.ask("/player/p/load", .string("large.wav"))
      #expect(answer.count == 4)
    case .manyMessages:
      let flood = try DatagramSender(port: rack.port)
      let set = try OSCMessage("/node/level/gain", [.float(-1)]).encoded()
      for sent in 1...10_000 {
        flood.send(set)
        // Less than the socket's buffer at a time, so that all of them have to be dealt with.
        if sent % 200 == 0 { try rack.ask("/ping") }
      }
    }
  }

  /// 500 nodes: 50 chains of ten gains, summed.
  private func largePreset(_ files: JACKRackFiles) throws -> String {
    var nodes: [(name: String, kind: String)] = [("sum", "mixer")]
    var connections = [("sum", "output")]
    for chain in 0..<50 {
      let length = chain == 0 ? 9 : 10
      for index in 0..<length {
        nodes.append(("n\(chain)x\(index)", index % 2 == 0 ? "gain" : "pan"))
        connections.append((index == 0 ? "input" : "n\(chain)x\(index - 1)", "n\(chain)x\(index)"))
      }
      connections.append(("n\(chain)x\(length - 1)", "sum:\(chain)"))
    }
    return try files.preset("large", nodes: nodes, connections: connections)
  }
}
