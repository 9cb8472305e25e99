import BacklineDSP
import BacklineTestSupport
import Testing

@Suite("Player transport")
struct PlayerTransportTests {
  private static func constant() -> PlayerRig { PlayerRig(MemoryPlayerSource(frames: 480_000) { _ in 1 }) }

  /// The largest step of a linear ramp of 10 ms from 0 to 1.
  private static let rampStep: Float = 1 / 480 + 1e-6

  @Test("pause fades out over the ramp, holds the position, and play fades in from there")
  func pause() throws {
    let rig = Self.constant()
    try rig.control.play()
    _ = rig.render(1000)
    try rig.control.pause()
    let out = rig.render(1000)
    #expect(out[0] == 1 && out[480...].allSatisfy { $0 == 0 })
    #expect(Signals.largestStep(out) <= Self.rampStep)
    #expect(rig.control.state.position == 1480)
    #expect(!rig.control.state.isPlaying)
    try rig.control.play()
    let back = rig.render(1000)
    #expect(back[0] == 0 && back[480...].allSatisfy { $0 == 1 })
    #expect(Signals.largestStep(back) <= Self.rampStep)
    #expect(rig.control.state.position == 2480)
  }

  @Test("play during the fade of a pause turns it round without a step")
  func unpause() throws {
    let rig = Self.constant()
    try rig.control.play()
    try rig.control.pause(at: 1000)
    try rig.control.play(at: 1200)
    let output = rig.render(3000)
    #expect(Signals.largestStep(output) <= Self.rampStep)
    #expect(output[2000...].allSatisfy { $0 == 1 })
    #expect(rig.control.state.position == 3000)
  }

  @Test("stop fades out and is at the start; the next start is exact and not faded in")
  func stop() throws {
    let rig = Self.constant()
    try rig.control.play()
    _ = rig.render(1000)
    try rig.control.stop()
    let output = rig.render(1000)
    #expect(Signals.largestStep(output) <= Self.rampStep && output[480...].allSatisfy { $0 == 0 })
    #expect(rig.control.state.position == 0)
    try rig.control.play(at: 2100)
    #expect(rig.render(200) == [Float](repeating: 0, count: 100) + [Float](repeating: 1, count: 100))
  }

  @Test("a seek while playing crossfades and goes on at exactly the new place")
  func seek() throws {
    let steady = Self.constant()
    try steady.control.play()
    try steady.control.seek(to: 100_000, at: 1000)
    #expect(Signals.peak(steady.render(3000).map { $0 - 1 }) < 1e-5)
    let rig = PlayerRig(MemoryPlayerSource(frames: 480_000))
    try rig.control.play()
    try rig.control.seek(to: 100_000, at: 1001)
    let frames = rig.renderFrames(3000, cuts: [333])
    #expect(Array(frames[..<1001]) == Array(0..<1001))
    #expect(Array(frames[1481...]) == Array(100_480..<101_999))
  }

  @Test("seeks that follow each other closely do not click")
  func manySeeks() throws {
    let rig = Self.constant()
    try rig.control.play()
    _ = rig.render(1000)
    var output: [Float] = []
    for place: Int64 in 1...40 {
      try rig.control.seek(to: place * 10_000)
      output += rig.render(100, cuts: [64, 36])
    }
    for _ in 0..<20 { output += rig.render(100) }
    #expect(Signals.largestStep(output) <= 4 * Self.rampStep)
    #expect(output.suffix(100).allSatisfy { $0 == 1 })
  }

  @Test("a seek while stopped moves the position only, and a scheduled start there is exact")
  func cue() throws {
    let rig = PlayerRig(MemoryPlayerSource(frames: 100_000))
    try rig.control.seek(to: 70_000)
    #expect(rig.renderFrames(100).allSatisfy { $0 == -1 })
    #expect(rig.control.state.position == 70_000)
    try rig.control.play(at: 150)
    #expect(rig.renderFrames(100) == [Int64](repeating: -1, count: 50) + (70_000..<70_050))
  }

  @Test("pause without a frame takes back plays that wait, stop takes back everything")
  func takeBack() throws {
    let rig = PlayerRig(MemoryPlayerSource(frames: 100_000))
    try rig.control.play(at: 1000)
    _ = rig.render(500)
    try rig.control.pause()
    #expect(rig.render(1000).allSatisfy { $0 == 0 })
    try rig.control.play(at: 2000)
    try rig.control.seek(to: 500, at: 1900)
    _ = rig.render(100)
    try rig.control.stop()
    #expect(rig.render(1000).allSatisfy { $0 == 0 })
    #expect(rig.control.state.position == 0)
  }

  @Test("loading another file fades the old one out and waits at its start, whatever was to come")
  func loadWhilePlaying() throws {
    let rig = Self.constant()
    try rig.control.setLoop(0..<1000)
    try rig.control.play()
    try rig.control.pause(at: 5000)
    _ = rig.render(1000)
    rig.control.attach(MemoryPlayerSource(frames: 500) { _ in 0.5 })
    let output = rig.render(1000)
    #expect(Signals.largestStep(output) <= Self.rampStep && output[480...].allSatisfy { $0 == 0 })
    #expect(rig.control.loop == nil)
    try rig.control.play(at: 2100)
    let new = rig.render(1000)
    #expect(new[..<100].allSatisfy { $0 == 0 } && new[100..<600].allSatisfy { $0 == 0.5 })
    #expect(new[600...].allSatisfy { $0 == 0 })
  }

  @Test("taking the file out fades it out, and then nothing can be played")
  func unload() throws {
    let rig = Self.constant()
    try rig.control.play()
    _ = rig.render(1000)
    rig.control.detach()
    let output = rig.render(1000)
    #expect(Signals.largestStep(output) <= Self.rampStep && output[480...].allSatisfy { $0 == 0 })
    #expect(throws: PlayerError.nothingLoaded) { try rig.control.play() }
    #expect(!rig.control.state.isPlaying)
  }
}

@Suite("Player loops")
struct PlayerLoopTests {
  @Test("a seek in a looped file plays from there to the loop's end, then the whole loop again and again")
  func seekInLoop() throws {
    let rig = PlayerRig(MemoryPlayerSource(frames: 48_000))
    try rig.control.setLoop(0..<48_000)
    try rig.control.seek(to: 36_000)
    try rig.control.play(at: 0)
    let expected = Array(36_000..<48_000) + (0..<3).flatMap { _ in Array(0..<48_000) }
    #expect(rig.renderFrames(144_000, cuts: [512]).map(Int.init) == Array(expected.prefix(144_000)))
    #expect(rig.control.loop == 0..<48_000)
  }

  @Test("a position before the loop's end runs into it, one behind it plays on to the end of the file")
  func outsideTheLoop() throws {
    for (start, expected) in [
      (6000, Array(6000..<24_000) + Array(12_000..<24_000)), (18_000, Array(18_000..<24_000) + Array(12_000..<24_000)),
      (24_000, Array(24_000..<48_000) + [Int](repeating: -1, count: 100)), (36_000, Array(36_000..<48_000) + [-1]),
    ] {
      let rig = PlayerRig(MemoryPlayerSource(frames: 48_000))
      try rig.control.setLoop(12_000..<24_000)
      try rig.control.seek(to: Int64(start))
      try rig.control.play(at: 0)
      #expect(rig.renderFrames(expected.count, cuts: [1000]).map(Int.init) == expected)
    }
  }

  @Test("the tiniest loops are seamless, and are read once", arguments: [1, 2, 7, 100])
  func tiny(length: Int64) throws {
    let source = MemoryPlayerSource(frames: 48_000)
    let rig = PlayerRig(source)
    try rig.control.setLoop(50..<50 + length)
    try rig.control.seek(to: 50)
    try rig.control.play(at: 0)
    #expect(rig.renderFrames(150_000) == (0..<150_000).map { 50 + $0 % length })
    #expect(source.readCount < 20)
  }

  @Test("a loop set, moved and taken away while playing is followed without a break")
  func changed() throws {
    let rig = PlayerRig(MemoryPlayerSource(frames: 480_000))
    try rig.control.play()
    var heard = rig.renderFrames(10_000)
    try rig.control.setLoop(5000..<12_000)
    heard += rig.renderFrames(10_000, cuts: [333])
    try rig.control.setLoop(5000..<11_000)
    heard += rig.renderFrames(1000)
    try rig.control.setLoop(nil)
    heard += rig.renderFrames(100_000)
    // 12 000 frames to the first end, 7000 back to it, 1000 + 1000 into the third pass (to 7000), and on.
    let expected = Array(0..<12_000) + Array(5000..<12_000) + Array(5000..<107_000)
    #expect(heard.map(Int.init) == expected)
    #expect(rig.control.state.underruns == 0)
  }

  @Test("a loop set together with a seek, or right after loading, belongs to the new place")
  func togetherWithSeek() throws {
    let rig = PlayerRig(MemoryPlayerSource(frames: 48_000))
    try rig.control.setLoop(100..<200)
    try rig.control.play(at: 0)
    #expect(rig.renderFrames(400) == Array(0..<200) + Array(100..<200) + Array(100..<200))
    try rig.control.pause()
    _ = rig.render(1000)
    try rig.control.seek(to: 30_000)
    try rig.control.setLoop(29_000..<31_000)
    try rig.control.play(at: 2000)
    let heard = rig.renderFrames(3600)
    #expect(Array(heard[600...]) == Array(30_000..<31_000) + Array(29_000..<31_000))
  }

  @Test("setting a loop does not lose a seek that waits, nor the start of a stopped player")
  func waitingSeek() throws {
    let rig = PlayerRig(MemoryPlayerSource(frames: 48_000))
    try rig.control.play()
    _ = rig.render(100)
    try rig.control.seek(to: 20_000, at: 1000)
    _ = rig.render(100)
    try rig.control.setLoop(20_000..<21_000)
    let heard = rig.renderFrames(3300)
    #expect(Array(heard[..<800]) == Array(200..<1000))
    #expect(Array(heard[1300..<1800]) == Array(20_500..<21_000))
    #expect(Array(heard[1800..<2800]) == Array(20_000..<21_000))
    try rig.control.stop()
    try rig.control.setLoop(0..<10)
    _ = rig.render(1000)
    try rig.control.play()
    #expect(rig.renderFrames(30) == Array(0..<10) + Array(0..<10) + Array(0..<10))
  }

  @Test("a loop set after a scheduled seek has been carried out keeps to where that led")
  func afterSeek() throws {
    let rig = PlayerRig(MemoryPlayerSource(frames: 48_000))
    try rig.control.play()
    try rig.control.seek(to: 20_000, at: 1000)
    _ = rig.render(2000)
    try rig.control.setLoop(20_500..<22_000)
    #expect(rig.renderFrames(4000) == Array(21_000..<22_000) + Array(20_500..<22_000) + Array(20_500..<22_000))
  }

  @Test("a loop set after the end is there when the file is played again")
  func afterEnd() throws {
    for frames in [500, 200_000] {
      let rig = PlayerRig(MemoryPlayerSource(frames: Int64(frames)))
      try rig.control.seek(to: Int64(frames) - 200)
      try rig.control.play()
      _ = rig.render(300)
      #expect(rig.control.state.hasEnded)
      try rig.control.setLoop(100..<200)
      _ = rig.render(100)
      #expect(rig.control.state.position == frames)
      try rig.control.play()
      #expect(rig.renderFrames(400) == Array(0..<200) + Array(100..<200) + Array(100..<200))
    }
  }
}
