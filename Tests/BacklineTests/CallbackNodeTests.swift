import Backline
import BacklineTestSupport
import Glibc
import Testing

@Suite("Source and sink nodes")
struct CallbackNodeTests {
  @Test("a closure makes the sound, frame after frame, with its own state")
  func source() throws {
    let rig = try Rig()
    let source = SourceNode(state: 0) { count, block in
      for frame in 0..<block.frameCount {
        block[0][frame] = Float(count + 1) / 1_048_576
        block[1][frame] = -block[0][frame]
        count += 1
      }
    }
    try rig.engine.attach(source)
    try rig.engine.connect(source, to: rig.engine.outputNode)
    try rig.engine.start()
    let out = try rig.render(3_000, cuts: [1, 700, 64])
    #expect(out == [Sounds.ramp(3_000), Sounds.ramp(3_000).map { -$0 }])
  }

  @Test("a C function with a reference makes the sound, and takes it")
  func functions() throws {
    let rig = try Rig(channels: 1)
    let place = UnsafeMutablePointer<Int>.allocate(capacity: 2)
    place.initialize(repeating: 0, count: 2)
    defer { place.deallocate() }
    let source = SourceNode(
      format: AudioFormat(sampleRate: 48_000, channelCount: 1),
      function: { reference, channels, _, frameCount, _ in
        let place = reference?.assumingMemoryBound(to: Int.self)
        for frame in 0..<Int(frameCount) {
          channels[0][frame] = Float((place?.pointee ?? 0) % 2)
          place?.pointee += 1
        }
      }, reference: place)
    let sink = SinkNode(
      function: { reference, channels, _, frameCount, _ in
        for frame in 0..<Int(frameCount) where channels[0][frame] == 1 {
          reference?.assumingMemoryBound(to: Int.self)[1] += 1
        }
      }, reference: place)
    try rig.engine.attach(source)
    try rig.engine.attach(sink)
    try rig.engine.connect(source, to: [ConnectionPoint(sink), ConnectionPoint(rig.engine.outputNode)])
    try rig.engine.start()
    let out = try rig.render(1_000)[0]
    #expect(out[0] == 0 && out[1] == 1 && place[0] == 1_000 && place[1] == 500)
  }

  @Test("a sink hears silence, too, anywhere in the graph and with any number of channels")
  func sink() throws {
    let rig = try Rig()
    let frames = EventLog<Int>()
    let sink = SinkNode(state: 0) { total, block in
      total += block.frameCount
      frames.append(total * 10 + block.channelCount)
    }
    let player = try rig.player(AudioFormat(sampleRate: 48_000, channelCount: 1))
    try rig.engine.attach(sink)
    try rig.engine.connect(player, bus: 0, to: [ConnectionPoint(sink), ConnectionPoint(rig.engine.mainMixerNode)])
    try rig.engine.start()
    _ = try rig.render(5_000)
    #expect(frames.all.last == 50_001)
  }

  @Test("a source of another rate is converted: its tone keeps its pitch and level")
  func converted() throws {
    for (own, rate) in [(44_100.0, 48_000.0), (48_000, 44_100), (8_000, 48_000), (96_000, 44_100), (11_025, 96_000)] {
      let rig = try Rig(sampleRate: rate)
      let source = SourceNode(format: AudioFormat(sampleRate: own, channelCount: 2), state: 0) { count, block in
        for frame in 0..<block.frameCount {
          let angle = 2 * Double.pi * 1_000 * Double(count) / block.sampleRate
          block[0][frame] = Float(sin(angle))
          block[1][frame] = 0.5
          count += 1
        }
      }
      try rig.engine.attach(source)
      try rig.engine.connect(source, to: rig.engine.mainMixerNode)
      #expect(source.outputFormat(bus: 0)?.sampleRate == own)
      try rig.engine.start()
      _ = try rig.render(1_000)
      let out = try rig.render(Int(rate))
      #expect(abs(Signals.amplitude(of: 1_000, in: out[0], sampleRate: rate) - 1) < 0.001)
      // All that is no tone, against the tone.
      let residue = Double(Signals.rms(out[0])) * 2.squareRoot() - 1
      #expect(abs(residue) < 1e-4)
      #expect(out[1].allSatisfy { abs($0 - 0.5) < 1e-5 })
    }
  }

  @Test("the sound of a source of another rate does not depend on the cuts")
  func cuts() throws {
    var results: [[Float]] = []
    for cuts in [[512], [1, 33, 100]] {
      let rig = try Rig(sampleRate: 44_100)
      let source = SourceNode(format: AudioFormat(sampleRate: 48_000, channelCount: 1), state: UInt64(1)) {
        state, block in
        for frame in 0..<block.frameCount {
          state = state &* 6_364_136_223_846_793_005 &+ 1
          block[0][frame] = Float(state >> 40) * 0x1p-24 - 0.5
        }
      }
      try rig.engine.attach(source)
      try rig.engine.connect(source, to: rig.engine.mainMixerNode)
      try rig.engine.start()
      results.append(try rig.render(3_000, cuts: cuts)[0])
    }
    #expect(results[0] == results[1])
  }

  @Test("samples that are no numbers are silenced, and the neighbours sound on")
  func notANumber() throws {
    let rig = try Rig(rampTime: 0)
    let bad = SourceNode { block in block[0].update(repeating: .nan) }
    let player = try rig.player()
    try rig.engine.attach(bad)
    try rig.engine.connect(bad, to: rig.engine.mainMixerNode)
    try rig.engine.start()
    try player.schedule(Sounds.buffer([Float](repeating: 0.5, count: 1_000)))
    try player.play()
    #expect(try rig.render(1_000)[0].allSatisfy { $0 == 0.5 })
  }
}
