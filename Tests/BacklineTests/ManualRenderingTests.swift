import Backline
import BacklineTestSupport
import Testing

@Suite("Manual rendering")
struct ManualRenderingTests {
  @Test(
    "gives exactly what a player plays, from the first frame on, in requests of any length",
    arguments: [1, 63, 512, 4_096])
  func exact(cut: Int) throws {
    let rig = try Rig()
    let player = try rig.player()
    let ramp = Sounds.ramp(5_000)
    try rig.engine.start()
    try player.schedule(Sounds.buffer(ramp))
    try player.play()
    let out = try rig.render(5_000, cuts: [cut])
    #expect(out == [ramp, ramp])
    #expect(rig.engine.manualRenderingSampleTime == 5_000)
    let silence = [Float](repeating: 0, count: 100)
    #expect(try rig.render(100) == [silence, silence])
  }

  @Test(
    "a file of a chunk, of a frame more and of a frame less comes out whole (seed 000)",
    arguments: [1, 4_095, 4_096, 4_097])
  func chunks(frames: Int) throws {
    let folder = try TemporaryFolder()
    let path = folder.file("ramp.wav")
    let ramp = Sounds.ramp(frames)
    try Sounds.write(ramp, to: path)
    let rig = try Rig()
    let player = try rig.player()
    let file = try AudioFile(forReading: path)
    #expect(file.length == Int64(frames))
    try player.schedule(file)
    try rig.engine.start()
    try player.play()
    #expect(try rig.render(frames, cuts: [4_096]) == [ramp, ramp])
  }

  @Test("renders again after a stop, to the same bits")
  func again() throws {
    let rig = try Rig()
    let player = PlayerNode()
    let reverb = try UnitNode("reverb", ["wetDryMix": 60, "decayTime": 0.5])
    try rig.engine.attach(player)
    try rig.engine.attach(reverb)
    try rig.engine.connect(player, to: reverb, format: rig.format)
    try rig.engine.connect(reverb, to: rig.engine.mainMixerNode)
    var results: [[[Float]]] = []
    for _ in 0..<2 {
      try rig.engine.start()
      try player.schedule(Sounds.buffer(Signals.noise(frames: 3_000, amplitude: 0.3)))
      try player.play()
      results.append(try rig.render(7_777, cuts: [100, 333]))
      player.stop()
      rig.engine.stop()
    }
    #expect(results[0] == results[1])
    #expect(Signals.peak(results[0][0]) > 0.05)
  }

  @Test("refuses what cannot be, and says why")
  func refuses() throws {
    let engine = try AudioEngine(EngineConfiguration(output: .timer()))
    let format = AudioFormat(sampleRate: 48_000, channelCount: 2)
    let buffer = try #require(PCMBuffer(format: format, frameCapacity: 64))
    #expect(code { _ = try engine.renderOffline(1, to: buffer) } == .wrongMode)
    let bad: [(Double, Int)] = [(0, 2), (-1, 2), (.nan, 2), (48_000, 0), (48_000, 33), (1e9, 2)]
    for bad in bad {
      let format = AudioFormat(sampleRate: bad.0, channelCount: bad.1)
      #expect(
        code { try engine.enableManualRendering(.offline, format: format, maximumFrameCount: 64) } == .invalidFormat)
    }
    #expect(code { try engine.enableManualRendering(.offline, format: format, maximumFrameCount: 0) } == .outOfRange)
    try engine.enableManualRendering(.offline, format: format, maximumFrameCount: 64)
    #expect(code { _ = try engine.renderOffline(1, to: buffer) } == .notRunning)
    _ = engine.mainMixerNode
    try engine.start()
    #expect(code { try engine.enableManualRendering(.offline, format: format, maximumFrameCount: 64) } == .running)
    #expect(code { _ = try engine.renderOffline(65, to: buffer) } == .outOfRange)
    #expect(code { _ = try engine.renderOffline(-1, to: buffer) } == .outOfRange)
    let other = try #require(PCMBuffer(format: AudioFormat(sampleRate: 44_100, channelCount: 2), frameCapacity: 64))
    #expect(code { _ = try engine.renderOffline(1, to: other) } == .formatMismatch)
    #expect(try engine.renderOffline(0, to: buffer) == .success && buffer.frameLength == 0)
    #expect(try engine.renderOffline(64, to: buffer) == .success && buffer.frameLength == 64)
    #expect(code { _ = try engine.manualRenderer() } == .wrongMode)
    engine.stop()
    try engine.disableManualRendering()
    #expect(engine.manualRenderingMode == nil)
  }

  @Test("input comes from the block, all of it or nothing")
  func input() throws {
    let rig = try Rig()
    let ramp = Sounds.ramp(4_096)
    let gate = Gate()
    let format = rig.format
    try rig.engine.inputNode.setManualRenderingInput(format: format) { count in
      gate.isOpen ? try? Sounds.buffer(Array(ramp[0..<count])) : nil
    }
    try rig.engine.connect(rig.engine.inputNode, to: rig.engine.mainMixerNode)
    try rig.engine.start()
    let buffer = try #require(PCMBuffer(format: rig.format, frameCapacity: 4_096))
    #expect(try rig.engine.renderOffline(1_000, to: buffer) == .insufficientDataFromInputNode)
    #expect(buffer.frameLength == 0 && rig.engine.manualRenderingSampleTime == 0)
    gate.isOpen = true
    #expect(try rig.engine.renderOffline(1_000, to: buffer) == .success)
    #expect(buffer.samples(ofChannel: 0) == Array(ramp[0..<1_000]))
  }

  @Test("a file that breaks off in the middle is an error that names it, not silence (U-63)")
  func broken() throws {
    let folder = try TemporaryFolder()
    let path = folder.file("cut.flac")
    let whole = try AudioFile(
      forWriting: path, format: AudioFileFormat(container: .flac, encoding: .int16, sampleRate: 48_000, channelCount: 2)
    )
    try whole.write(from: Sounds.buffer(Signals.noise(frames: 200_000, amplitude: 0.5)))
    try whole.close()
    try folder.truncate("cut.flac", toPart: 0.6)
    let rig = try Rig()
    let player = try rig.player()
    let file = try AudioFile(forReading: path)
    try player.schedule(file)
    try rig.engine.start()
    try player.play()
    var message = ""
    do {
      _ = try rig.render(200_000, cuts: [4_096])
    } catch {
      message = "\(error)"
    }
    #expect(message.contains("cut.flac"))
  }

  @Test("renders in real time from a thread of the caller's, in whatever form the buffer has")
  func realtime() throws {
    let engine = try AudioEngine(EngineConfiguration(output: .timer()))
    let format = AudioFormat(sampleRate: 44_100, channelCount: 1)
    try engine.enableManualRendering(.realtime, format: format, maximumFrameCount: 256)
    let source = SourceNode(state: 0) { count, block in
      for frame in 0..<block.frameCount {
        count += 1
        for channel in 0..<block.channelCount { block[channel][frame] = Float(count) / 1_048_576 }
      }
    }
    try engine.attach(source)
    try engine.connect(source, to: engine.mainMixerNode)
    let renderer = try engine.manualRenderer()
    let buffer = try #require(PCMBuffer(format: format, frameCapacity: 256))
    let channels = try #require(buffer.floatChannelData)
    #expect(renderer.render(256, to: channels) == .cannotDoInCurrentContext)
    try engine.start()
    #expect(renderer.render(257, to: channels) == .error)
    #expect(renderer.render(256, to: channels) == .success)
    buffer.frameLength = 256
    #expect(buffer.samples(ofChannel: 0) == Sounds.ramp(256))
    engine.stop()
    let interleaved = AudioFormat(sampleRate: 44_100, channelCount: 2, sampleType: .int16, isInterleaved: true)
    #expect(
      code { try engine.enableManualRendering(.realtime, format: interleaved, maximumFrameCount: 256) }
        == .invalidFormat)
    try engine.enableManualRendering(.offline, format: interleaved, maximumFrameCount: 256)
    try engine.start()
    let shorts = try #require(PCMBuffer(format: interleaved, frameCapacity: 256))
    #expect(try engine.renderOffline(100, to: shorts) == .success)
    let data = try #require(shorts.int16ChannelData)
    // 257 / 2^20 is 8.03 of the steps of 16 bits.
    #expect(data[0][0] == 8)
  }
}
