import BacklineEngine
import BacklineTestSupport
import Foundation
import Testing

@testable import BacklineMedia

/// What was done while a recording ran, kept beside it with its frames.
@Suite("Events of recordings")
struct RecordingEventsTests {
  private var settings: RecordingSettings {
    var settings = RecordingSettings()
    settings.keepsEvents = true
    return settings
  }

  private func lines(_ path: String) throws -> [String] {
    try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").map(String.init)
  }

  @Test(
    "they have the frames of the recording, those that the server has lost counted, and their file its name at the end",
    arguments: [
      ("take.wav", "take.events.jsonl"), ("takes/", "takes/events.jsonl"), ("a.b/take", "a.b/take.events.jsonl"),
    ])
  func frames(path: String, events: String) async throws {
    let rig = try await RecorderRig(settings)
    try FileManager.default.createDirectory(atPath: rig.path("a.b"), withIntermediateDirectories: true)
    try await rig.start(path, ["input"])
    rig.render(4_800)
    try rig.control { rig.recorder.note { "one \($0)" } }
    rig.render(4_800, lostFrames: 480)
    try rig.control { rig.recorder.note { "two \($0)" } }
    // At a frame that is still to come, and at one that never comes.
    let now = await rig.engine.currentFrame
    try rig.control {
      rig.recorder.note(at: now + 320) { "three \($0)" }
      rig.recorder.note(at: now + 960_000) { "never \($0)" }
    }
    rig.render(4_800)
    #expect(FileManager.default.fileExists(atPath: rig.path(events + ".recording")))
    let report = try await rig.stop()
    #expect(report.files.last == rig.path(events) && report.failure == nil && report.files.count == 2)
    let left = try RecorderRig.read(report.files[0])[0]
    let first = try #require((0..<1024).first { left.first == RecorderRig.sample($0) })
    let frames = [4_800 - first, 10_080 - first, 10_400 - first]
    #expect(try lines(rig.path(events)) == zip(["one", "two", "three"], frames).map { "\($0) \($1)" })
  }

  @Test("they count from the start of the recording on, whatever part of it they belong to")
  func parts() async throws {
    var settings = settings
    settings.splitSeconds = 0.1
    let rig = try await RecorderRig(settings)
    try await rig.start("take.wav", ["input"])
    rig.render(12_000)
    try rig.control { rig.recorder.note { "\($0)" } }
    rig.render(4_800)
    let report = try await rig.stop()
    #expect(report.files.count { $0.hasSuffix(".wav") } == 4 && report.files.last == rig.path("take.events.jsonl"))
    let left = try RecorderRig.read(report.files[0])[0]
    let first = try #require((0..<1024).first { left.first == RecorderRig.sample($0) })
    #expect(try lines(rig.path("take.events.jsonl")) == ["\(12_000 - first)"])
  }

  @Test(
    "a name of theirs that is taken is refused before anything is recorded, and without being asked for there is none")
  func names() async throws {
    let rig = try await RecorderRig(settings)
    #expect(FileManager.default.createFile(atPath: rig.path("take.events.jsonl"), contents: Data([1])))
    await #expect(throws: EngineError.self) { try await rig.start("take.wav", ["input"]) }
    #expect(try FileManager.default.contentsOfDirectory(atPath: rig.fixtures.folder) == ["take.events.jsonl"])
    let plain = try await RecorderRig()
    try await plain.start("take.wav", ["input"])
    plain.render(640)
    try plain.control { plain.recorder.note { "\($0)" } }
    #expect(try await plain.stop().files == [plain.path("take.wav")])
    #expect(try FileManager.default.contentsOfDirectory(atPath: plain.fixtures.folder) == ["take.wav"])
  }

  @Test("a kill costs no line that is whole")
  func recovers() throws {
    let fixtures = SoundFixtures()
    var journal: EventJournal? = try EventJournal(path: fixtures.path("take.events.jsonl"))
    // Longer than what is looked at at once.
    let long = String(repeating: "x", count: 10_000)
    journal?.note("one")
    journal?.note(long)
    journal = nil
    let working = fixtures.path("take.events.jsonl.recording")
    let file = try #require(FileHandle(forWritingAtPath: working))
    file.seekToEndOfFile()
    file.write(Data("half\(long)".utf8))
    try file.close()
    let left = UnfinishedRecording.find(fixtures.folder)
    #expect(left.map(\.path) == [working])
    let recovered = try #require(left.first).recover()
    #expect(recovered.path == fixtures.path("take.events.jsonl") && recovered.channelCount == 0)
    #expect(try lines(recovered.path) == ["one", long])
  }
}
