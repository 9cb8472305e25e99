import Backline
import BacklineEngine
import BacklineTestSupport
import Testing

@Suite("Taps")
struct TapTests {
  private struct Heard: Sendable {
    let samples: [Float]
    let time: Int64
    let sequence: Int
    let dropped: Int
    let rate: Double
    let epoch: Int
  }

  private func log(_ log: EventLog<Heard>) -> @Sendable (TapBlock) -> Void {
    { block in
      log.append(
        Heard(
          samples: block.buffer.samples(ofChannel: 0), time: block.time.sampleTime ?? -1, sequence: block.sequence,
          dropped: block.droppedFrames, rate: block.buffer.format.sampleRate, epoch: block.epoch))
    }
  }

  @Test(
    "blocks have just the length that was asked for, and join without a gap (U-51)",
    arguments: [32, 256, 1_000, 48_000])
  func lengths(frames: Int) async throws {
    let rig = try Rig()
    let player = try rig.player()
    let heard = EventLog<Heard>()
    try player.installTap(frameCount: frames, block: log(heard))
    try rig.engine.start()
    let total = max(2 * frames, 10_000)
    let ramp = Sounds.ramp(total)
    try player.schedule(Sounds.buffer(ramp))
    try player.play()
    // In pieces that the receiver keeps up with.
    for part in 1...10 {
      _ = try rig.render(total / 10, cuts: [256])
      #expect(await Eventually.holds { heard.all.count >= total / 10 * part / frames })
    }
    let blocks = heard.all
    #expect(blocks.count == total / frames)
    #expect(blocks.flatMap(\.samples) == Array(ramp[0..<total / frames * frames]))
    for (index, block) in blocks.enumerated() {
      #expect(
        block.time == Int64(index * frames) && block.sequence == index && block.dropped == 0 && block.rate == 48_000)
    }
  }

  @Test("a receiver that is too slow is told how many frames it has lost, and nothing waits for it")
  func slow() async throws {
    let rig = try Rig()
    let player = try rig.player()
    let heard = EventLog<Heard>()
    let gate = Gate()
    let append = log(heard)
    try player.installTap(frameCount: 100) { block in
      append(block)
      while !gate.isOpen {}
    }
    try rig.engine.start()
    // The tap's memory holds a second.
    _ = try rig.render(200_000, cuts: [4_096])
    gate.isOpen = true
    #expect(await Eventually.holds { heard.all.count >= 481 })
    _ = try rig.render(1_000)
    #expect(await Eventually.holds { heard.all.contains { $0.dropped > 0 } })
    let blocks = heard.all
    for (one, next) in zip(blocks, blocks.dropFirst()) {
      #expect(next.time == one.time + 100 + Int64(next.dropped) && next.sequence == one.sequence + 1)
    }
  }

  @Test("what cannot be tapped is an error, never a crash, and a second tap of a bus is one (U-48)")
  func refuses() throws {
    let engine = try AudioEngine(EngineConfiguration(output: .timer()))
    let input = engine.inputNode
    let none: @Sendable (TapBlock) -> Void = { _ in }
    #expect(code { try PlayerNode().installTap(frameCount: 64, block: none) } == .notAttached)
    #expect(code { try input.installTap(bus: 99, frameCount: 64, block: none) } == .noSuchBus)
    #expect(code { try engine.outputNode.installTap(frameCount: 64, block: none) } == .noSuchBus)
    for frames in [0, -1, .max] {
      #expect(code { try input.installTap(frameCount: frames, block: none) } == .outOfRange)
    }
    for (rate, channels) in [(44_100.0, 2), (48_000, 5), (0, 2)] {
      let format = AudioFormat(sampleRate: rate, channelCount: channels)
      #expect(code { try input.installTap(frameCount: 64, format: format, block: none) } == .formatMismatch)
    }
    try input.installTap(frameCount: 64, format: AudioFormat(sampleRate: 48_000, channelCount: 2), block: none)
    #expect(code { try input.installTap(frameCount: 64, block: none) } == .tapExists)
    try input.removeTap()
    #expect(code { try input.removeTap() } == .noTap)
    try input.installTap(frameCount: 64, block: none)
  }

  @Test("a tap that was there before the server delivers when it comes, and stays through another rate")
  func stays() async throws {
    let host = OfflineHost(sampleRate: 44_100, period: 64)
    let engine = try AudioEngine(EngineConfiguration(output: .host(host)))
    let heard = EventLog<Heard>()
    try engine.inputNode.installTap(frameCount: 64, block: log(heard))
    for rate in [44_100, 96_000] {
      host.sampleRate = rate
      try engine.start()
      let before = heard.all.count
      for _ in 0..<4 { _ = host.cycle([[Float](repeating: 0.5, count: 64), []], frames: 64) }
      #expect(await Eventually.holds { heard.all.count == before + 4 })
      #expect(heard.all.last?.rate == Double(rate) && heard.all.last?.samples[63] == 0.5)
      engine.stop()
    }
    #expect(heard.all.map(\.sequence) == Array(0..<8))
    #expect(Set(heard.all.map(\.epoch)).count == 2)
  }

  @Test("a tap may be removed from inside, and is not called afterwards")
  func removesItself() async throws {
    let rig = try Rig()
    let player = try rig.player()
    let heard = EventLog<Int>()
    try player.installTap(frameCount: 64) { [weak player] block in
      heard.append(block.sequence)
      try? player?.removeTap()
    }
    try rig.engine.start()
    _ = try rig.render(64)
    #expect(await Eventually.holds { heard.all == [0] })
    _ = try rig.render(640)
    try player.installTap(frameCount: 64) { heard.append($0.sequence + 100) }
    _ = try rig.render(128)
    #expect(await Eventually.holds { heard.all == [0, 100, 101] })
  }
}
