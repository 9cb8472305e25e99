import BacklineEngine
import BacklineTestSupport
import Foundation
import Testing

@testable import BacklineMedia

@Suite("A recording and whatever a host may do")
struct RecorderSequenceTests {
  /// Sequences for each seed: what a check before every commit can bear, or what the contract asks for.
  static let rounds = ProcessInfo.processInfo.environment["BACKLINE_LONG_TESTS"] == "1" ? 2_500 : 12
  /// Sequences in one recording.
  private static let roundsOfTake = 12

  @Test(
    "over any sequence of periods, rates, losses and frames that the server lost, each frame is in its place or counted",
    arguments: [1, 2, 3, 4] as [UInt64])
  func sequences(seed: UInt64) async throws {
    var random = SeededGenerator(seed)
    for start in stride(from: 0, to: Self.rounds, by: Self.roundsOfTake) {
      let take = try await Take("rounds from \(start) of seed \(seed)")
      for _ in start..<min(start + Self.roundsOfTake, Self.rounds) {
        for _ in 0..<Int.random(in: 1...8, using: &random) { take.upset(&random) }
        try await take.recover()
      }
      try await take.check()
    }
  }

  /// A recording, and what has to be in its files.
  private final class Take {
    private struct Part {
      let rate: Int
      var samples: [Float] = []
    }

    private let name: Comment
    private let rig: RecorderRig
    private var parts = [Part(rate: 48_000)]
    /// Frames rendered: the next one is of this number's sample.
    private var frame = 0
    private var gaps: [RecordingGap] = []
    /// Frames that the server has lost and the engine has not been told of.
    private var lost = 0
    /// Lost frames that came with cycles of no frames: they stand before the next frame.
    private var told = 0
    private var host: OfflineHost { rig.harness.host }

    init(_ name: String) async throws {
      self.name = Comment(rawValue: name)
      rig = try await RecorderRig()
      let recorder = rig.recorder
      await rig.engine.observe { event in
        if case .configurationChanged(cause: "sampleRate", _, _, _) = event { recorder.followRate() }
      }
      try await rig.start("take.wav", ["input"])
      // The recorder begins to listen within this cycle: the length of the first file tells where.
      cycle(1_024)
    }

    /// One thing that may happen to a client of a sound server. Rendering may end by it, and does not begin again before `recover`,
    /// so that it is known at what rate each cycle came.
    func upset(_ random: inout SeededGenerator) {
      host.refusal = .noServer("no server runs")
      switch Int.random(in: 0..<12, using: &random) {
      case 0:
        host.period = [16, 64, 333, 1_024, 8_192].randomElement(using: &random) ?? 64
        host.send(.periodChanged(host.period))
      case 1:
        host.sampleRate = [44_100, 48_000, 96_000].randomElement(using: &random) ?? 48_000
        host.send(.sampleRateChanged(host.sampleRate))
      case 2: host.send(.lost(reason: "the server has ended"))
      case 3: host.send([.xrun, .portsChanged, .freewheel(true), .started].randomElement(using: &random) ?? .xrun)
      case 4: host.isPaused.toggle()
      case 5, 6: lost += Int.random(in: 1...2_000, using: &random)
      default: cycle([0, 1, 16, 33, 64, 256, 1_024, 5_000].randomElement(using: &random) ?? 64)
      }
    }

    /// Renders a cycle, where one is rendered at all, that tells of what was lost before it.
    private func cycle(_ count: Int) {
      let input = (0..<count).map { RecorderRig.sample(frame + $0) }
      if host.cycle([input, input], frames: count, lostFrames: lost).isEmpty { return }
      told += lost
      lost = 0
      if count == 0 { return }
      if told > 0 {
        let place = parts.reduce(0) { $0 + $1.samples.count }
        gaps.append(RecordingGap(frame: Int64(place), count: Int64(told), cause: .server))
      }
      parts[parts.count - 1].samples += [Float](repeating: 0, count: told) + input
      told = 0
      frame += count
    }

    /// Has the host be well again, and waits until the engine has noticed and all has been written.
    func recover() async throws {
      host.isPaused = false
      host.refusal = nil
      let (engine, host) = (rig.engine, host)
      let isBack = await Eventually.holds(within: 30) {
        host.send(.started)
        let rate = await engine.sampleRate
        return await engine.state == .running && host.isStarted && rate == Double(host.sampleRate)
      }
      try #require(isBack, name)
      if parts.last?.rate != host.sampleRate {
        parts.append(Part(rate: host.sampleRate))
        // What was lost between two servers is of neither's time.
        (told, lost) = (0, 0)
      }
      cycle(64)
      let written = Int64(parts.reduce(0) { $0 + $1.samples.count } - 1_024)
      #expect(await Eventually.holds { rig.recorder.writer.state.frames >= written }, name)
    }

    /// Ends the recording and compares its files and its report with what was rendered and what was lost.
    func check() async throws {
      let report = try await rig.stop()
      try #require(report.failure == nil && report.files.count == parts.count, name)
      var early = 0
      for (index, (path, part)) in zip(report.files, parts).enumerated() {
        let recorded = try RecorderRig.read(path)[0]
        if index == 0 { early = part.samples.count - recorded.count }
        try #require((0..<1_024).contains(early), name)
        #expect(recorded == Array(part.samples.dropFirst(index == 0 ? early : 0)), name)
        #expect(try SoundFileReader(path: path).format.sampleRate == part.rate, name)
      }
      #expect(report.lostToServer == gaps.reduce(0) { $0 + $1.count } && report.lostToDisk == 0, name)
      #expect(
        report.gaps == gaps.map { RecordingGap(frame: $0.frame - Int64(early), count: $0.count, cause: $0.cause) }, name
      )
    }
  }
}
