import Backline
import BacklineTestSupport
import CBackline
import Foundation
import Testing

/// What a library's engine does on a real server that goes, comes back as another one, and changes its period.
@Suite("A library's engine and its JACK server", .serialized)
struct ServerReturnTests {
  private static let name = "backline-library"
  private static let connections = [
    "in_1": "system:capture_1", "in_2": "system:capture_2", "out_1": "system:playback_1", "out_2": "system:playback_2",
  ]
  private static let servers = [(rate: 44_100, period: 1_024), (48_000, 64), (96_000, 256)]

  private func makeEngine() throws(AudioError) -> AudioEngine {
    try AudioEngine(
      EngineConfiguration(name: Self.name, output: .jack(JACKOptions(server: JACKServer.name, log: { _ in }))))
  }

  /// What the process holds of the system's: a client that is not given back shows in both.
  private var resources: (threads: Int, descriptors: Int) {
    func count(_ folder: String) -> Int { (try? FileManager.default.contentsOfDirectory(atPath: folder).count) ?? 0 }
    return (count("/proc/self/task"), count("/proc/self/fd"))
  }

  @Test("a server that is killed or stopped and returns as another one finds name, ports, connections and player again")
  func returns() async throws {
    let rounds = isLong ? 100 : 3
    var waits: [Double] = []
    try await JACKServer.with(sampleRate: 48_000, period: 256) { server in
      let engine = try makeEngine()
      let player = PlayerNode()
      try engine.attach(player)
      try engine.connect(engine.inputNode, to: engine.mainMixerNode)
      try engine.connect(player, to: engine.mainMixerNode)
      try engine.start()
      let heard = Gate()
      try engine.mainMixerNode.installTap(frameCount: 64) { block in
        if Signals.peak(block.buffer.samples(ofChannel: 0)) > 0.1 { heard.isOpen = true }
      }
      try player.schedule(Sounds.buffer(Signals.sine(480, frames: 48_000, amplitude: 0.5)), options: .loops)
      try player.play()
      #expect(await Eventually.holds { player.position > 0 })
      var before: (threads: Int, descriptors: Int)?
      for round in 0..<rounds {
        if round % 2 == 0 { try await server.kill() } else { try await server.stop() }
        #expect(await engine.hasLeft)
        heard.isOpen = false
        let placeBefore = Double(player.position) / engine.sampleRate
        #expect(player.isPlaying == false && placeBefore > 0)
        let (rate, period) = Self.servers[round % Self.servers.count]
        let launched = backline_now()
        try await server.start(sampleRate: rate, period: period)
        let returned = backline_now()
        #expect(await Eventually.holds { heard.isOpen }, "round \(round), the engine is \(engine.state)")
        waits.append(Double(backline_now() - returned) * 1e-9)
        let place = Double(player.position) / engine.sampleRate
        // The first cycles come before the state is told.
        #expect(await Eventually.holds { player.isPlaying })
        #expect(engine.sampleRate == Double(rate))
        let isConnected = await Eventually.holds {
          Self.connections.allSatisfy { JACKServer.ports?["\(Self.name):\($0)"] == [$1] }
        }
        #expect(isConnected, "round \(round): \(JACKServer.ports ?? [:])")
        // Where it was, plus no more than what there was time for.
        #expect(place >= placeBefore - 0.001, "round \(round)")
        #expect(place <= placeBefore + Double(backline_now() - launched) * 1e-9 + 0.05, "round \(round)")
        if before == nil { before = resources }
      }
      if isLong, let before {
        // A few come and go with the test's own processes; a leak would be a hundred.
        #expect(
          await Eventually.holds {
            resources.threads < before.threads + 10 && resources.descriptors < before.descriptors + 10
          },
          "\(before) at first, \(resources) now")
      }
      engine.stop()
    }
    waits.sort()
    let figure = "audio after \(waits[waits.count / 2]) s in the median, \(waits.last ?? 0) s at most, of \(rounds)"
    if isLong {
      print(figure)
      #expect(waits[waits.count / 2] < 1 && (waits.last ?? 0) < 2, Comment(rawValue: figure))
    }
  }

  @Test(
    "several engines of one process lose their server and find it again, each with its name, and none holds up a caller"
  )
  func severalEngines() async throws {
    try await JACKServer.with { server in
      let names = (1...3).map { "\(Self.name)-\($0)" }
      let engines = try names.map { name in
        let engine = try AudioEngine(
          EngineConfiguration(name: name, output: .jack(JACKOptions(server: JACKServer.name, log: { _ in }))))
        try engine.connect(engine.inputNode, to: engine.mainMixerNode)
        try engine.start()
        return engine
      }
      for round in 0..<(isLong ? 40 : 4) {
        if round % 2 == 0 { try await server.kill() } else { try await server.stop() }
        for engine in engines { #expect(await engine.hasLeft, "round \(round): \(engine.state)") }
        try await server.start(sampleRate: 48_000, period: 256)
        for (name, engine) in zip(names, engines) {
          #expect(await Eventually.holds(within: 20) { engine.isRunning }, "round \(round): \(engine.state)")
          let isConnected = await Eventually.holds {
            Self.connections.filter { $0.key.hasPrefix("out") }.allSatisfy {
              JACKServer.ports?["\(name):\($0)"] == [$1]
            }
          }
          #expect(isConnected, "round \(round): \(JACKServer.ports ?? [:])")
        }
      }
      for engine in engines { engine.stop() }
    }
  }

  @Test("the ends tell how long sound takes outside, as the server knows it")
  func outsideLatencies() async throws {
    // PipeWire tells none of its silent card.
    if JACKServer.isPipeWire { return }
    try await JACKServer.with(period: 512) { _ in
      let engine = try makeEngine()
      try engine.connect(engine.inputNode, to: engine.outputNode)
      try engine.start()
      #expect(
        await Eventually.holds {
          // A server that does not wait for its clients is two periods ahead of its card, which is one behind.
          engine.outputNode.presentationLatency == 1_024.0 / 48_000
            && engine.inputNode.presentationLatency == 512.0 / 48_000
        }, "\(engine.inputNode.presentationLatency), \(engine.outputNode.presentationLatency)")
      engine.stop()
      #expect(engine.outputNode.presentationLatency == 0)
    }
  }

  @Test("sound is right within two periods of a change of the period")
  func periodChanges() async throws {
    try await JACKServer.with(period: 1_024) { server in
      let engine = try makeEngine()
      let source = SourceNode(state: 0) { frame, block in
        for index in 0..<block.frameCount {
          frame = frame % 1_000_000 + 1
          let sample = Float(frame) / 1_048_576
          for channel in 0..<block.channelCount { block[channel][index] = sample }
        }
      }
      try engine.attach(source)
      try engine.connect(source, to: engine.mainMixerNode)
      try engine.start()
      let recorder = try JACKTestClient("recorder", inputs: 1)
      for period in [256, 2_048, 64, 512] {
        var wrong = Int.max
        // A gap that the machine makes tears any signal, and the change may come when the take is over; only a take without
        // such trouble can be judged.
        for _ in 0..<10 where wrong > 2 * period {
          try server.setPeriod(period == 512 ? 1_024 : 4_096)
          let frames = 48_000
          let recording = try recorder.startRecording(from: ["\(Self.name):out_1"], frames: frames)
          #expect(await Eventually.holds { recording.soFar.count > 9_000 && recording.soFar[8_000] > 0 })
          try server.setPeriod(period)
          let isWithin = recording.soFar.count <= frames - 2 * period
          let disturbed = Self.disturbed(try await recording.samples()[0])
          if isWithin { wrong = disturbed }
          #expect(recorder.period == period)
        }
        #expect(wrong <= 2 * period, "at \(period)")
      }
      recorder.close()
      engine.stop()
    }
  }

  /// The frames from the first that is not one more than that before it to the last.
  private static func disturbed(_ samples: [Float]) -> Int {
    let counts = samples.map { Int($0 * 1_048_576) }
    guard let start = counts.firstIndex(where: { $0 > 0 }) else { return .max }
    let breaks = (start + 1..<counts.count).filter { counts[$0] != counts[$0 - 1] % 1_000_000 + 1 }
    guard let first = breaks.first, let last = breaks.last else { return 0 }
    return last - first
  }
}

extension AudioEngine {
  /// True as soon as the engine has lost its server and has closed its client there: clients of the test's own may be opened
  /// only then.
  fileprivate var hasLeft: Bool {
    get async {
      await Eventually.holds {
        switch state {
        case .recovering, .unavailable: true
        default: false
        }
      }
    }
  }
}
