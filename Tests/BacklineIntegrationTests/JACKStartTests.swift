import BacklineOSC
import BacklineTestSupport
import Testing

@testable import BacklineCommand

extension JACKRackTests {
  @Test("the ready line names what runs, in words and as JSON, and /status says the same")
  func readyLine() async throws {
    try await JACKServer.with(period: 128) { _ in
      let rack = try JACKRack()
      #expect(rack.readyLine == "ready name=rack host=jack state=running rate=48000 period=128 osc=\(rack.port)")
      let status = try rack.status()
      #expect(status["state"] == .string("running") && status["host"] == .string("jack"))
      #expect(status["rate"] == .int32(48_000) && status["period"] == .int32(128))
      #expect(try rack.quit() == 0)
      let other = try JACKRack(["--json"])
      let expected = #"{"ready":true,"name":"rack","host":"jack","state":"running","rate":48000,"period":128,"osc":"#
      #expect(other.readyLine == expected + "\(other.port)}")
      try other.ask("/engine/stop")
      let line = try other.line { $0.contains("state") }
      #expect(line == #"{"state":"stopped","cause":""}"#)
      #expect(try other.quit() == 0)
    }
  }

  @Test("a port that is taken ends the program with 69 before any audio starts (U-31)")
  func portTaken() async throws {
    try await JACKServer.with { _ in
      let rack = try JACKRack()
      let ending = try ProcessRunner.run(
        try BuiltProgram.backline(),
        ["run", "--name", "second", "--server", JACKServer.name, "--osc-port", "\(rack.port)"])
      #expect(ending.status == 69)
      #expect(ending.output.isEmpty)
      #expect(ending.errors.hasPrefix("backline: error: OSC: ") && ending.errors.contains("\(rack.port)"))
      #expect(ending.errors.split(separator: "\n").count == 1)
      #expect(try rack.quit() == 0)
    }
  }

  @Test("--host jack without a server waits, answers OSC, and attaches when the server comes")
  func waitsForServer() async throws {
    // The lock on the server is held while there is none.
    try await JACKServer.with { server in
      try await server.stop()
      let rack = try JACKRack()
      #expect(rack.readyLine == "ready name=rack host=jack state=unavailable rate=0 period=0 osc=\(rack.port)")
      #expect(try rack.ask("/ping", .int32(7)) == [.int32(7)])
      #expect(try rack.word("state") == "unavailable")
      #expect(try rack.word("cause").contains("JACK server"))
      try rack.ask("/graph/add", .string("gain"), .string("a"))
      try await server.start(sampleRate: 44_100, period: 512)
      #expect(try rack.line { $0.hasPrefix("state ") } == "state running")
      let status = try rack.status()
      #expect(status["rate"] == .int32(44_100) && status["period"] == .int32(512) && status["nodes"] == .int32(1))
      #expect(try rack.quit() == 0)
    }
  }

  @Test("--host auto takes the server where one runs, and else the timer, on which it stays")
  func automaticHost() async throws {
    try await JACKServer.with(period: 256) { server in
      let rack = try JACKRack(host: "auto")
      #expect(rack.ready["host"] == "jack" && rack.ready["state"] == "running")
      #expect(try rack.quit() == 0)
      try await server.stop()
      let timed = try JACKRack(host: "auto")
      #expect(timed.ready["host"] == "timer" && timed.ready["state"] == "running" && timed.ready["rate"] == "48000")
      let first = try timed.count("frame")
      #expect(try await Eventually.holds { try timed.count("frame") > first + 48_000 })
      #expect(try timed.word("state") == "running" && timed.word("host") == "timer")
      #expect(try timed.quit() == 0)
    }
  }

  @Test("/mute is ramped, and /engine/stop and /engine/start end and bring back the sound and the client")
  func muteAndStop() async throws {
    try await JACKServer.with(period: 64) { _ in
      let files = try JACKRackFiles()
      let preset = try files.preset("plain", nodes: [("g", "gain")], connections: [("input", "g"), ("g", "output")])
      let rack = try JACKRack([preset, "--connect", "none"])
      let source = try JACKTestClient("source", outputs: 1)
      let recorder = try JACKTestClient("recorder", inputs: 1)
      let sine = Signals.sine(100, frames: 48_000, amplitude: 0.5)
      try source.play([sine], into: ["rack:in_1"], repeats: true)
      let changes = try await undisturbed(rack) {
        let take = try recorder.startRecording(from: ["rack:out_1"], frames: 24_000)
        for isMuted in [1, 0, 1, 0] as [Int32] {
          try rack.ask("/mute", .int32(isMuted))
          try await Task.sleep(nanoseconds: 60_000_000)
        }
        return try await take.samples()[0]
      }
      // A ramp of 10 ms over a peak of 0.5, on top of the sine's own step.
      let bound: Float = 0.5 * (2 * .pi * 100 / 48_000 + 1 / 480) + 1e-4
      #expect(Signals.largestStep(changes) <= bound)
      #expect(Signals.peak(changes) > 0.49)
      try rack.ask("/mute", .int32(1))
      try rack.ask("/sync")
      try await Task.sleep(nanoseconds: 20_000_000)
      #expect(Signals.peak(try await recorder.record(from: ["rack:out_1"], frames: 4_800)[0]) == 0)
      #expect(try rack.ask("/mute") == [.int32(1)])
      try rack.ask("/mute", .int32(0))
      try rack.ask("/engine/stop")
      #expect(try rack.word("state") == "stopped")
      #expect(await Eventually.holds { recorder.ports(of: "rack").isEmpty })
      #expect(try rack.ask("/engine/state") == [.string("stopped"), .string("")])
      try rack.ask("/engine/start")
      #expect(try await rack.waits(for: "running"))
      #expect(recorder.ports(of: "rack") == ["rack:in_1", "rack:out_1"])
      // The connections are back by themselves.
      #expect(await Eventually.holds { recorder.connections(of: "rack:in_1") == ["source:out_1"] })
      #expect(
        await Eventually.holds {
          guard let heard = try? await recorder.record(from: ["rack:out_1"], frames: 4_800)[0] else { return false }
          return abs(Signals.amplitude(of: 100, in: heard) - 0.5) < 0.001
        })
      source.close()
      recorder.close()
      #expect(try rack.quit() == 0)
    }
  }
}
