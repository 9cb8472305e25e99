import BacklineOSC
import BacklineTestSupport
import CBackline
import Testing

extension JACKRackTests {
  /// A player of a 1 kHz sine of amplitude 0.5 through a delay and a meter, begun.
  private func playingRack(_ files: JACKRackFiles) throws -> JACKRack {
    _ = try files.wave("sine.wav", Signals.sine(1_000, frames: 48_000, amplitude: 0.5))
    let preset = try files.preset(
      "player", inputs: "[]", nodes: [("p", "player"), ("d", "delay"), ("m", "meter")],
      parameters: ["d": #""delayTime": 0.1, "feedback": 0, "wetDryMix": 100"#],
      connections: [("p", "d"), ("d", "m"), ("m", "output")])
    let rack = try JACKRack([preset, "--connect", "none"], root: files.folder)
    try rack.ask("/player/p/load", .string("sine.wav"))
    try rack.ask("/player/p/loop", .double(0), .double(1))
    try rack.ask("/player/p/play")
    return rack
  }

  /// How far a signal is from a 1 kHz sine of amplitude 0.5: the difference of the amplitude, and what is left without the sine.
  private func impurity(_ samples: [Float]) -> (amplitude: Double, rest: Float) {
    let amplitude = Signals.amplitude(of: 1_000, in: samples)
    let energy = samples.reduce(0.0) { $0 + Double($1) * Double($1) } / Double(samples.count)
    return (abs(amplitude - 0.5), Float(backline_sqrt(max(0, energy - amplitude * amplitude / 2))))
  }

  @Test("after every change of the period the sound is the same clean sine, and the status tells the period (U-01)")
  func periodChanges() async throws {
    let files = try JACKRackFiles()
    try await JACKServer.with(period: 1024) { server in
      let rack = try playingRack(files)
      let recorder = try JACKTestClient("recorder", inputs: 1)
      for _ in 0..<(Self.isLong ? 20 : 2) {
        for period in [2048, 512, 64, 4096, 32] {
          recorder.setPeriod(period)
          #expect(try await Eventually.holds { try rack.count("period") == period }, "\(period)")
          let sound = try await undisturbed(rack) {
            // The first cycles, of the longest period, are the time that a change may be heard.
            try await recorder.record(from: ["rack:out_1"], frames: 8_192 + 4_800)[0]
          }
          let (amplitude, rest) = impurity(Array(sound.suffix(4_800)))
          #expect(amplitude < 1e-3 && rest < 1e-3, "at \(period): \(amplitude), \(rest)")
        }
      }
      #expect(try rack.word("state") == "running")
      recorder.close()
      #expect(try rack.quit() == 0)
    }
  }

  @Test("frames go on counting through changes of the period, each heard by a recorder once (U-01)")
  func framesGoOn() async throws {
    let files = try JACKRackFiles()
    try await JACKServer.with(period: 256) { _ in
      let rack = try playingRack(files)
      let watcher = try JACKTestClient("watcher")
      var last = try rack.count("frame")
      for period in [64, 1024, 32] {
        watcher.setPeriod(period)
        #expect(try await Eventually.holds { try rack.count("period") == period && rack.count("frame") > last + 4_800 })
        last = try rack.count("frame")
      }
      let file = try rack.ask("/player/p/state")
      #expect(file.first == .string("playing") && file[3] == .int32(0))
      watcher.close()
      #expect(try rack.quit() == 0)
    }
  }
}
