import Backline
import BacklineEngine
import BacklineTestSupport
import CBackline
import Testing

@Suite("What changes under a library's engine")
struct RecoveryTests {
  private func cycles(_ host: OfflineHost, _ count: Int) -> [Float] {
    (0..<count).flatMap { _ in host.cycle([], frames: 64).first ?? [] }
  }

  @Test("a handler may rewire the output when the rate has changed, and the player goes on where it was (U-57)")
  func rateChange() async throws {
    let host = OfflineHost(sampleRate: 48_000)
    let engine = try AudioEngine(EngineConfiguration(output: .host(host)))
    let player = PlayerNode()
    try engine.attach(player)
    try engine.connect(player, to: engine.mainMixerNode)
    let log = EventLog<AudioEngineEvent>()
    let isRewired = EventLog<Bool>()
    try engine.observe { [weak engine] event in
      log.append(event)
      guard case .configurationChanged = event, let engine else { return }
      try? engine.disconnectOutput(of: engine.mainMixerNode)
      try? engine.connect(engine.mainMixerNode, to: engine.outputNode)
      isRewired.append(true)
    }
    try engine.start()
    try player.schedule(Sounds.buffer(Signals.sine(100, frames: 480_000)))
    try player.play()
    // The first samples come when the thread that reads ahead has them.
    #expect(
      await Eventually.holds {
        _ = cycles(host, 75)
        return player.position >= 4_800
      })
    let played = player.position
    // The second comes while the first may still be handled.
    for rate in [96_000, 44_100] {
      host.sampleRate = rate
      host.send(.sampleRateChanged(rate))
      #expect(await Eventually.holds { engine.isRunning && engine.sampleRate == Double(rate) })
    }
    #expect(await Eventually.holds { isRewired.all.count >= 2 })
    #expect(engine.state == .running && player.isPlaying)
    #expect(engine.mainMixerNode.outputFormat(bus: 0)?.sampleRate == 44_100)
    let rates = log.all.compactMap { event -> Int? in
      if case .configurationChanged(cause: "sampleRate", old: _, new: let rate, epoch: _) = event { rate } else { nil }
    }
    #expect(rates == [96_000, 44_100])
    // The sound goes on from where it was, in the new rate's frames.
    let before = player.position
    #expect(abs(before - played * 44_100 / 48_000) <= 64)
    #expect(await Eventually.holds { Signals.peak(cycles(host, 10)) > 0.5 }, "once it has been converted")
    #expect(player.position > before)
  }

  @Test("a recording through a tap keeps what came before the server went away")
  func recording() async throws {
    let folder = try TemporaryFolder()
    let host = OfflineHost(sampleRate: 48_000)
    let engine = try AudioEngine(EngineConfiguration(output: .host(host)))
    let file = try AudioFile(
      forWriting: folder.file("take.wav"),
      format: AudioFileFormat(container: .wav, encoding: .float32, sampleRate: 48_000, channelCount: 2))
    try engine.inputNode.installTap(frameCount: 64) { try? file.write(from: $0.buffer) }
    try engine.start()
    let ones = [Float](repeating: 0.5, count: 64)
    for _ in 0..<100 { _ = host.cycle([ones, ones], frames: 64) }
    #expect(await Eventually.holds { file.length == 6_400 })
    host.refusal = .noServer("gone")
    host.send(.lost(reason: "the server was killed"))
    #expect(await Eventually.holds { !engine.isRunning })
    try file.close()
    let back = try AudioFile(forReading: folder.file("take.wav"))
    #expect(back.length == 6_400 && folder.names == ["take.wav"])
    engine.stop()
    #expect(engine.state == .stopped)
    let states = engine.transitions.map(\.state)
    #expect(
      states.first == .running && states.contains(.interrupted("the server was killed")) && states.last == .stopped)
    #expect(engine.transitions.map(\.hostTime) == engine.transitions.map(\.hostTime).sorted())
  }

  @Test("other numbers of channels go out when the engine is rendered by hand, and the first ones come back")
  func channels() throws {
    let host = OfflineHost(sampleRate: 48_000)
    let engine = try AudioEngine(EngineConfiguration(output: .host(host), outputChannelCount: 4))
    let source = SourceNode { block in for channel in 0..<block.channelCount { block[channel].update(repeating: 0.5) } }
    try engine.attach(source)
    try engine.connect(source, to: engine.mainMixerNode)
    for _ in 0..<2 {
      try engine.start()
      #expect(host.cycle([], outputs: 4, frames: 64).map(\.last) == [0.5, 0.5, 0, 0])
      engine.stop()
      let mono = AudioFormat(sampleRate: 44_100, channelCount: 1)
      try engine.enableManualRendering(.offline, format: mono, maximumFrameCount: 64)
      try engine.start()
      let buffer = try #require(PCMBuffer(format: mono, frameCapacity: 64))
      #expect(try engine.renderOffline(64, to: buffer) == .success && buffer[63, 0] == 0.5)
      engine.stop()
      try engine.disableManualRendering()
    }
    #expect(host.configuration?.outputPorts.count == 4)
  }
}
