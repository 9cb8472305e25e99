import Backline
import Glibc
import Synchronization

/// What the Swift library's taps and players cost, in a process of their own: this one.
extension Bench {
  private static let count = 64

  /// The load of 64 stereo buses, without taps and with one of 64 frames on each.
  func measureTaps(_ report: inout Report) throws {
    var table = Report.Table(
      title: "64 buses, each with a tap of 64 frames",
      columns: ["frames", "load without", "load with", "more", "blocks lost"])
    for frames in options.frames {
      let jack = try JACKServer(frames: frames)
      for _ in 0..<options.repeats {
        let engine = try Self.engine()
        let sources = (0..<Self.count).map { _ in
          SourceNode { block in for channel in 0..<block.channelCount { block[channel].update(repeating: 0.001) } }
        }
        for source in sources {
          try engine.attach(source)
          try engine.connect(source, to: engine.mainMixerNode)
        }
        try engine.start()
        defer { engine.stop() }
        try Interruption.sleep(0.5)
        let without = try jack.load(seconds: options.seconds).median
        let lost = Lost()
        for source in sources {
          try source.installTap(frameCount: 64) { if $0.droppedFrames > 0 { lost.blocks.add(1, ordering: .relaxed) } }
        }
        try Interruption.sleep(0.5)
        let with = try jack.load(seconds: options.seconds).median
        table.rows.append([
          .count(frames), .number(without, 2), .number(with, 2), .number(with - without, 2),
          .count(lost.blocks.load(ordering: .relaxed)),
        ])
      }
    }
    report.add(table)
  }

  /// The load of 64 players that stream stereo files of 24 bits, and the times that one of them ran dry.
  func measurePlayers(_ report: inout Report) throws {
    var table = Report.Table(
      title: "64 players that stream 24-bit stereo files", columns: ["frames", "load", "late cycles", "underruns"])
    let folder = "/tmp/backline-bench-players-\(getpid())"
    guard mkdir(folder, 0o700) == 0 else { throw BenchError("\(folder) cannot be made") }
    let paths = (0..<Self.count).map { "\(folder)/\($0).wav" }
    defer {
      for path in paths { unlink(path) }
      rmdir(folder)
    }
    let seconds = options.seconds + 3
    for (index, path) in paths.enumerated() { try Self.writeNoise(to: path, seconds: seconds, seed: UInt64(index)) }
    for frames in options.frames {
      let jack = try JACKServer(frames: frames)
      for _ in 0..<options.repeats {
        let engine = try Self.engine()
        let players = (0..<Self.count).map { _ in PlayerNode() }
        for (player, path) in zip(players, paths) {
          try engine.attach(player)
          try engine.connect(player, to: engine.mainMixerNode)
          player.volume = 0.01
          try player.schedule(AudioFile(forReading: path))
        }
        engine.prepare()
        try engine.start()
        defer { engine.stop() }
        for player in players { try player.play() }
        try Interruption.sleep(0.5)
        let load = try jack.load(seconds: options.seconds)
        table.rows.append([
          .count(frames), .number(load.median, 2), .count(load.late),
          .count(players.reduce(0) { $0 + $1.underruns }),
        ])
      }
    }
    report.add(table)
  }

  private static func engine() throws(AudioError) -> AudioEngine {
    try AudioEngine(
      EngineConfiguration(name: "bench-library", output: .jack(JACKOptions(server: JACKServer.name, log: { _ in }))))
  }

  private static func writeNoise(to path: String, seconds: Double, seed: UInt64) throws {
    let format = AudioFileFormat(container: .wav, encoding: .int24, sampleRate: 48_000, channelCount: 2)
    let file = try AudioFile(forWriting: path, format: format)
    guard let buffer = PCMBuffer(format: file.processingFormat, frameCapacity: 48_000) else { return }
    buffer.frameLength = buffer.frameCapacity
    var random = SplitMix(seed: seed)
    for channel in 0..<2 {
      for frame in 0..<buffer.frameLength { buffer[frame, channel] = Float(Int64(bitPattern: random.next())) * 0x1p-65 }
    }
    for _ in 0..<Int(seconds.rounded(.up)) { try file.write(from: buffer) }
    try file.close()
  }
}

/// Blocks that came after a gap.
private final class Lost: Sendable {
  let blocks = Atomic<Int>(0)
}
