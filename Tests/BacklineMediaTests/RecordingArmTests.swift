import BacklineEngine
import BacklineTestSupport
import Foundation
import Testing

@testable import BacklineMedia

/// Sources that are armed and disarmed while a recording runs.
@Suite("Arming while recording")
struct RecordingArmTests {
  /// The frames of the events that say that a track sounds (or is silent) from there on.
  private func frames(_ rig: RecorderRig, armed isArmed: Bool, _ track: String) -> [Int] {
    rig.events.compactMap { event in
      switch event {
      case .armed(track, let frame) where isArmed: Int(frame)
      case .disarmed(track, let frame) where !isArmed: Int(frame)
      default: nil
      }
    }
  }

  private func settings(_ container: SoundContainer) -> RecordingSettings {
    var settings = RecordingSettings()
    settings.container = container
    return settings
  }

  @Test(
    "a source that is armed late begins at its frame in a file of its own, after silence, and all files are of one length",
    arguments: [SoundContainer.wav, .rf64, .w64, .caf, .flac], [[64], [1, 37, 256, 500]])
  func late(container: SoundContainer, cuts: [Int]) async throws {
    let rig = try await RecorderRig(settings(container))
    try await rig.start("takes/", ["input"])
    rig.render(9_600, cuts: cuts)
    try await rig.written(9_000)
    try await rig.arm("flip", true)
    rig.render(9_600, cuts: cuts)
    let report = try await rig.stop()
    #expect(report.isComplete && report.gapCount == 0)
    try #require(report.files == ["input", "flip"].map { rig.path("takes/\($0).\(container.fileEnding)") })
    let input = try RecorderRig.read(report.files[0]), flip = try RecorderRig.read(report.files[1])
    #expect(input[0].count == Int(report.frames) && flip[0].count == Int(report.frames))
    let first = try #require((0..<1024).first { input[0].first == RecorderRig.sample($0) })
    #expect(input[0] == (first..<19_200).map(RecorderRig.sample))
    let begin = try #require(frames(rig, armed: true, "flip").first)
    // At the first quantum edge after the command, which came at frame 9600 of the rig's.
    #expect(begin >= 9_600 - first && begin < 9_600 - first + 1_024)
    #expect(flip[0] == input[0].enumerated().map { $0.offset < begin ? 0 : -$0.element })
    #expect(flip[1] == input[1].enumerated().map { $0.offset < begin ? 0 : -$0.element })
  }

  @Test("the silence before a late track takes no room on the disk")
  func hole() async throws {
    let rig = try await RecorderRig()
    try await rig.start("takes/", ["input"])
    rig.render(480_000, cuts: [1024])
    try await rig.written(479_000)
    try await rig.arm("flip", true)
    rig.render(4_800)
    let report = try await rig.stop()
    try #require(report.files.count == 2)
    var status = stat()
    #expect(lstat(report.files[1], &status) == 0)
    // Ten seconds of stereo are 3.8 MB, a tenth of one 38 kB.
    #expect(status.st_size > 3_800_000 && status.st_blocks * 512 < 1_000_000)
  }

  @Test("frames that the server has lost before a track joins move none of the tracks")
  func afterGaps() async throws {
    let rig = try await RecorderRig()
    try await rig.start("takes/", ["input"])
    rig.render(4_800)
    rig.render(4_800, lostFrames: 480)
    try await rig.arm("flip", true)
    rig.render(4_800)
    rig.render(4_800, lostFrames: 96)
    try rig.control { try rig.recorder.mark("late") }
    rig.render(4_800)
    let report = try await rig.stop()
    #expect(report.lostToServer == 576 && report.lostToDisk == 0 && report.gapCount == 2)
    try #require(report.files.count == 2)
    let input = try RecorderRig.read(report.files[0])[0], flip = try RecorderRig.read(report.files[1])[0]
    let begin = try #require(frames(rig, armed: true, "flip").first)
    #expect(flip == input.enumerated().map { $0.offset < begin ? 0 : -$0.element })
    #expect(input.filter { $0 == 0 }.count == 576 && input.count == Int(report.frames))
    // Marks, too, count all that has been lost.
    let mark = try #require(SoundFileReader(path: report.files[1]).metadata().markers.first { $0.name == "late" })
    #expect(mark.frame == report.frames - 4_800)
  }

  @Test("frames that the disk costs while a track joins are silence in all tracks")
  func joiningBehindTheDisk() async throws {
    var settings = RecordingSettings()
    settings.ringSeconds = 0.1
    let rig = try await RecorderRig(settings)
    try await rig.start("takes/", ["input"])
    rig.render(9_600)
    try await rig.written(9_000)
    rig.recorder.writer.stall(seconds: 3_600)
    try await rig.settleWriter()
    rig.render(48_000)
    try await rig.arm("flip", true)
    rig.render(4_800)
    rig.recorder.writer.stall(seconds: 0)
    try await rig.written(9_600 + 48_000)
    rig.render(4_800)
    let report = try await rig.stop()
    let gap = try #require(report.gaps.first)
    #expect(report.gapCount == 1 && report.lostToDisk == gap.count && gap.count > 0)
    try #require(report.files.count == 2)
    let input = try RecorderRig.read(report.files[0])[0], flip = try RecorderRig.read(report.files[1])[0]
    let first = try #require((0..<1024).first { input.first == RecorderRig.sample($0) })
    let silence = Int(gap.frame)..<Int(gap.frame + gap.count)
    #expect(input.indices.allSatisfy { input[$0] == (silence.contains($0) ? 0 : RecorderRig.sample(first + $0)) })
    let begin = try #require(frames(rig, armed: true, "flip").first)
    #expect(begin == silence.upperBound)
    #expect(flip == input.enumerated().map { $0.offset < begin ? 0 : -$0.element })
  }

  @Test("several sources join one after the other, and a recording that ends before they sound has them silent")
  func several() async throws {
    let rig = try await RecorderRig()
    try await rig.start("takes/", ["input"])
    rig.render(4_800)
    try await rig.arm("flip", true)
    try await rig.arm("output:0", true)
    rig.render(4_800)
    try await rig.written(9_000)
    try await rig.arm("input:0", true)
    let report = try await rig.stop()
    let tracks = try report.files.map { try RecorderRig.read($0)[0] }
    #expect(tracks.count == 4 && tracks.allSatisfy { $0.count == Int(report.frames) })
    #expect(tracks[1] == tracks[2] && tracks[1].last == tracks[0].last.map { -$0 })
    #expect(tracks[3].allSatisfy { $0 == 0 })
    // What has been armed is recorded by the next one.
    try await rig.start("next/")
    rig.render(4_800)
    #expect(
      try await rig.stop().files.map { $0.split(separator: "/").last }
        == ["flip.wav", "output:0.wav", "input:0.wav"].map { $0.replacing(":", with: "-")[...] })
  }

  @Test("a late track is in every part that comes after it, from the part's first frame on")
  func parts() async throws {
    var settings = RecordingSettings()
    settings.splitSeconds = 0.1
    let rig = try await RecorderRig(settings)
    try await rig.start("takes/", ["input"])
    rig.render(6_400)
    try await rig.written(6_000)
    try await rig.arm("flip", true)
    rig.render(9_600)
    let report = try await rig.stop()
    func whole(_ name: String) throws -> [Float] {
      try report.files.filter { $0.contains(name) }.flatMap { try RecorderRig.read($0)[0] }
    }
    let input = try whole("input"), flip = try whole("flip")
    #expect(!report.files.contains(rig.path("takes/flip.wav")) && report.files.contains(rig.path("takes/flip-2.wav")))
    // It is not in the first part, which was over.
    let begin = try #require(frames(rig, armed: true, "flip").first)
    #expect(flip == input.enumerated().dropFirst(4_800).map { $0.offset < begin ? 0 : -$0.element })
  }

  @Test(
    "a track is silent from the frame on at which it is disarmed, to the frame, and sounds again from that of arming")
  func exactFrames() async throws {
    let rig = try await RecorderRig()
    try await rig.start("take.wav", ["input", "flip"])
    rig.render(4_800)
    try await rig.arm("flip", false)
    rig.render(4_800)
    try await rig.arm("flip", true)
    rig.render(4_800)
    let report = try await rig.stop()
    let channels = try RecorderRig.read(report.files[0])
    let first = try #require((0..<1024).first { channels[0].first == RecorderRig.sample($0) })
    let silence = 4_800 - first..<9_600 - first
    #expect(channels[2].indices.allSatisfy { channels[2][$0] == (silence.contains($0) ? 0 : -channels[0][$0]) })
    #expect(frames(rig, armed: false, "flip") == [silence.lowerBound])
    #expect(frames(rig, armed: true, "flip") == [silence.upperBound])
    let markers = try SoundFileReader(path: report.files[0]).metadata().markers
    #expect(markers.map(\.name) == ["disarmed: flip", "armed: flip"])
    #expect(markers.map { Int($0.frame) } == [silence.lowerBound, silence.upperBound])
  }

  @Test("one file of all tracks refuses another one with what to do, and goes on as it is")
  func oneFile() async throws {
    let rig = try await RecorderRig()
    try await rig.start("take.wav", ["input"])
    rig.render(4_800)
    let error = await #expect(throws: EngineError.self) { try await rig.arm("flip", true) }
    #expect(error?.code == .formatMismatch && error?.message.contains("record into a folder") == true)
    await #expect(throws: EngineError.self) { try await rig.arm("nobody", true) }
    rig.render(4_800)
    let report = try await rig.stop()
    #expect(report.isComplete && report.files == [rig.path("take.wav")])
    #expect(try RecorderRig.read(rig.path("take.wav")).count == 2)
  }

  @Test("a track that cannot have its file is refused, and the recording goes on without it")
  func fileIsTaken() async throws {
    let rig = try await RecorderRig()
    try await rig.start("takes/", ["input"])
    rig.render(4_800)
    #expect(FileManager.default.createFile(atPath: rig.path("takes/flip.wav"), contents: Data([1])))
    await #expect(throws: EngineError.self) { try await rig.arm("flip", true) }
    #expect(FileManager.default.contents(atPath: rig.path("takes/flip.wav")) == Data([1]))
    try FileManager.default.removeItem(atPath: rig.path("takes/flip.wav"))
    try await rig.arm("output:0", true)
    rig.render(4_800)
    let report = try await rig.stop()
    try #require(report.files == ["input.wav", "output-0.wav"].map { rig.path("takes/\($0)") })
    let tracks = try report.files.map { try RecorderRig.read($0)[0] }
    #expect(tracks[0].count == tracks[1].count && tracks[1].last == tracks[0].last.map { -$0 })
  }

  @Test("what a kill leaves of a late track comes back with its silence, as long as the others")
  func recovers() throws {
    let fixtures = SoundFixtures()
    let input = RecordingPlan.Track(source: Endpoint("input"), label: "input", channels: 0..<1)
    var plan = try RecordingPlan(path: fixtures.path("takes/"), tracks: [input])
    #expect(mkdir(plan.path, 0o777) == 0)
    let scratch = UnsafeMutablePointer<Float>.allocate(capacity: 4_800)
    defer { scratch.deallocate() }
    var part: RecordingPart? = try RecordingPart(plan, number: 1, sampleRate: 48_000)
    func write() throws { try part?.write(4_800, scratch) { _, target in target.update(repeating: 0.5, count: 4_800) } }
    for _ in 0..<10 { try write() }
    try plan.add(RecordingPlan.Track(source: Endpoint("late"), label: "late", channels: 1..<2))
    try part?.addLastTrack(of: plan)
    try write()
    try part?.updateHeaders()
    part = nil
    let left = UnfinishedRecording.find(plan.path)
    #expect(left.count == 2)
    for recording in left { #expect(try recording.recover().frames == 52_800) }
    let late = try RecorderRig.read(fixtures.path("takes/late.wav"))[0]
    #expect(late == [Float](repeating: 0, count: 48_000) + [Float](repeating: 0.5, count: 4_800))
  }

  @Test("another period of the server is marked at its frame")
  func configuration() async throws {
    let rig = try await RecorderRig()
    try await rig.start("take.wav", ["input"])
    rig.render(4_800)
    try rig.control { rig.recorder.followConfiguration("period", from: 64, to: 128) }
    rig.render(4_800, cuts: [128])
    let report = try await rig.stop()
    let left = try RecorderRig.read(report.files[0])[0]
    let first = try #require((0..<1024).first { left.first == RecorderRig.sample($0) })
    let markers = try SoundFileReader(path: report.files[0]).metadata().markers
    #expect(markers.map(\.name) == ["period: 64 -> 128"] && markers.map(\.frame) == [Int64(4_800 - first)])
  }
}
