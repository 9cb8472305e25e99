import Backline
import BacklineEngine
import BacklineTestSupport
import Testing

@Suite("Player node")
struct PlayerNodeTests {
  /// What is heard of a player from its start on.
  private func heard(
    _ rig: Rig, frames: Int, cuts: [Int] = [333], _ schedule: (PlayerNode) throws -> Void
  ) throws -> [Float] {
    let player = try rig.player()
    try rig.engine.start()
    try schedule(player)
    try player.play()
    return try rig.render(frames, cuts: cuts)[0]
  }

  @Test(
    "starts at exactly the frame that was asked for, whatever the cuts (U-56)", arguments: [[512], [64], [1_536], [1]])
  func exactStarts(cuts: [Int]) throws {
    for start in [1_000, 1_001, 1_500, 1_535] {
      let rig = try Rig()
      let player = try rig.player()
      try rig.engine.start()
      try player.schedule(Sounds.buffer([1, 0, 0, 0]))
      try player.play(at: AudioTime(sampleTime: Int64(start), sampleRate: 48_000))
      let out = try rig.render(2_000, cuts: cuts)[0]
      #expect(out.firstIndex(of: 1) == start)
      #expect(out.filter { $0 != 0 }.count == 1)
    }
  }

  @Test("buffers and pieces of files follow each other without a frame lost or doubled")
  func seams() throws {
    let folder = try TemporaryFolder()
    try Sounds.write(Sounds.ramp(20_000), to: folder.file("ramp.wav"))
    let file = try AudioFile(forReading: folder.file("ramp.wav"))
    let rig = try Rig()
    let out = try heard(rig, frames: 20_000) { player in
      try player.schedule(file, from: 0, frameCount: 7_001)
      try player.schedule(Sounds.buffer(Sounds.ramp(3, from: 7_001)))
      try player.schedule(Sounds.buffer(Sounds.ramp(1, from: 7_004)))
      try player.schedule(file, from: 7_005, frameCount: 12_995)
    }
    #expect(out == Sounds.ramp(20_000))
  }

  @Test(
    "a loop has an exact seam, in memory and from a file longer than what is read ahead (U-55)",
    arguments: [700, 70_001])
  func loops(length: Int) throws {
    let folder = try TemporaryFolder()
    let ramp = Sounds.ramp(length)
    try Sounds.write(ramp, to: folder.file("loop.wav"))
    let file = try AudioFile(forReading: folder.file("loop.wav"))
    let rig = try Rig()
    let frames = length * 2 + 500
    let out = try heard(rig, frames: frames, cuts: [4_000]) { player in
      try player.schedule(file, options: .loops)
    }
    #expect(out == (0..<frames).map { ramp[$0 % length] })
  }

  @Test("a segment with a time of its own starts at that frame of the player's, after silence")
  func times() throws {
    let rig = try Rig()
    let out = try heard(rig, frames: 3_000) { player in
      try player.schedule(Sounds.buffer([0.5]), at: AudioTime(sampleTime: 100, sampleRate: 48_000))
      try player.schedule(Sounds.buffer([0.25]), at: AudioTime(sampleTime: 2_047, sampleRate: 48_000))
      try player.schedule(Sounds.buffer([0.125]))
    }
    #expect(out.indices.filter { out[$0] != 0 } == [100, 2_047, 2_048])
  }

  @Test("an interruption begins at its frame, while what it cuts off fades out")
  func interrupts() throws {
    let rig = try Rig(rampTime: 0)
    let ends = EventLog<PlaybackEnd>()
    let player = try rig.player()
    try rig.engine.start()
    try player.schedule(Sounds.buffer([Float](repeating: 0.5, count: 5_000)), stage: .rendered) { ends.append($0) }
    try player.schedule(
      Sounds.buffer([Float](repeating: 0.25, count: 1_000)), at: AudioTime(sampleTime: 1_234, sampleRate: 48_000),
      options: .interrupts)
    try player.play()
    let out = try rig.render(3_000, cuts: [100])[0]
    #expect(out[1_233] == 0.5 && out[1_234] == 0.25 && out[2_233] == 0.25 && out[2_234] == 0)
    #expect(rig.engine.isRunning)
  }

  @Test("a loop is played to the end of its pass before what interrupts at the loop's end")
  func interruptsAtLoop() throws {
    let rig = try Rig()
    let player = try rig.player()
    try rig.engine.start()
    try player.schedule(Sounds.buffer(Sounds.ramp(1_000)), options: .loops)
    try player.play()
    let before = try rig.render(2_500, cuts: [250])[0]
    try player.schedule(Sounds.buffer(Sounds.ramp(10, from: 5_000)), options: .interruptsAtLoop)
    let after = try rig.render(1_000, cuts: [250])[0]
    let expected = (0..<3_000).map { Sounds.ramp(1_000)[$0 % 1_000] } + Sounds.ramp(10, from: 5_000)
    #expect(Array((before + after)[0..<3_010]) == expected)
    #expect(after[510...].allSatisfy { $0 == 0 })
  }

  @Test("completions come once each, in order, not before the last frame has been rendered (U-52)")
  func completions() async throws {
    let rig = try Rig()
    let player = try rig.player()
    try rig.engine.start()
    let log = EventLog<(Int, PlaybackEnd, Int64)>()
    let engine = rig.engine
    for index in 0..<10 {
      try player.schedule(
        Sounds.buffer([Float](repeating: 0.1, count: 2_400)),
        stage: [.consumed, .rendered, .playedBack][index % 3]
      ) { log.append((index, $0, engine.lastRenderTime?.sampleTime ?? -1)) }
    }
    try player.play()
    #expect(player.isPlaying)
    for count in 1...10 {
      _ = try rig.render(2_400, cuts: [1_000])
      #expect(await Eventually.holds { log.all.count == count })
    }
    for (index, entry) in log.all.enumerated() {
      #expect(entry.0 == index && entry.1 == .played && (index % 3 == 0 || entry.2 >= Int64(index + 1) * 2_400))
    }
    #expect(!player.isPlaying && player.position == 24_000)
    _ = try rig.render(1_000)
    #expect(player.position == 24_000 && log.all.count == 10)
  }

  @Test("what has been played back has been heard: the way outside that the host tells counts, too")
  func heard() async throws {
    let host = LateHost(output: 4_800)
    let engine = try AudioEngine(EngineConfiguration(output: .host(host), rampTime: 0))
    let player = PlayerNode()
    try engine.attach(player)
    try engine.connect(player, to: engine.mainMixerNode)
    try engine.start()
    #expect(engine.outputNode.presentationLatency == 0.1 && engine.inputNode.presentationLatency == 0)
    let ends = EventLog<PlaybackStage>()
    for stage in [PlaybackStage.rendered, .playedBack] {
      try player.schedule(Sounds.buffer(Sounds.ramp(64)), stage: stage) { _ in ends.append(stage) }
    }
    try player.prepare()
    try player.play()
    let start = host.host.renderedFrames
    for _ in 0..<4 { _ = host.host.cycle([], frames: 64) }
    #expect(await Eventually.holds(within: 30) { ends.all == [.rendered] })
    while host.host.renderedFrames < start + 128 + 4_800 { _ = host.host.cycle([], frames: 64) }
    try await Task.sleep(for: .milliseconds(30))
    #expect(ends.all == [.rendered])
    // A period more, since what has been rendered is ahead of what is heard, and those that the start took.
    for _ in 0..<4 { _ = host.host.cycle([], frames: 64) }
    #expect(await Eventually.holds(within: 30) { ends.all == [.rendered, .playedBack] })
    engine.stop()
    #expect(engine.outputNode.presentationLatency == 0)
  }

  @Test("a start in the future that is cancelled still ends everything, once, with the reason (U-53)")
  func cancelled() async throws {
    let rig = try Rig()
    let player = try rig.player()
    try rig.engine.start()
    let log = EventLog<PlaybackEnd>()
    try player.schedule(Sounds.buffer([1, 1, 1]), stage: .playedBack) { log.append($0) }
    try player.play(at: AudioTime(sampleTime: 48_000, sampleRate: 48_000))
    _ = try rig.render(1_000)
    player.stop()
    let out = try rig.render(60_000, cuts: [4_000])[0]
    #expect(await Eventually.holds { log.all == [.stopped] })
    #expect(out.allSatisfy { $0 == 0 })
    try player.schedule(Sounds.buffer([1, 1, 1]), stage: .playedBack) { log.append($0) }
    rig.engine.detach(player)
    #expect(await Eventually.holds { log.all == [.stopped, .stopped] })
  }

  @Test("players that start at one frame end at one frame; a start in the past is late and counted (U-53)")
  func together() async throws {
    let rig = try Rig()
    let players = [try rig.player(), try rig.player()]
    try rig.engine.start()
    _ = try rig.render(100)
    for player in players {
      try player.schedule(Sounds.buffer([0.5, 0.5]))
      try player.play(at: AudioTime(sampleTime: 1_000, sampleRate: 48_000))
    }
    let out = try rig.render(2_000)[0]
    #expect(out.indices.filter { out[$0] != 0 } == [900, 901] && out[900] == 1)
    players[0].stop()
    try players[0].schedule(Sounds.buffer([0.5]))
    try players[0].play(at: AudioTime(sampleTime: 10, sampleRate: 48_000))
    #expect(try rig.render(64)[0][0] == 0.5)
    #expect(players[0].lateStarts == 1)
  }

  @Test("whatever a completion does is safe: it stops the player, schedules more, stops the engine")
  func insideCompletion() async throws {
    let rig = try Rig()
    let player = try rig.player()
    let engine = rig.engine
    try engine.start()
    let log = EventLog<String>()
    try player.schedule(Sounds.buffer([1]), stage: .rendered) { _ in
      player.stop()
      try? player.schedule(Sounds.buffer([1])) { log.append("\($0)") }
      engine.stop()
      engine.detach(player)
      log.append("done")
    }
    try player.play()
    _ = try rig.render(64)
    #expect(await Eventually.holds { log.all.count == 2 })
    #expect(!engine.isRunning && player.engine == nil)
  }

  @Test("pause holds the place, stop forgets it, and both fade out")
  func pauses() throws {
    let rig = try Rig()
    let player = try rig.player()
    try rig.engine.start()
    let ones = [Float](repeating: 0.5, count: 48_000)
    try player.schedule(Sounds.buffer(ones))
    try player.play()
    _ = try rig.render(1_000)
    player.pause()
    let out = try rig.render(1_000, cuts: [100])[0]
    #expect(out[0] == 0.5 && out[240] < 0.3 && out[240] > 0.2 && out[480...].allSatisfy { $0 == 0 })
    #expect(!player.isPlaying && player.position == 1_480)
    try player.play()
    #expect(Signals.largestStep(try rig.render(1_000)[0]) < 0.002)
    #expect(player.position == 2_480)
    player.stop()
    #expect(Signals.largestStep(try rig.render(1_000)[0]) < 0.002)
    #expect(player.position == 0 && !player.isPlaying)
    #expect(try rig.render(100)[0].allSatisfy { $0 == 0 })
  }

  @Test("stopping and starting the engine keeps the player's place")
  func keepsPlace() throws {
    let rig = try Rig()
    let player = try rig.player()
    try rig.engine.start()
    try player.schedule(Sounds.buffer(Sounds.ramp(5_000)))
    try player.play()
    let first = try rig.render(1_024)[0]
    rig.engine.stop()
    #expect(!player.isPlaying && player.position == 1_024)
    #expect(code { try player.play() } == .notRunning)
    try rig.engine.start()
    #expect(first + (try rig.render(3_976)[0]) == Sounds.ramp(5_000))
  }

  @Test("player time and node time go into each other while the player plays")
  func nodeTimes() throws {
    let rig = try Rig()
    let player = try rig.player()
    try rig.engine.start()
    _ = try rig.render(700)
    #expect(player.playerTime(forNodeTime: AudioTime(sampleTime: 700, sampleRate: 48_000)) == nil)
    try player.schedule(Sounds.buffer(Sounds.ramp(4_000)))
    try player.play()
    _ = try rig.render(300)
    let now = try #require(rig.engine.lastRenderTime)
    #expect(now.sampleTime == 1_000)
    let time = try #require(player.playerTime(forNodeTime: now))
    #expect(time.sampleTime == 300)
    #expect(player.nodeTime(forPlayerTime: time)?.sampleTime == 1_000)
  }

  @Test("refuses what cannot be scheduled, and names the formats")
  func refuses() throws {
    let rig = try Rig()
    let loose = PlayerNode()
    #expect(code { try loose.schedule(Sounds.buffer([1])) } == .notAttached)
    let player = try rig.player()
    #expect(code { try player.schedule(Sounds.buffer([])) } == .outOfRange)
    #expect(code { try player.schedule(Sounds.buffer([1], sampleRate: 44_100)) } == .formatMismatch)
    #expect(code { try player.schedule(Sounds.buffer([1], channels: 5)) } == .formatMismatch)
    do {
      try player.schedule(Sounds.buffer([1], sampleRate: 44_100))
    } catch let error as AudioError {
      #expect(error.formats.map(\.sampleRate) == [44_100, 48_000])
      #expect(error.message.contains("44100 Hz") && error.message.contains("48000 Hz"))
    }
    let folder = try TemporaryFolder()
    try Sounds.write(Sounds.ramp(100), to: folder.file("short.wav"))
    let file = try AudioFile(forReading: folder.file("short.wav"))
    #expect(code { try player.schedule(file, from: 90, frameCount: 11) } == .outOfRange)
    #expect(code { try player.schedule(file, from: -1, frameCount: 11) } == .outOfRange)
    #expect(code { try player.schedule(file, from: 0, frameCount: 0) } == .outOfRange)
    #expect(code { try player.schedule(file, from: .max, frameCount: .max) } == .outOfRange)
  }

  @Test("one channel plays on both sides of a stereo player, and a file of another rate at its own pitch (U-66)")
  func conversions() throws {
    let folder = try TemporaryFolder()
    try Sounds.write(
      Signals.sine(441, frames: 44_100, sampleRate: 44_100), to: folder.file("tone.wav"), sampleRate: 44_100,
      channels: 1)
    let file = try AudioFile(forReading: folder.file("tone.wav"))
    for rate in [48_000.0, 44_100, 96_000] {
      let rig = try Rig(sampleRate: rate)
      let player = try rig.player()
      try rig.engine.start()
      try player.schedule(file)
      try player.play()
      let out = try rig.render(Int(rate) + 100)
      #expect(out[0] == out[1])
      let crossings = zip(out[0], out[0].dropFirst()).filter { $0 < 0 && $1 >= 0 }.count
      #expect((439...442).contains(crossings))
      #expect(out[0].lastIndex { $0 != 0 }.map { abs($0 - Int(rate)) < 4 } == true)
    }
  }

  @Test(
    "a buffer longer than what is read ahead goes on at another rate from where it was, as the same wave to its end",
    arguments: [44_100, 96_000] as [Double])
  func longBuffer(rate: Double) throws {
    let rig = try Rig()
    let player = try rig.player()
    try rig.engine.start()
    let frames = 200_000, played = 4_800
    try player.schedule(Sounds.buffer(Signals.sine(100, frames: frames)))
    try player.play()
    _ = try rig.render(played)
    rig.engine.stop()
    let format = AudioFormat(sampleRate: rate, channelCount: 2)
    try rig.engine.enableManualRendering(.offline, format: format, maximumFrameCount: 4_096)
    try rig.engine.start()
    let buffer = try #require(PCMBuffer(format: format, frameCapacity: 4_096))
    // To the nearest frame, halves up.
    let length = Int((Double(frames - played) * rate / 48_000 + 0.5).rounded(.down))
    var out: [Float] = []
    while out.count < length + 4_096 {
      #expect(try rig.engine.renderOffline(4_096, to: buffer) == .success)
      out += buffer.samples(ofChannel: 0)
    }
    // A tenth of a second is ten whole waves; filters ring at the end, and players fade in.
    let expected = Signals.sine(100, frames: length, sampleRate: rate)
    let inside = 1_000..<length - 1_000
    #expect(Signals.peak(inside.map { out[$0] - expected[$0] }) < 1e-4)
    #expect(out[(length + 1)...].allSatisfy { $0 == 0 })
    #expect(player.position == length + Int(Double(played) * rate / 48_000))
  }

  @Test("a buffer too short for one frame of the engine's rate is one of silence, and ends as played")
  func shortestBuffer() async throws {
    let rig = try Rig()
    let player = try rig.player()
    let ends = EventLog<PlaybackEnd>()
    try player.schedule(Sounds.buffer([1])) { ends.append($0) }
    let format = AudioFormat(sampleRate: 16_000, channelCount: 2)
    try rig.engine.enableManualRendering(.offline, format: format, maximumFrameCount: 64)
    try rig.engine.start()
    try player.play()
    let buffer = try #require(PCMBuffer(format: format, frameCapacity: 64))
    #expect(try rig.engine.renderOffline(64, to: buffer) == .success)
    #expect(buffer.samples(ofChannel: 0).allSatisfy { $0 == 0 })
    #expect(await Eventually.holds { ends.all == [.played] })
  }

  @Test("sixty-four players stream files without an underrun")
  func many() throws {
    let folder = try TemporaryFolder()
    let count = isLong ? 400_000 : 100_000
    try Sounds.write(Sounds.ramp(count), to: folder.file("long.wav"))
    let rig = try Rig()
    let file = try AudioFile(forReading: folder.file("long.wav"))
    let players = try (0..<64).map { _ in try rig.player() }
    for player in players { player.volume = 1 / 64 }
    try rig.engine.start()
    for player in players {
      try player.schedule(file)
      try player.play()
    }
    let out = try rig.render(count, cuts: [4_096])[0]
    #expect(players.allSatisfy { $0.underruns == 0 })
    #expect(zip(out, Sounds.ramp(count)).allSatisfy { abs($0 - $1) < 1e-6 })
  }
}

/// A host that a test drives, behind which sound takes its time.
private final class LateHost: AudioHost {
  let host = OfflineHost.manual(period: 64)
  let outsideLatencies: (input: Int, output: Int)

  init(output: Int) { outsideLatencies = (0, output) }

  var kind: String { host.kind }
  var lateCounts: (own: Int, server: Int) { host.lateCounts }
  var isRealtime: Bool { host.isRealtime }
  var renderedFrames: Int64 { host.renderedFrames }

  func open(
    _ configuration: HostConfiguration, render: @escaping HostRender, state: UnsafeMutableRawPointer,
    onEvent: @escaping @Sendable (HostEvent) -> Void
  ) { host.open(configuration, render: render, state: state, onEvent: onEvent) }
  func start() { host.start() }
  func close(completion: @escaping @Sendable (Bool) -> Void) { host.close(completion: completion) }
  func setLatencies(_ latencies: LatencyMap) { host.setLatencies(latencies) }
  func frame(at nanoseconds: Int64) -> Int64? { host.frame(at: nanoseconds) }
}
