import BacklineOSC
import BacklineTestSupport
import CBackline
import Foundation
import Testing

extension JACKRackTests {
  @Test("while the server is away OSC says so; when it returns, name, ports and connections do, at the new rate (U-04)")
  func serverReturns() async throws {
    try await JACKServer.with(sampleRate: 48_000, period: 256) { server in
      let rack = try JACKRack()
      let rounds = Self.isLong ? 10 : 2
      for round in 0..<rounds {
        let watcher = try JACKTestClient("watcher")
        #expect(watcher.ports(of: "rack") == ["in_1", "in_2", "out_1", "out_2"].map { "rack:\($0)" })
        #expect(
          await Eventually.holds {
            (1...2).allSatisfy { channel in
              watcher.connections(of: "rack:in_\(channel)") == ["system:capture_\(channel)"]
                && watcher.connections(of: "rack:out_\(channel)") == ["system:playback_\(channel)"]
            }
          })
        watcher.close()
        try await server.kill()
        #expect(try await rack.waits(for: "unavailable"))
        #expect(try rack.word("cause").contains("JACK server"))
        let used = try rack.processorTime()
        let away = Self.isLong ? 5.0 : 1.0
        try await Task.sleep(nanoseconds: UInt64(away * 1e9))
        #expect(try rack.ask("/ping", .int32(Int32(round))) == [.int32(Int32(round))])
        // Nearly idle: less than a fifth of one processor, the queries above among it.
        #expect(try rack.processorTime() - used < 0.2 * away)
        let (rate, period) = round % 2 == 0 ? (44_100, 1024) : (48_000, 256)
        try await server.start(sampleRate: rate, period: period)
        #expect(try await rack.waits(for: "running"))
        #expect(try rack.count("rate") == rate && rack.count("period") == period && rack.word("name") == "rack")
      }
      try rack.ask("/quit")
      let ending = try rack.runner.wait(JACKRack.patience)
      #expect(ending.status == 0)
      let retries = Dictionary(grouping: ending.errors.split(separator: "\n").filter { $0.contains("attempt") }) { $0 }
      #expect(!retries.isEmpty && retries.values.allSatisfy { $0.count <= rounds }, "one line an attempt")
    }
  }

  @Test("a rate that the server returns with is that of the sound, too (U-04)")
  func rateFollows() async throws {
    let files = try JACKRackFiles()
    try await JACKServer.with(sampleRate: 48_000, period: 256) { server in
      let preset = try files.preset(
        "tone", inputs: "[]", nodes: [("o", "oscillator")], parameters: ["o": #""frequency": 1000"#],
        connections: [("o", "output")])
      let rack = try JACKRack([preset, "--connect", "none"])
      for rate in [44_100, 48_000] {
        try await server.kill()
        #expect(try await rack.waits(for: "unavailable"))
        try await server.start(sampleRate: rate, period: 256)
        #expect(try await rack.waits(for: "running"))
        let recorder = try JACKTestClient("recorder", inputs: 1)
        let sound = try await undisturbed(rack) { try await recorder.record(from: ["rack:out_1"], frames: rate / 5)[0] }
        let tone = Signals.amplitude(
          of: 1_000, in: Array(sound.suffix(rate / 10)), sampleRate: Double(rate))
        #expect(tone > 0.99 * Double(Signals.peak(sound)), "\(tone) of \(Signals.peak(sound))")
        recorder.close()
      }
      #expect(try rack.quit() == 0)
    }
  }

  @Test("a rack whose server has gone quits at once (U-05)")
  func quitsWithoutServer() async throws {
    try await JACKServer.with { server in
      let rack = try JACKRack()
      try await server.stop()
      let begin = backline_now()
      #expect(try rack.quit() == 0)
      #expect(backline_now() - begin < 5_000_000_000)
    }
  }

  @Test("threads and descriptors are as many after many returns of the server as after one (U-05)")
  func resourcesStay() async throws {
    try await JACKServer.with { server in
      let rack = try JACKRack()
      var first: (threads: Int, descriptors: Int)?
      for _ in 0..<(Self.isLong ? 50 : 5) {
        try await server.stop()
        #expect(try await rack.waits(for: "unavailable"))
        try await server.start(sampleRate: 48_000, period: 256)
        #expect(try await rack.waits(for: "running"))
        if first == nil { first = try rack.resources() }
      }
      let before = try #require(first)
      #expect(
        try await Eventually.holds {
          let now = try rack.resources()
          return now.threads <= before.threads && now.descriptors <= before.descriptors
        })
      try await server.stop()
      #expect(try rack.quit() == 0)
    }
  }

  @Test("a server that goes while a file and a preset are being loaded leaves a rack that answers and quits (U-05)")
  func serverGoesWhileLoading() async throws {
    let files = try JACKRackFiles()
    _ = try files.sparseWave("long.wav", dataBytes: 200_000_000)
    try await JACKServer.with { server in
      let rack = try JACKRack(root: files.folder)
      try rack.ask("/graph/add", .string("player"), .string("p"))
      let sender = try DatagramSender(port: rack.port)
      sender.send(try OSCMessage("/player/p/load", .string("long.wav")).encoded())
      sender.send(try OSCMessage("/preset/load", .string("ambient")).encoded())
      try await server.stop()
      #expect(try await rack.waits(for: "unavailable"))
      #expect(try rack.quit() == 0)
    }
  }

  @Test("a missing peer is warned of once, and connected whenever it appears, while other connections stay (U-13)")
  func latePeer() async throws {
    try await JACKServer.with { _ in
      let rack = try JACKRack()
      let watcher = try JACKTestClient("watcher")
      let peer = try JACKTestClient("peer", inputs: 1)
      try watcher.connect("rack:out_1", "peer:in_1")
      let both = ["peer:in_1", "system:playback_1"]
      #expect(await Eventually.holds { watcher.connections(of: "rack:out_1") == both })
      peer.close()
      #expect(await Eventually.holds { watcher.connections(of: "rack:out_1") == ["system:playback_1"] })
      // The peer is absent when the engine starts anew.
      try rack.ask("/engine/stop")
      try rack.ask("/engine/start")
      #expect(try await rack.waits(for: "running"))
      #expect(await Eventually.holds { watcher.connections(of: "rack:out_1") == ["system:playback_1"] })
      for _ in 0..<2 {
        let returned = try JACKTestClient("peer", inputs: 1)
        #expect(await Eventually.holds { watcher.connections(of: "rack:out_1") == both })
        returned.close()
        #expect(await Eventually.holds { watcher.connections(of: "rack:out_1") == ["system:playback_1"] })
      }
      watcher.close()
      try rack.ask("/quit")
      let ending = try rack.runner.wait(JACKRack.patience)
      #expect(ending.errors.split(separator: "\n").filter { $0.contains("peer:in_1") }.count == 1)
    }
  }
}
