import BacklineDSP
import BacklineRealtime
import BacklineTestSupport
import CBackline
import Testing

@Suite("Player")
struct PlayerTests {
  static let cuts = [[1], [7], [64], [333], [8192], [512, 1, 31, 2000]]

  @Test("a scheduled start sounds at exactly its frame, whatever the period", arguments: cuts)
  func exactStart(cuts: [Int]) throws {
    for start in [1000, 1001, 1500, 1535] {
      let rig = PlayerRig(MemoryPlayerSource(frames: 10) { $0 == 0 ? 1 : 0 })
      try rig.control.play(at: Int64(start))
      #expect(rig.render(2000, cuts: cuts) == Signals.impulse(at: start, frames: 2000))
    }
  }

  @Test("a file is played frame for frame, both sides, and then there is silence")
  func wholeFile() throws {
    let rig = PlayerRig(MemoryPlayerSource(frames: 200_000))
    try rig.control.play()
    let output = rig.renderStereo(200_100, cuts: [1000])
    let expected = (0..<200_000).map(MemoryPlayerSource.code) + [Float](repeating: 0, count: 100)
    #expect(output[0] == expected)
    #expect(output[1] == expected.map { -$0 })
    #expect(rig.control.state.underruns == 0)
  }

  @Test("at the end a player stops by itself, and its position stays there")
  func end() throws {
    let rig = PlayerRig(MemoryPlayerSource(frames: 24_000))
    try rig.control.play()
    _ = rig.render(23_999)
    #expect(rig.control.state.isPlaying)
    _ = rig.render(1)
    #expect(!rig.control.state.isPlaying)
    #expect(rig.control.state.hasEnded)
    _ = rig.render(100)
    #expect(rig.control.state.position == 24_000)
    #expect(rig.harness.reading("position") == 0.5)
    #expect(rig.harness.reading("isPlaying") == 0)
  }

  @Test("play after the end begins anew, at its exact frame, even within the block of the end", arguments: cuts)
  func playAgain(cuts: [Int]) throws {
    let rig = PlayerRig(MemoryPlayerSource(frames: 100))
    try rig.control.play(at: 50)
    try rig.control.play(at: 150)
    try rig.control.play(at: 333)
    let silence = [Int64](repeating: -1, count: 50)
    let expected = silence + (0..<100) + (0..<100) + [Int64](repeating: -1, count: 83) + (0..<100) + silence
    #expect(rig.renderFrames(expected.count, cuts: cuts) == expected)
  }

  @Test("an idle player says that it is silent and leaves its output alone or zero")
  func idle() {
    let rig = PlayerRig(MemoryPlayerSource(frames: 100))
    let samples = [SampleMemory.allocate(64), SampleMemory.allocate(64)]
    defer { samples.forEach(SampleMemory.free) }
    samples.withUnsafeBufferPointer { channels in
      guard let channels = channels.baseAddress else { return }
      var bus = BusBuffer(channels: channels, channelCount: 2, isConnected: true, isSilent: false)
      withUnsafeMutablePointer(to: &bus) { bus in
        var block = RenderBlock(
          frame: 0, frameCount: 64, inputCount: 0, outputCount: 1, inputs: nil, outputs: bus)
        Player.functions.render(rig.harness.instance.state, &block)
      }
      #expect(bus.isSilent)
    }
  }

  @Test("the level in dB applies to what is played")
  func gain() throws {
    let rig = PlayerRig(gain: -6)
    rig.control.attach(MemoryPlayerSource(frames: 1000) { _ in 1 })
    try rig.control.play()
    for sample in rig.render(1000) { #expect(abs(sample - 0.501_187_2) < 1e-6) }
  }

  @Test("transport commands need a file, a position needs to be inside it, and refusals change nothing")
  func refusals() throws {
    let rig = PlayerRig()
    #expect(throws: PlayerError.nothingLoaded) { try rig.control.play() }
    #expect(throws: PlayerError.nothingLoaded) { try rig.control.seek(to: 0) }
    rig.control.attach(MemoryPlayerSource(frames: 100))
    for position: Int64 in [-1, 101, .min, .max] {
      #expect(throws: PlayerError.self) { try rig.control.seek(to: position) }
    }
    for loop: Range<Int64> in [0..<101, 5..<5, -1..<10, 200..<300] {
      #expect(throws: PlayerError.self) { try rig.control.setLoop(loop) }
    }
    try rig.control.play()
    #expect(rig.renderFrames(100) == Array(0..<100))
  }

  @Test("too many waiting commands are refused, and a stop still gets through")
  func tooManyCommands() throws {
    let rig = PlayerRig(MemoryPlayerSource(frames: 1000))
    #expect(throws: PlayerError.self) { for _ in 0..<1000 { try rig.control.play(at: 50) } }
    try rig.control.stop()
    #expect(rig.render(200).allSatisfy { $0 == 0 })
    try rig.control.play(at: 300)
    #expect(rig.renderFrames(110).last == 9)
  }

  @Test("a command whose frame has passed acts at once and is counted")
  func late() throws {
    let rig = PlayerRig(MemoryPlayerSource(frames: 1000))
    _ = rig.render(500)
    try rig.control.play(at: 100)
    #expect(rig.renderFrames(10) == Array(0..<10))
    #expect(rig.control.state.lateCommands == 1)
  }

  @Test("sound that has not been read is silence, counted once a gap, and nothing of it is skipped")
  func underrun() throws {
    let rig = PlayerRig(MemoryPlayerSource(frames: 300_000))
    rig.control.fillSynchronously()
    try rig.control.play()
    let first = rig.render(40_000, isFilled: false).map(MemoryPlayerSource.frame)
    let played = Int(rig.control.state.position)
    #expect(played > 8192 && played < 40_000)
    #expect(first == Array(0..<Int64(played)) + [Int64](repeating: -1, count: 40_000 - played))
    #expect(rig.control.state.underruns == 1)
    _ = rig.render(1000, isFilled: false)
    #expect(rig.control.state.underruns == 1)
    #expect(rig.harness.reading("underruns") == 1)
    let after = rig.renderFrames(5000)
    #expect(Array(after[480...]) == Array(Int64(played) + 480..<Int64(played) + 5000))
  }

  @Test("a start that is due before its sound has been read is counted, and comes whole when it is there")
  func lateSound() throws {
    let rig = PlayerRig(MemoryPlayerSource(frames: 1000))
    try rig.control.play(at: 10)
    #expect(rig.render(100, isFilled: false).allSatisfy { $0 == 0 })
    #expect(rig.control.state.underruns == 1)
    #expect(rig.renderFrames(100) == Array(0..<100))
    #expect(rig.control.state.underruns == 1)
  }

  @Test("a source that breaks is played up to there, and the failure is known")
  func broken() throws {
    let rig = PlayerRig(MemoryPlayerSource(frames: 100_000, brokenFrom: 50_000))
    try rig.control.play()
    let output = rig.renderFrames(60_000)
    #expect(output == Array(0..<50_000) + [Int64](repeating: -1, count: 10_000))
    #expect(rig.control.failure == PlayerSourceFailure(frame: 50_000, message: "broken"))
    #expect(rig.control.state.hasEnded)
    rig.control.attach(MemoryPlayerSource(frames: 10))
    #expect(rig.control.failure == nil)
  }

  @Test("the control outlives the unit: commands and reading are harmless then")
  func outlives() throws {
    var rig: PlayerRig? = PlayerRig(MemoryPlayerSource(frames: 1000))
    let control = try #require(rig?.control)
    _ = rig?.render(100)
    rig = nil
    #expect(control.isAbandoned)
    try control.play()
    control.detach()
    control.fillSynchronously()
  }

  @Test("after a reset a player is as a fresh one")
  func reset() throws {
    func perform(_ rig: PlayerRig) throws -> [Float] {
      try rig.control.play(at: 20_100)
      try rig.control.pause(at: 21_000)
      return rig.render(4000)
    }
    let used = PlayerRig(MemoryPlayerSource(frames: 30_000))
    try used.control.seek(to: 5000)
    try used.control.play()
    _ = used.render(10_000)
    try used.control.seek(to: 7000)
    _ = used.render(100)
    try used.control.play(at: 20_050)
    _ = used.render(9900)
    used.harness.reset()
    let fresh = PlayerRig(MemoryPlayerSource(frames: 30_000))
    _ = fresh.render(20_000)
    #expect(try perform(used) == perform(fresh))
    #expect(used.control.state == fresh.control.state)
  }

  @Test("a script of scheduled commands has the same bits however it is cut")
  func cutsAlike() throws {
    func perform(_ cuts: [Int]) throws -> [[Float]] {
      let rig = PlayerRig(MemoryPlayerSource(frames: 40_000))
      try rig.control.setLoop(1000..<9000)
      try rig.control.play(at: 101)
      try rig.control.pause(at: 3003)
      try rig.control.play(at: 5005)
      try rig.control.seek(to: 20_000, at: 7777)
      try rig.control.stop(at: 12_345)
      try rig.control.play(at: 12_445)
      return rig.renderStereo(30_000, cuts: cuts)
    }
    let expected = try perform([256])
    #expect(expected[0].contains { $0 != 0 })
    for cuts in Self.cuts { #expect(try perform(cuts) == expected) }
  }
}
