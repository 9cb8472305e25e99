import BacklineEngine
import BacklineTestSupport
import Foundation
import Testing

@testable import BacklineMedia

@Suite("Recorder")
struct RecorderTests {
  /// The rig's signal from a frame on.
  private func signal(_ frames: Range<Int>) -> [Float] { frames.map(RecorderRig.sample) }

  @Test(
    "inputs, a node and outputs are tracks of one file, sample for sample and at one frame, whatever the periods",
    arguments: [[64], [1, 37, 256, 500], [1024]])
  func tracks(cuts: [Int]) async throws {
    let rig = try await RecorderRig()
    try await rig.start("take.wav", ["input", "flip", "output:0"])
    rig.render(20_000, cuts: cuts)
    let report = try await rig.stop()
    #expect(report.files == [rig.path("take.wav")] && report.isComplete && report.end == .stopped)
    let channels = try RecorderRig.read(rig.path("take.wav"))
    #expect(channels.count == 6)
    let length = try #require(channels.first?.count)
    #expect(report.frames == Int64(length))
    // It begins at the quantum edge at which it was taken.
    let first = try #require((0..<1024).first { channels[0].first == RecorderRig.sample($0) })
    let expected = signal(first..<20_000)
    #expect(channels[0] == expected && channels[1] == expected.map { -$0 })
    #expect(channels[2] == expected.map { -$0 } && channels[3] == expected)
    #expect(channels[4] == channels[2] && channels[5] == channels[3])
  }

  @Test("nothing stands under the final name while a recording runs, and its working name says that it is not finished")
  func workingName() async throws {
    let rig = try await RecorderRig()
    try await rig.start("take.wav", ["input"])
    rig.render(4800)
    #expect(try FileManager.default.contentsOfDirectory(atPath: rig.fixtures.folder) == ["take.wav.recording"])
    #expect(UnfinishedRecording.find(rig.fixtures.folder).isEmpty, "one that runs is not unfinished")
    _ = try await rig.stop()
    #expect(try FileManager.default.contentsOfDirectory(atPath: rig.fixtures.folder) == ["take.wav"])
  }

  @Test("a path that ends in a slash gets one file a track, all of one length, under names that are safe and unique")
  func folder() async throws {
    let rig = try await RecorderRig()
    try rig.control {
      try rig.recorder.label(Endpoint("flip"), "a/b")
      try rig.recorder.label(Endpoint("output", bus: 0), "A:b")
    }
    try await rig.start("takes/", ["input", "flip", "output:0"])
    rig.render(9600)
    let report = try await rig.stop()
    #expect(
      report.files == ["input.wav", "a-b.wav", "A-b-2.wav"].map { rig.path("takes/") + $0 })
    let files = try report.files.map { try RecorderRig.read($0) }
    #expect(files.allSatisfy { $0.count == 2 && $0[0].count == Int(report.frames) })
    #expect(files[0][0] == files[1][1] && files[1] == files[2])
  }

  @Test(
    "frames that a slow disk costs are silence in place, counted and listed, and the length is what has passed (U-74)")
  func slowDisk() async throws {
    var settings = RecordingSettings()
    settings.ringSeconds = 0.1
    let rig = try await RecorderRig(settings)
    try await rig.start("take.wav", ["input"])
    rig.render(9600)
    try await rig.written(9000)
    rig.recorder.writer.stall(seconds: 3600)
    // The thread has taken the order in once it has been asked something after it.
    try await rig.settleWriter()
    rig.render(48_000)
    rig.recorder.writer.stall(seconds: 0)
    try await rig.written(9600 + 28_000)
    rig.render(9600)
    let report = try await rig.stop()
    #expect(!report.isComplete && report.gapCount == 1 && report.lostToDisk > 0 && report.lostToServer == 0)
    let gap = try #require(report.gaps.first)
    #expect(gap.cause == .disk && gap.count == report.lostToDisk && rig.events.contains(.gap(gap)))
    let left = try RecorderRig.read(rig.path("take.wav"))[0]
    #expect(left.count == Int(report.frames))
    let first = try #require((0..<1024).first { left.first == RecorderRig.sample($0) })
    #expect(left.count == 67_200 - first)
    let silence = Int(gap.frame)..<Int(gap.frame + gap.count)
    #expect(
      left.indices.allSatisfy { left[$0] == (silence.contains($0) ? 0 : RecorderRig.sample(first + $0)) })
  }

  @Test("frames that the server has lost are told apart from those, and keep their place, too (U-74)")
  func serverGap() async throws {
    let rig = try await RecorderRig()
    try await rig.start("take.wav", ["input"])
    rig.render(4800)
    rig.render(4800, lostFrames: 480)
    let report = try await rig.stop()
    let left = try RecorderRig.read(rig.path("take.wav"))[0]
    let first = try #require((0..<1024).first { left.first == RecorderRig.sample($0) })
    let place = 4800 - first
    #expect(report.gaps == [RecordingGap(frame: Int64(place), count: 480, cause: .server)])
    #expect(report.lostToServer == 480 && report.lostToDisk == 0)
    #expect(left == signal(first..<4800) + [Float](repeating: 0, count: 480) + signal(4800..<9600))
  }

  @Test("split files follow each other without losing or doubling a frame")
  func split() async throws {
    var settings = RecordingSettings()
    settings.splitSeconds = 0.1
    let rig = try await RecorderRig(settings)
    try await rig.start("take.wav", ["input"])
    rig.render(20_000, cuts: [333])
    let report = try await rig.stop()
    #expect(report.files.first == rig.path("take.wav") && report.files.dropFirst().first == rig.path("take-2.wav"))
    let parts = try report.files.map { try RecorderRig.read($0)[0] }
    #expect(parts.dropLast().allSatisfy { $0.count == 4800 } && parts.count == (Int(report.frames) + 4799) / 4800)
    let whole = parts.flatMap { $0 }
    let first = try #require((0..<1024).first { whole.first == RecorderRig.sample($0) })
    #expect(whole == signal(first..<20_000))
  }

  @Test("a size to split at is kept by the largest file")
  func splitSize() async throws {
    var settings = RecordingSettings()
    settings.splitBytes = 8 * 3000
    let rig = try await RecorderRig(settings)
    try await rig.start("take.wav", ["input"])
    rig.render(10_000)
    let report = try await rig.stop()
    #expect(try report.files.map { try RecorderRig.read($0)[0].count }.dropLast().allSatisfy { $0 == 3000 })
    #expect(try report.files.flatMap { try RecorderRig.read($0)[0] }.count == Int(report.frames))
  }

  @Test("what sounded before the start is recorded, too, where that was asked for and the source is armed")
  func preRoll() async throws {
    var settings = RecordingSettings()
    settings.preRoll = 0.1
    let rig = try await RecorderRig(settings)
    try await rig.arm("input", true)
    rig.render(48_000)
    try await rig.start("take.wav")
    rig.render(4800)
    _ = try await rig.stop()
    let left = try RecorderRig.read(rig.path("take.wav"))[0]
    #expect(left == signal((48_000 - 4800)..<52_800))
  }

  @Test("a length ends a recording to the frame")
  func frameLimit() async throws {
    let rig = try await RecorderRig()
    try await rig.start("take.wav", ["input"], frameLimit: 5000)
    rig.render(9600)
    try await waitUntil { rig.recorder.report.end == .duration && rig.recorder.report.state == .idle }
    #expect(try RecorderRig.read(rig.path("take.wav"))[0].count == 5000)
    try await waitUntil { [rig] in (try? rig.control { !rig.recorder.isRecording }) == true }
    try await rig.start("next.wav", ["input"])
    _ = try await rig.stop()
  }

  @Test("a full disk ends all files at one frame, whole and with their names, and the next recording works")
  func fullDisk() async throws {
    let rig = try await RecorderRig()
    rig.recorder.writer.failWriting(from: 100_000)
    try await rig.start("takes/", ["input", "flip"])
    rig.render(20_000)
    try await waitUntil { rig.recorder.report.end != nil && rig.recorder.report.state == .idle }
    let report = rig.recorder.report
    #expect(report.end == .diskFull && report.frames > 0)
    let files = try report.files.map { try RecorderRig.read($0) }
    #expect(files.count == 2 && files.allSatisfy { $0[0].count == Int(report.frames) })
    #expect(files[0][0] == files[1][1])
    rig.recorder.writer.failWriting(from: .max)
    try await waitUntil { [rig] in (try? rig.control { !rig.recorder.isRecording }) == true }
    try await rig.start("again/", ["input", "flip"])
    rig.render(4800)
    #expect(try await rig.stop().isComplete)
  }

  @Test("a track that is disarmed is silent from then on, and sounds again")
  func disarm() async throws {
    let rig = try await RecorderRig()
    try await rig.start("take.wav", ["input", "flip"])
    rig.render(4800)
    try await rig.written(4000)
    try await rig.arm("flip", false)
    try await rig.settleWriter()
    rig.render(4800)
    try await rig.written(8500)
    try await rig.arm("flip", true)
    try await rig.settleWriter()
    rig.render(4800)
    _ = try await rig.stop()
    let channels = try RecorderRig.read(rig.path("take.wav"))
    let silent = channels[2].filter { $0 == 0 }.count
    #expect(silent > 0 && channels[2].first != 0 && channels[2].last != 0)
    #expect(channels[0].allSatisfy { $0 != 0 })
    #expect(zip(channels[0], channels[2]).allSatisfy { $1 == 0 || $1 == -$0 })
  }

  @Test("a node that is renamed is followed, and one that is removed is silence while the others go on")
  func graphChanges() async throws {
    let rig = try await RecorderRig()
    try await rig.start("take.wav", ["flip", "input"])
    rig.render(4800)
    try await rig.harness.perform([.rename("flip", to: "over")])
    rig.render(4800)
    try await rig.harness.perform([.remove("over")])
    rig.render(4800)
    let report = try await rig.stop()
    #expect(report.isComplete)
    let channels = try RecorderRig.read(rig.path("take.wav"))
    let first = try #require((0..<1024).first { channels[2].first == RecorderRig.sample($0) })
    let sounding = 9600 - first
    #expect(channels[0].prefix(sounding).allSatisfy { $0 != 0 } && channels[0].suffix(4000).allSatisfy { $0 == 0 })
    #expect(channels[2] == signal(first..<14_400))
  }

  @Test("markers stand behind the sound, at their frames")
  func markers() async throws {
    let rig = try await RecorderRig()
    try await rig.start("take.wav", ["input"])
    rig.render(4800)
    try rig.control { try rig.recorder.mark("Strophe ä") }
    rig.render(4800, lostFrames: 64)
    _ = try await rig.stop()
    let reader = try SoundFileReader(path: rig.path("take.wav"))
    let left = try RecorderRig.read(rig.path("take.wav"))[0]
    let first = try #require((0..<1024).first { left.first == RecorderRig.sample($0) })
    let place = Int64(4800 - first)
    #expect(reader.metadata().markers.map(\.frame) == [place, place])
    #expect(reader.metadata().markers.map(\.name) == ["Strophe ä", "gap: xrun, 64 frames"])
  }

  @Test("another sample rate goes on in another file, since a file has one rate")
  func otherRate() async throws {
    let rig = try await RecorderRig()
    let recorder = rig.recorder
    await rig.engine.observe { event in
      if case .configurationChanged(cause: "sampleRate", _, _, _) = event { recorder.followRate() }
    }
    try await rig.start("take.wav", ["input"])
    rig.render(4800)
    rig.harness.host.sampleRate = 44_100
    rig.harness.host.send(.lost(reason: "test"))
    try await waitUntil { [rig] in await rig.engine.state == .running && rig.harness.host.isStarted }
    rig.render(4410)
    let report = try await rig.stop()
    #expect(report.files == [rig.path("take.wav"), rig.path("take-2.wav")])
    #expect(try SoundFileReader(path: report.files[0]).format.sampleRate == 48_000)
    let second = try SoundFileReader(path: report.files[1])
    #expect(second.format.sampleRate == 44_100 && second.format.frameCount == 4410)
  }

  @Test("a recording that begins a day after the engine has its tracks together to the frame (U-85)")
  func afterADay() async throws {
    // 24 h of a clock that says 48 kHz and runs 50 ppm fast: 48 002.4 frames a second. Only the frames count.
    let day = Int64(86_400 * 480_024 / 10) / 32 * 32
    let rig = try await RecorderRig(startFrame: day)
    try await rig.start("takes/", ["input", "flip"])
    rig.render(9600, cuts: [64, 100])
    let report = try await rig.stop()
    let files = try report.files.map { try RecorderRig.read($0) }
    #expect(files[0][0].count == files[1][0].count && files[0][0] == files[1][1])
    #expect(files[0][0].last == RecorderRig.sample(9599) && report.isComplete)
  }

  @Test(
    "a name that is taken, is too long or is not there is refused before anything is recorded, and so is a second start"
  )
  func refusals() async throws {
    let rig = try await RecorderRig()
    #expect(FileManager.default.createFile(atPath: rig.path("old.wav"), contents: Data([1])))
    await #expect(throws: EngineError.self) { try await rig.start("old.wav") }
    #expect(FileManager.default.contents(atPath: rig.path("old.wav")) == Data([1]))
    await #expect(throws: EngineError.self) { try await rig.start(String(repeating: "ä", count: 126) + "xx.wav") }
    await #expect(throws: EngineError.self) { try await rig.start("missing/take.wav") }
    await #expect(throws: EngineError.self) { try await rig.start("take.mp3") }
    await #expect(throws: EngineError.self) { try await rig.start("take.wav", ["nobody"]) }
    await #expect(throws: EngineError.self) { try await rig.start("take.wav", ["flip:1"]) }
    await #expect(throws: EngineError.self) { try await rig.start("take.wav", ["input", "input"]) }
    try await rig.start("take.wav")
    await #expect(throws: EngineError.self) { try await rig.start("other.wav") }
    await #expect(throws: EngineError.self) { try await rig.arm("flip", true) }
    _ = try await rig.stop()
    #expect(throws: EngineError.self) { try rig.control { try rig.recorder.mark("late") } }
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: rig.fixtures.folder).sorted() == ["old.wav", "take.wav"])
  }

  @Test(
    "names of any bytes are taken as they are, in one file (U-79)",
    arguments: ["Übung.wav", "録音.wav", "end .wav ", String(repeating: "n", count: 251) + ".wav"])
  func names(name: String) async throws {
    let rig = try await RecorderRig()
    try await rig.start(name, ["input"])
    rig.render(640)
    let report = try await rig.stop()
    #expect(report.files == [rig.path(name)])
    let found = try FileManager.default.contentsOfDirectory(atPath: rig.fixtures.folder)
    #expect(found.map { Array($0.utf8) } == [Array(name.utf8)])
  }

  @Test("the ends of two recordings of one name leave both")
  func sameName() async throws {
    let rig = try await RecorderRig()
    try await rig.start("take.wav", ["input"])
    rig.render(640)
    #expect(FileManager.default.createFile(atPath: rig.path("take.wav"), contents: Data([1])))
    let report = try await rig.stop()
    #expect(report.files == [rig.path("take-2.wav")])
    #expect(FileManager.default.contents(atPath: rig.path("take.wav")) == Data([1]))
  }

  @Test(
    "FLAC and Ogg are WAV until a recording is whole, and then what their name says, all frames of it",
    arguments: ["take.flac", "take.ogg", "take.opus", "takes/"])
  func compressed(name: String) async throws {
    var settings = RecordingSettings()
    if name == "takes/" { settings.container = .flac }
    let rig = try await RecorderRig(settings)
    try await rig.start(name, ["input", "flip"])
    rig.render(24_000)
    try await rig.written(24_000)
    let working = name == "takes/" ? "takes/input.flac.recording" : name + ".recording"
    let head = try #require(FileHandle(forReadingAtPath: rig.path(working))?.readData(ofLength: 12))
    #expect(head.suffix(4) == Data("WAVE".utf8))
    let report = try await rig.stop()
    #expect(report.failure == nil && report.frames == 24_000)
    #expect(report.files.count == (name == "takes/" ? 2 : 1))
    for file in report.files {
      let samples = try RecorderRig.read(file)
      #expect(samples.allSatisfy { $0.count == 24_000 }, "\(file)")
      if file.hasSuffix("input.flac") || file.hasSuffix("take.flac") {
        #expect(samples[0] == (0..<24_000).map { RecorderRig.sample($0) })
      }
    }
    #expect(!FileManager.default.fileExists(atPath: rig.path(working)))
  }

  @Test("what a compressed file does not hold is refused before anything is recorded")
  func compressedRefusals() async throws {
    var settings = RecordingSettings()
    settings.sampleFormat = .float32
    let rig = try await RecorderRig(settings)
    for name in ["take.flac", "take.ogg", "take.mp3"] {
      await #expect(throws: EngineError.self) { try await rig.start(name, ["input"]) }
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: rig.path("")) == [])
  }

  @Test(
    "a full disk leaves the WAV file where there is no room to convert it, and says so",
    .enabled(if: SmallDisk.isPossible))
  func noRoomToConvert() throws {
    let fixtures = SoundFixtures()
    let disk = try SmallDisk(fixtures.path("disk"), megabytes: 1)
    let tracks = [RecordingPlan.Track(source: Endpoint("input"), label: "input", channels: 0..<1)]
    let part = try RecordingPart(
      RecordingPlan(path: disk.path + "/take.flac", tracks: tracks), number: 1, sampleRate: 48_000)
    let scratch = UnsafeMutablePointer<Float>.allocate(capacity: 4_800)
    defer { scratch.deallocate() }
    // Noise, which takes as much room as FLAC as it does as WAV.
    var seed: UInt32 = 1
    while part.reserve(4_800) {
      try part.write(4_800, scratch) { _, target in
        for frame in 0..<4_800 {
          seed = seed &* 1_664_525 &+ 1_013_904_223
          target[frame] = Float(Int32(bitPattern: seed)) * 0x1p-31
        }
      }
    }
    #expect(part.frames > 100_000 && part.finish() == nil)
    let (paths, failure) = part.publish()
    #expect(paths == [disk.path + "/take.flac.wav"] && disk.names == ["take.flac.wav"])
    #expect(failure?.message.contains("no space") == true, "\(String(describing: failure))")
    #expect(try RecorderRig.read(paths[0])[0].count == Int(part.frames))
  }
}
