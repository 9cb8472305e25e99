import Backline
import BacklineAVFAudio
import BacklineTestSupport
import Testing

@Suite("Programs written for the Mac")
struct SampleProgramTests {
  private func folder() throws -> URL {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent("backline-avf-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
    return url
  }

  private func write(_ frames: Int, to url: URL, sampleRate: Double = 44_100, channels: Int = 2) throws {
    let file = try AudioFile(
      forWriting: url.path,
      format: AudioFileFormat(container: .wav, encoding: .int16, sampleRate: sampleRate, channelCount: channels))
    let format = AudioFormat(sampleRate: sampleRate, channelCount: channels)
    let buffer = try #require(PCMBuffer(format: format, frameCapacity: max(1, frames)))
    buffer.frameLength = frames
    let noise = Signals.noise(frames: frames, amplitude: 0.5)
    for channel in 0..<channels { for frame in 0..<frames { buffer[frame, channel] = noise[frame] } }
    try file.write(from: buffer)
    try file.close()
  }

  @Test(
    "the offline sample renders files of any length to exactly the length that it should be",
    arguments: [(1, 0), (4_096, 0), (4_097, 0), (20_000, 44_100), (10_000, 1)])
  func offline(frames: Int, tail: Int) throws {
    let folder = try folder()
    defer { try? FileManager.default.removeItem(at: folder) }
    let input = folder.appendingPathComponent("in.wav"), output = folder.appendingPathComponent("out.caf")
    for channels in [2, 1] {
      try write(frames, to: input, channels: channels)
      try renderThroughReverb(inputURL: input, outputURL: output, configuredTailFrames: AVAudioFrameCount(tail))
      let rendered = try AVAudioFile(forReading: output)
      #expect(rendered.length == Int64(frames + tail))
      #expect(
        rendered.processingFormat.sampleRate == 44_100 && rendered.processingFormat.channelCount == UInt32(channels))
      // The first sample is there, and a tail rings.
      let buffer = try #require(
        AVAudioPCMBuffer(pcmFormat: rendered.processingFormat, frameCapacity: AVAudioFrameCount(frames + tail)))
      try rendered.read(into: buffer)
      let samples = try #require(buffer.floatChannelData)
      #expect(samples[0][0] != 0)
      if tail > 1_000 { #expect((frames + 500..<frames + 5_000).contains { abs(samples[0][$0]) > 1e-4 }) }
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == ["in.wav", "out.caf"])
  }

  @Test("the offline sample fails on what is no sound file, and leaves nothing behind")
  func offlineFailures() throws {
    let folder = try folder()
    defer { try? FileManager.default.removeItem(at: folder) }
    let output = folder.appendingPathComponent("out.caf")
    #expect(throws: AudioError.self) {
      try renderThroughReverb(
        inputURL: folder.appendingPathComponent("none.wav"), outputURL: output, configuredTailFrames: 0)
    }
    try Data("no sound".utf8).write(to: folder.appendingPathComponent("text.wav"))
    #expect(throws: AudioError.self) {
      try renderThroughReverb(
        inputURL: folder.appendingPathComponent("text.wav"), outputURL: output, configuredTailFrames: 0)
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["text.wav"])
  }

  @Test("an error that an older method could not throw is thrown by the start")
  func keptErrors() throws {
    let engine = AVAudioEngine(EngineConfiguration(output: .timer()))
    let equalizer = AVAudioUnitEQ(numberOfBands: 2), reverb = AVAudioUnitReverb()
    engine.attach(equalizer)
    engine.connect(equalizer, to: reverb, format: nil)
    #expect(throws: AudioError.self) { try engine.start() }
    #expect(!engine.isRunning)
    engine.attach(reverb)
    engine.connect(equalizer, to: reverb, format: nil)
    engine.connect(reverb, to: engine.mainMixerNode, format: nil)
    try engine.start()
    #expect(engine.isRunning)
    engine.stop()
  }

  @Test("the playback sample starts and stops, again and again, or says why not")
  func playback() throws {
    let graph = PlaybackGraph()
    for _ in 0..<2 {
      do {
        try graph.prepareAndStart()
      } catch let error as AudioError {
        // Without a sound server there is nothing else to be expected.
        #expect(error.code == .unavailable)
      }
      graph.stop()
    }
  }

  @Test("nodes keep their identity, and taps, bands and mixing have the Mac's names")
  func names() throws {
    let engine = AVAudioEngine(EngineConfiguration(output: .timer()))
    #expect(engine.mainMixerNode === engine.mainMixerNode && engine.mainMixerNode.engine === engine)
    let player = AVAudioPlayerNode(), equalizer = AVAudioUnitEQ(numberOfBands: 3), delay = AVAudioUnitDelay()
    let distortion = AVAudioUnitDistortion()
    for node in [player, equalizer, delay, distortion] { engine.attach(node) }
    #expect(engine.attachedNodes.contains(player))
    equalizer.bands[1].filterType = .highShelf
    equalizer.bands[1].frequency = 4_000
    equalizer.bands[1].gain = 6
    equalizer.bands[1].bypass = false
    equalizer.bands[0].bandwidth = 1
    #expect(equalizer.bands[1].filterType == .highShelf && equalizer.bands[1].gain == 6 && !equalizer.bands[1].bypass)
    #expect(abs(equalizer.bands[0].bandwidth - 1) < 0.001 && equalizer.bands[2].bypass)
    delay.delayTime = 99
    #expect(delay.delayTime == 2 && delay.wetDryMix == 100)
    distortion.loadFactoryPreset(.speechRadioTower)
    distortion.preGain = -10
    #expect(distortion.preGain == -10)
    player.volume = 0.5
    player.destination(forMixer: engine.mainMixerNode, bus: 1)?.volume = 0.25
    #expect(player.volume == 0.5)
    engine.connect(player, to: equalizer, format: nil)
    engine.connect(equalizer, to: engine.mainMixerNode, format: nil)
    #expect(engine.inputConnectionPoint(for: equalizer, inputBus: 0)?.node === player)
    #expect(engine.outputConnectionPoints(for: equalizer, outputBus: 0).first?.node === engine.mainMixerNode)
    engine.mainMixerNode.installTap(onBus: 0, bufferSize: 64, format: nil) { _, _ in }
    #expect(throws: AudioError.self) {
      try engine.mainMixerNode.installAudioTap(onBus: 0, bufferSize: 64, format: nil) { _, _ in }
    }
    engine.mainMixerNode.removeTap(onBus: 0)
    #expect(throws: AudioError.self) { try engine.inputNode.setVoiceProcessingEnabled(true) }
    #expect(throws: AudioError.self) { try player.playAudio() }
  }

  @Test("a source node's block fills a list of buffers, and a real-time block renders it")
  func lists() throws {
    let engine = AVAudioEngine(EngineConfiguration(output: .timer()))
    let format = try #require(AVAudioFormat(standardFormatWithSampleRate: 48_000, channels: 2))
    let source = AVAudioSourceNode { isSilence, timestamp, frameCount, outputData in
      for buffer in UnsafeMutableAudioBufferListPointer(outputData) {
        guard let samples = buffer.mData?.assumingMemoryBound(to: Float.self) else { return -1 }
        for frame in 0..<Int(frameCount) { samples[frame] = Float(timestamp.pointee.mSampleTime) + Float(frame) }
      }
      return noErr
    }
    engine.attach(source)
    engine.connect(source, to: engine.mainMixerNode, format: format)
    try engine.enableManualRenderingMode(.realtime, format: format, maximumFrameCount: 128)
    try engine.start()
    let render = engine.manualRenderingBlock
    let list = AudioBufferList.allocate(maximumBuffers: 2)
    defer { list.unsafeMutablePointer.deallocate() }
    let memory = UnsafeMutablePointer<Float>.allocate(capacity: 256)
    defer { memory.deallocate() }
    for channel in 0..<2 {
      list[channel] = AudioBuffer(mNumberChannels: 1, mDataByteSize: 512, mData: memory + 128 * channel)
    }
    var status: OSStatus = 1
    #expect(render(128, list.unsafeMutablePointer, &status) == .success && status == noErr)
    #expect((0..<128).allSatisfy { memory[$0] == Float($0) && memory[128 + $0] == Float($0) })
    list.count = 1
    #expect(render(128, list.unsafeMutablePointer, &status) == .error && status != noErr)
  }

  @Test("asynchronous scheduling returns when the sound has been played")
  func asynchronous() async throws {
    let engine = AVAudioEngine(EngineConfiguration(output: .timer(sampleRate: 48_000, period: 64)))
    let player = AVAudioPlayerNode()
    let format = try #require(AVAudioFormat(standardFormatWithSampleRate: 48_000, channels: 2))
    engine.attach(player)
    engine.connect(player, to: engine.mainMixerNode, format: format)
    try engine.start()
    let buffer = try #require(AVAudioPCMBuffer(pcmFormat: format, frameCapacity: 480))
    buffer.frameLength = 480
    player.play()
    let stage = await player.scheduleBuffer(buffer, completionCallbackType: .dataPlayedBack)
    #expect(stage == .dataPlayedBack)
    engine.stop()
  }

  @Test("varispeed, time pitch and an environment have the Mac's names")
  func moreNames() throws {
    let engine = AVAudioEngine(EngineConfiguration(output: .timer()))
    let player = AVAudioPlayerNode(), varispeed = AVAudioUnitVarispeed(), pitch = AVAudioUnitTimePitch()
    let environment = AVAudioEnvironmentNode()
    for node in [player, varispeed, pitch, environment] { engine.attach(node) }
    varispeed.rate = 1.5
    pitch.pitch = 9_999
    #expect(varispeed.rate == 1.5 && pitch.pitch == 2_400 && pitch.rate == 1)
    let mono = try #require(AVAudioFormat(standardFormatWithSampleRate: 48_000, channels: 1))
    try engine.connectNode(player, to: varispeed, format: mono)
    try engine.connectNode(varispeed, to: environment, format: mono)
    try engine.connectNode(environment, to: engine.mainMixerNode, format: nil)
    #expect(throws: AudioError.self) { try engine.connectNode(varispeed, to: pitch, format: nil) }
    player.position = AVAudio3DPoint(x: 1, y: 0, z: -1)
    environment.listenerPosition = AVAudioMake3DPoint(0, 0, 1)
    environment.distanceAttenuationParameters.distanceAttenuationModel = .exponential
    environment.distanceAttenuationParameters.referenceDistance = -1
    #expect(player.position.x == 1 && environment.listenerPosition.z == 1)
    #expect(environment.distanceAttenuationParameters.distanceAttenuationModel == .exponential)
    #expect(environment.distanceAttenuationParameters.referenceDistance == 1)
  }
}
