import BacklineDSP
import BacklineEngine
import BacklineTestSupport
import Foundation
import Testing

@testable import BacklineMedia

/// Long and tight recordings: what users of recorders have met.
@Suite("Recordings of a day and of a small disk", .serialized)
struct RecordingAcceptanceTests {
  private static let isLong = ProcessInfo.processInfo.environment["BACKLINE_LONG_TESTS"] == "1"

  @Test(
    "a full disk is told ahead in seconds, ends eight tracks at one frame, whole, and leaves what is heard alone (U-73)",
    .enabled(if: SmallDisk.isPossible))
  func fullDisk() async throws {
    let rig = try await RecorderRig()
    let disk = try SmallDisk(rig.path("disk"), megabytes: 24)
    let tracks = (1...8).map { "track\($0)" }
    try await rig.harness.perform(
      tracks.flatMap { name -> [Command] in
        [.add(kind: "polarity", name: name, values: []), .connect(Endpoint("input"), Endpoint(name))]
      })
    rig.render(256)
    await rig.harness.settle()
    try await rig.start("disk/takes/", tracks)
    rig.render(48_000, cuts: [256])
    try await waitUntil(10) { rig.events.contains { if case .space = $0 { true } else { false } } }
    // 3 MB a second: less than ten seconds of room.
    for case .space(let seconds) in rig.events { #expect(seconds > 0 && seconds < 10) }
    for second in 1...12 where rig.recorder.report.end == nil {
      rig.render(48_000, cuts: [256])
      try await waitUntil(10) {
        rig.recorder.report.end != nil || rig.recorder.report.frames > Int64(second * 48_000)
      }
    }
    try await waitUntil(10) { rig.recorder.report.end != nil && rig.recorder.report.state == .idle }
    let report = rig.recorder.report
    #expect(report.end == .diskFull && report.failure == nil && report.isComplete)
    // Room is set aside four seconds ahead, which is all that can be left unused.
    #expect(report.frames > 3 * 48_000)
    #expect(report.files == tracks.map { disk.path + "/takes/\($0).wav" })
    for file in report.files {
      let format = try SoundFileReader(path: file).format
      #expect(format.frameCount == report.frames && format.channelCount == 2)
    }
    #expect(rig.harness.host.cycle([[0.25, 0.5], [0.5, 0.25]], frames: 2) == [[-0.25, -0.5], [-0.5, -0.25]])
    for file in report.files { #expect(unlink(file) == 0) }
    try await waitUntil { [rig] in (try? rig.control { !rig.recorder.isRecording }) == true }
    try await rig.start("disk/again/", tracks)
    rig.render(4_800)
    #expect(try await rig.stop().isComplete)
  }

  @Test(
    "a day of eight tracks at a clock 50 ppm fast: all files have its frames, and each second's click at one frame (U-76, U-85)"
  )
  func day() async throws {
    // Three minutes of the day, unless all of it is asked for: 11 GB.
    let day = Day(seconds: Self.isLong ? 86_400 : 180)
    let fixtures = SoundFixtures()
    let ports = PortLayout(inputs: (0..<Day.tracks).map { ["in_\($0)"] }, outputs: [["out"]])
    // The engine's frames pass 32 bits on the way.
    let harness = try await EngineHarness(
      ports: ports, sampleRate: Day.rate, rampTime: 0, startFrame: (1 << 32) - 640_000)
    var settings = RecordingSettings()
    settings.ringSeconds = 120
    settings.sampleFormat = .int16
    let (engine, wanted) = (harness.engine, settings)
    let recorder = try engine.wait { _ throws(EngineError) in try Recorder(engine: engine, settings: wanted) { _ in } }
    for track in 0..<Day.tracks {
      engine.wait { _ in recorder.arm(Endpoint("input", bus: track), true) { _ in } }
    }
    _ = harness.render(frames: 256, outputs: 1)
    let started = AnswerBox<Result<Void, EngineError>>()
    let path = fixtures.path("day/")
    engine.wait { _ in recorder.start(path: path) { started.put($0) } }
    try await started.value().get()
    var piece = 0
    while let frames = day.render(60 * Day.rate, into: harness.host) {
      // A disk that hangs now and then, for less than the ring lasts.
      piece += 1
      if piece % 100 == 0 { recorder.writer.stall(seconds: 0.05) }
      try await waitUntil(60) { recorder.writer.state.frames >= frames - Int64(Day.rate) }
    }
    let ended = AnswerBox<RecordingReport>()
    engine.wait { _ in recorder.stop { ended.put($0) } }
    let report = try await ended.value()
    #expect(report.frames == day.frames && report.isComplete && report.files.count == Day.tracks)
    for (track, file) in report.files.enumerated() {
      let found = try Day.clicks(in: file)
      #expect(found.frames == day.frames && found.clicks == day.clicks(of: track), "track \(track)")
    }
  }
}

/// A day, or part of one, of a sound card that says 8 kHz and is 50 ppm fast: 8 000.4 frames a second of the wall's clock, at each of
/// which all tracks click; the last track in the first and the last minute alone.
private final class Day {
  static let rate = 8_000
  static let tracks = 8
  private let seconds: Int
  private var position: Int64 = 0
  private var nextClick = 0
  private let block: UnsafeMutablePointer<Float>
  private let silence: UnsafeMutablePointer<Float>
  private let out: UnsafeMutablePointer<Float>
  private static let blockFrames = 1_024

  init(seconds: Int) {
    self.seconds = seconds
    block = .allocate(capacity: Self.blockFrames)
    silence = .allocate(capacity: Self.blockFrames)
    out = .allocate(capacity: Self.blockFrames)
    block.initialize(repeating: 0, count: Self.blockFrames)
    silence.initialize(repeating: 0, count: Self.blockFrames)
  }

  deinit { for memory in [block, silence, out] { memory.deallocate() } }

  var frames: Int64 { Int64(seconds) * 80_004 / 10 }

  private static func frame(ofSecond second: Int) -> Int64 { (Int64(second) * 80_004 + 5) / 10 }

  private func clicks(track: Int, second: Int) -> Bool {
    track < Self.tracks - 1 || second < 60 || second >= seconds - 60
  }

  func clicks(of track: Int) -> [Int64] {
    (0..<seconds).filter { clicks(track: track, second: $0) }.map(Self.frame)
  }

  /// Renders up to `count` frames more; returns how many there have been, and `nil` at the end.
  func render(_ count: Int, into host: OfflineHost) -> Int64? {
    if position >= frames { return nil }
    let end = min(frames, position + Int64(count))
    while position < end {
      let length = Int(min(Int64(Self.blockFrames), end - position))
      var click: Int?
      var second = nextClick
      if nextClick < seconds {
        let place = Self.frame(ofSecond: nextClick) - position
        if place < Int64(length) {
          click = Int(place)
          second = nextClick
          nextClick += 1
        }
      }
      if let click { block[click] = 0.5 }
      let inputs = (0..<Self.tracks).map { UnsafePointer(clicks(track: $0, second: second) ? block : silence) }
      inputs.withUnsafeBufferPointer { inputs in
        withUnsafePointer(to: out) { out in
          _ = host.render(
            inputs.baseAddress, inputCount: Self.tracks, out, outputCount: 1, frameCount: length, lostFrames: 0)
        }
      }
      if let click { block[click] = 0 }
      position += Int64(length)
    }
    return position
  }

  /// The length of a file, and the frames at which it clicks. Whole numbers are dithered, so that silence is not quite that.
  static func clicks(in path: String) throws -> (frames: Int64, clicks: [Int64]) {
    let reader = try SoundFileReader(path: path)
    let capacity = 1 << 16
    let samples = UnsafeMutablePointer<Float>.allocate(capacity: capacity)
    defer { samples.deallocate() }
    var clicks: [Int64] = []
    var frame: Int64 = 0
    while true {
      let count = try reader.read(at: frame, into: samples, count: capacity)
      if count == 0 { return (frame, clicks) }
      var index = 0
      while index < count {
        if samples[index] > 0.25 { clicks.append(frame + Int64(index)) }
        index += 1
      }
      frame += Int64(count)
    }
  }
}
