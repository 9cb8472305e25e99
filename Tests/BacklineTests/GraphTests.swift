import BacklineEngine
import BacklineTestSupport
import Testing

@testable import Backline

@Suite("Nodes, connections and formats")
struct GraphTests {
  private let stereo = AudioFormat(sampleRate: 48_000, channelCount: 2)

  @Test("a bad format is an error that can be tested, before, while and after the engine runs (U-47)")
  func badFormats() throws {
    let rig = try Rig()
    let engine = rig.engine
    let equalizer = try UnitNode("equalizer"), reverb = try UnitNode("reverb")
    let player = PlayerNode()
    for node in [equalizer, reverb, player] as [AudioNode] { try engine.attach(node) }
    try engine.connect(player, to: equalizer)
    try engine.connect(equalizer, to: reverb)
    try engine.connect(reverb, to: engine.mainMixerNode)
    for _ in 0..<3 {
      let bad: [(AudioFormat, AudioError.Code)] = [
        (AudioFormat(sampleRate: 0, channelCount: 2), .invalidFormat),
        (AudioFormat(sampleRate: 48_000, channelCount: 0), .invalidFormat),
        (AudioFormat(sampleRate: .infinity, channelCount: 2), .invalidFormat),
        (AudioFormat(sampleRate: 44_100, channelCount: 2), .formatMismatch),
        (AudioFormat(sampleRate: 48_000, channelCount: 5), .formatMismatch),
      ]
      for (format, expected) in bad {
        #expect(code { try engine.connect(equalizer, to: reverb, format: format) } == expected)
      }
      // The graph is as it was.
      #expect(engine.outputConnectionPoints(for: equalizer, bus: 0).map { $0.node === reverb } == [true])
      #expect(reverb.inputFormat(bus: 0) == stereo && reverb.outputFormat(bus: 0) == stereo)
      if engine.isRunning { engine.stop() } else { try engine.start() }
    }
    do {
      try engine.connect(equalizer, to: reverb, format: AudioFormat(sampleRate: 44_100, channelCount: 2))
    } catch {
      #expect(error.formats == [AudioFormat(sampleRate: 44_100, channelCount: 2), stereo])
      #expect(error.message.contains("44100 Hz") && error.message.contains("48000 Hz"))
    }
    #expect(code { try engine.connect(equalizer, bus: 1, to: reverb, bus: 0) } == .noSuchBus)
    #expect(code { try engine.connect(equalizer, bus: 0, to: reverb, bus: 99) } == .noSuchBus)
    #expect(code { try engine.connect(reverb, to: player) } == .noSuchBus)
    #expect(code { try engine.connect(reverb, to: equalizer) } == .wouldCycle)
  }

  @Test("a missing server is an error of the start, and asking for the mixer never is (U-59)")
  func noServer() throws {
    let host = OfflineHost()
    host.refusal = .noServer("no JACK server runs")
    let engine = try AudioEngine(EngineConfiguration(output: .host(host)))
    let player = PlayerNode()
    try engine.attach(player)
    try engine.connect(player, to: engine.mainMixerNode)
    #expect(engine.mainMixerNode.outputFormat(bus: 0) == stereo)
    for _ in 0..<2 {
      do {
        try engine.start()
        Issue.record("started without a server")
      } catch {
        #expect(error.code == .unavailable && error.message.contains("no JACK server runs"))
      }
      // A failed start never reads as playing.
      #expect(!engine.isRunning && engine.state == .stopped && !player.isPlaying)
      #expect(code { try player.play() } == .notRunning)
    }
    host.refusal = nil
    host.sampleRate = 96_000
    try engine.start()
    #expect(engine.isRunning && engine.sampleRate == 96_000)
    #expect(engine.attachedNodes.count == 2)
    #expect(engine.mainMixerNode.outputFormat(bus: 0)?.sampleRate == 96_000)
  }

  @Test("a connection that the server's rate does not go with is an error of the start that names both")
  func wrongRate() throws {
    let host = OfflineHost(sampleRate: 96_000)
    let engine = try AudioEngine(EngineConfiguration(output: .host(host)))
    try engine.connect(
      engine.mainMixerNode, to: engine.outputNode, format: AudioFormat(sampleRate: 44_100, channelCount: 2))
    #expect(code { try engine.start() } == .formatMismatch)
    #expect(!engine.isRunning)
    try engine.connect(engine.mainMixerNode, to: engine.outputNode)
    try engine.start()
    #expect(engine.isRunning)
  }

  @Test("nodes belong to one engine; attaching twice changes nothing, and rebuilding duplicates no node")
  func belonging() throws {
    let one = try AudioEngine(EngineConfiguration(output: .timer())),
      other = try AudioEngine(EngineConfiguration(output: .timer()))
    let reverb = try UnitNode("reverb")
    for _ in 0..<3 { try one.attach(reverb) }
    #expect(one.attachedNodes.count == 1 && reverb.engine === one)
    #expect(code { try other.attach(reverb) } == .alreadyAttached)
    #expect(code { try other.connect(reverb, to: other.mainMixerNode) } == .notAttached)
    one.detach(reverb)
    #expect(reverb.engine == nil && one.attachedNodes.isEmpty)
    try other.attach(reverb)
    #expect(reverb.engine === other)
  }

  @Test("an output goes to several inputs, and a new list takes the place of the old one")
  func fanOut() throws {
    let rig = try Rig(rampTime: 0)
    let engine = rig.engine
    let player = PlayerNode()
    let gains = [try UnitNode("gain", ["gain": -96]), try UnitNode("gain", ["gain": 0])]
    for node in [player, gains[0], gains[1]] as [AudioNode] { try engine.attach(node) }
    for gain in gains { try engine.connect(gain, to: engine.mainMixerNode) }
    try engine.connect(player, to: [ConnectionPoint(gains[0]), ConnectionPoint(gains[1])])
    #expect(engine.outputConnectionPoints(for: player, bus: 0).count == 2)
    #expect(engine.inputConnectionPoint(for: gains[1], bus: 0)?.node === player)
    try engine.connect(player, to: gains[0])
    #expect(engine.outputConnectionPoints(for: player, bus: 0).count == 1)
    #expect(engine.inputConnectionPoint(for: gains[1], bus: 0) == nil)
    try engine.disconnectOutput(of: player)
    #expect(engine.outputConnectionPoints(for: player, bus: 0).isEmpty)
    #expect(code { try engine.disconnectInput(of: gains[0], bus: 0) } == .notConnected)
  }

  @Test("a mixer gives each source the next free input, and keeps its volume and pan through reconnections")
  func mixing() throws {
    let rig = try Rig(rampTime: 0)
    let engine = rig.engine
    let mixer = engine.mainMixerNode
    let players = [try rig.player(), try rig.player()]
    #expect(mixer.nextAvailableInputBus == 2)
    players[0].volume = 0.25
    players[1].pan = 1
    for _ in 0..<2 {
      try engine.disconnectOutput(of: players[0])
      try engine.disconnectOutput(of: players[1])
      try engine.connect(players[1], to: mixer)
      try engine.connect(players[0], to: mixer)
    }
    try engine.start()
    for player in players {
      try player.schedule(Sounds.buffer([Float](repeating: 0.5, count: 2_000)))
      try player.play()
    }
    let out = try rig.render(1_000)
    #expect(out[0][999] == 0.125 && out[1][999] == 0.625)
    mixer.outputVolume = 0.5
    #expect(try rig.render(100)[1][99] == 0.3125)
    players[1].destination(mixer: mixer, bus: 0).volume = 0
    #expect(try rig.render(100)[1][99] == 0.0625)
  }

  @Test("any number of channels goes into a mixer, and an output of one channel hears half of both sides")
  func channels() throws {
    let rig = try Rig(channels: 1, rampTime: 0)
    let engine = rig.engine
    let player = try rig.player(AudioFormat(sampleRate: 48_000, channelCount: 4))
    let buffer = try #require(PCMBuffer(format: AudioFormat(sampleRate: 48_000, channelCount: 4), frameCapacity: 100))
    buffer.frameLength = 100
    for frame in 0..<100 { for channel in 0..<4 { buffer[frame, channel] = [0.1, 0.2, 0.3, 0.4][channel] } }
    try engine.start()
    try player.schedule(buffer)
    try player.play()
    let out = try rig.render(50)
    // Left hears the mean of channels 0 and 2, right that of 1 and 3.
    #expect(abs(out[0][20] - 0.25) < 1e-6)
    #expect(player.outputFormat(bus: 0)?.channelCount == 4)
  }

  @Test("a converter stands between formats: rates and channels change there, with formats that tell, and nowhere else")
  func converter() throws {
    let rig = try Rig(rampTime: 0)
    let engine = rig.engine
    let other = AudioFormat(sampleRate: 44_100, channelCount: 4)
    let source = SourceNode(format: other) { block in
      for channel in 0..<4 { block[channel].update(repeating: [0.1, 0.2, 0.3, 0.4][channel]) }
    }
    let converter = try ConverterNode(map: [3, nil, 0])
    let narrow = try ConverterNode(channelCount: 2)
    let gain = try UnitNode("gain")
    for node in [source, converter, narrow, gain] as [AudioNode] { try engine.attach(node) }
    try engine.connect(source, to: converter)
    #expect(converter.inputFormat(bus: 0) == other)
    let three = AudioFormat(sampleRate: 48_000, channelCount: 3)
    #expect(converter.outputFormat(bus: 0) == three)
    // A unit takes neither three channels nor, behind a converter, another rate than the engine's.
    do {
      try engine.connect(converter, to: gain)
      Issue.record("three channels went into a unit of two")
    } catch {
      #expect(error.code == .formatMismatch && error.formats == [three, stereo])
    }
    let slow = AudioFormat(sampleRate: 44_100, channelCount: 3)
    do {
      try engine.connect(converter, to: narrow, format: slow)
      Issue.record("a converter gave another rate than the engine's")
    } catch {
      #expect(error.code == .formatMismatch && error.formats == [slow, three])
    }
    try engine.connect(converter, to: narrow)
    try engine.connect(narrow, to: gain, format: stereo)
    try engine.connect(gain, to: engine.outputNode)
    #expect(gain.inputFormat(bus: 0) == stereo && narrow.inputFormat(bus: 0) == three)
    try engine.start()
    _ = try rig.render(512)
    let out = try rig.render(64)
    // Left hears half of each of 3 and 0, right the silence between.
    #expect(abs(out[0][32] - 0.25) < 1e-4 && out[1][32] == 0)
    #expect(code { _ = try ConverterNode(channelCount: 0) } == .outOfRange)
    #expect(code { _ = try ConverterNode(map: []) } == .outOfRange)
    #expect(code { _ = try ConverterNode(map: [-1]) } == .outOfRange)
    // What the map takes has to come.
    #expect(code { try engine.connect(gain, to: converter) } == .formatMismatch)
    let wide = try ConverterNode(channelCount: 5)
    try engine.attach(wide)
    #expect(code { try engine.connect(gain, to: wide) } == .formatMismatch)
  }

  @Test("a unit's parameters go by their names, with errors that help")
  func parameters() throws {
    let reverb = try UnitNode("reverb", ["wetDryMix": 35])
    #expect(try reverb.value(of: "wetDryMix") == 35)
    #expect(code { try reverb.set("wetDryMx", to: 1) } == .unknownParameter)
    #expect(code { try reverb.set("wetDryMix", to: 101) } == .outOfRange)
    #expect(code { try reverb.set("wetDryMix", to: .nan) } == .outOfRange)
    do { try reverb.set("wetDryMx", to: 1) } catch { #expect(error.message.contains("wetDryMix")) }
    #expect(code { _ = try UnitNode("revreb") } == .unknownKind)
    let rig = try Rig()
    try rig.engine.attach(reverb)
    try reverb.set("wetDryMix", to: 50)
    #expect(try reverb.value(of: "wetDryMix") == 50)
    let meter = try UnitNode("meter")
    #expect(code { try meter.set("peakLeft", to: 0) } == .notAllowed)
    for kind in UnitNode.kinds { #expect(try UnitNode(kind).kind == kind) }
  }

  @Test("an engine may be let go in any state, from any thread, and leaves nothing behind")
  func lettingGo() async throws {
    for _ in 0..<20 {
      weak var kernel: Engine?
      let node = PlayerNode()
      do {
        let engine = try AudioEngine(EngineConfiguration(output: .timer()))
        try engine.attach(node)
        try engine.connect(node, to: engine.mainMixerNode)
        try engine.start()
        try node.schedule(Sounds.buffer(Sounds.ramp(100)))
        try node.play()
        try engine.mainMixerNode.installTap(frameCount: 64) { _ in }
        kernel = engine.engine
      }
      #expect(node.engine == nil && !node.isPlaying)
      #expect(await Eventually.holds { kernel == nil })
    }
  }
}
