import BacklineOSC
import BacklineTestSupport
import Testing

extension JACKRackTests {
  @Test("a preset with other ports, loaded over OSC, shows them in JACK without a step in the sound")
  func presetWithOtherPorts() async throws {
    let files = try JACKRackFiles()
    let narrow = try files.preset(
      "narrow", nodes: [("a", "gain")], connections: [("input", "a"), ("a", "output")])
    let wide = try files.preset(
      "wide", inputs: #"["guitar", "voice"]"#, outputs: #"[["left", "right"], ["monitor"]]"#,
      nodes: [("a", "gain"), ("b", "gain")],
      connections: [("input", "a"), ("a", "output:0"), ("input", "b"), ("b", "output:1")])
    try await JACKServer.with(period: 64) { _ in
      let rack = try JACKRack([narrow], root: files.folder)
      let source = try JACKTestClient("source", outputs: 1)
      let recorder = try JACKTestClient("recorder", inputs: 1)
      try source.play([Signals.sine(100, frames: 48_000, amplitude: 0.5)], into: ["rack:in_1"], repeats: true)
      let sound = try await undisturbed(rack) {
        let take = try recorder.startRecording(
          from: [recorder.ports(of: "rack").contains("rack:left") ? "rack:left" : "rack:out_1"], frames: 96_000)
        for (preset, ports) in [
          (wide, ["guitar", "left", "monitor", "right", "voice"]), (narrow, ["in_1", "out_1"]),
        ] {
          try rack.ask("/preset/load", .string(preset))
          let names = ports.map { "rack:\($0)" }
          #expect(await Eventually.holds { recorder.ports(of: "rack").sorted() == names })
          if preset == wide {
            // New ports follow the policy for connections; kept ones have what they had.
            #expect(await Eventually.holds { recorder.connections(of: "rack:right") == ["system:playback_2"] })
            #expect(recorder.connections(of: "rack:left") == ["recorder:in_1", "system:playback_1"])
            #expect(recorder.connections(of: "rack:guitar") == ["source:out_1", "system:capture_1"])
            let heard = try await JACKTestClient.listen(to: "rack:monitor")
            #expect(Signals.peak(heard) > 0.2)
          }
        }
        return try await take.samples()[0]
      }
      // Two graphs cross over 10 ms. Wide, the mono sum of one input is half as loud on the left as before.
      let bound: Float = 0.5 * (2 * .pi * 100 / 48_000 + 2 / 480) + 1e-4
      #expect(Signals.largestStep(sound) <= bound)
      #expect(Signals.peak(Array(sound.suffix(4_800))) > 0.49)
      #expect(try rack.ask("/graph/undo").isEmpty)
      #expect(await Eventually.holds { recorder.ports(of: "rack").count == 5 })
      source.close()
      recorder.close()
      #expect(try rack.quit() == 0)
    }
  }

  @Test("a send and a return have JACK ports of their own, through which sound goes out and comes back")
  func outboardGear() async throws {
    let files = try JACKRackFiles()
    try await JACKServer.with(period: 64) { _ in
      let rack = try JACKRack(["--connect", "none"], root: files.folder)
      let source = try JACKTestClient("source", outputs: 2)
      try rack.ask("/graph/add", .string("send"), .string("fx"))
      try rack.ask("/graph/add", .string("return"), .string("back"))
      for (from, to) in [("input", "fx"), ("back", "output")] {
        try rack.ask("/graph/connect", .string(from), .string(to))
      }
      let names = ["back_1", "back_2", "fx_1", "fx_2", "in_1", "in_2", "out_1", "out_2"].map { "rack:\($0)" }
      #expect(await Eventually.holds { source.ports(of: "rack").sorted() == names })
      let tone = Signals.sine(100, frames: 48_000, amplitude: 0.5)
      try source.play([tone, tone], into: ["rack:in_1", "rack:in_2"], repeats: true)
      #expect(
        await Eventually.holds {
          (try? await JACKTestClient.listen(to: "rack:fx_1")).map { Signals.peak($0) > 0.45 } ?? false
        })
      #expect(Signals.peak(try await JACKTestClient.listen(to: "rack:out_1")) == 0)
      try source.play([tone, tone], into: ["rack:back_1", "rack:back_2"], repeats: true)
      #expect(
        await Eventually.holds {
          (try? await JACKTestClient.listen(to: "rack:out_1")).map { Signals.peak($0) > 0.45 } ?? false
        })
      try rack.ask("/graph/remove", .string("back"))
      try rack.ask("/graph/remove", .string("fx"))
      #expect(await Eventually.holds { source.ports(of: "rack").count == 4 })
      source.close()
      #expect(try rack.quit() == 0)
    }
  }

  @Test("ports that a preset names while the server is away are there when it returns")
  func portsWithoutServer() async throws {
    let files = try JACKRackFiles()
    let preset = try files.preset(
      "named", inputs: #"["voice"]"#, outputs: #"["left", "right"]"#, nodes: [], connections: [("input", "output")])
    try await JACKServer.with { server in
      let rack = try JACKRack(root: files.folder)
      try await server.stop()
      #expect(try await rack.waits(for: "unavailable"))
      try rack.ask("/preset/load", .string(preset))
      try await server.start(sampleRate: 48_000, period: 256)
      #expect(try await rack.waits(for: "running"))
      let watcher = try JACKTestClient("watcher")
      #expect(watcher.ports(of: "rack") == ["rack:voice", "rack:left", "rack:right"])
      #expect(await Eventually.holds { watcher.connections(of: "rack:right") == ["system:playback_2"] })
      watcher.close()
      #expect(try rack.quit() == 0)
    }
  }
}

extension JACKTestClient {
  /// A tenth of a second of a port, heard by a client of its own.
  static func listen(to port: String) async throws -> [Float] {
    let client = try JACKTestClient("listener", inputs: 1)
    defer { client.close() }
    return try await client.record(from: [port], frames: 4_800)[0]
  }
}
