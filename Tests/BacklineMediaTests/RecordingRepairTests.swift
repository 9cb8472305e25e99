import BacklineEngine
import BacklineTestSupport
import Foundation
import Testing

@testable import BacklineMedia

@Suite("Recovering recordings")
struct RecordingRepairTests {
  static let kinds: [(SoundContainer, SampleFormat)] = RecordingPlan.plainContainers.flatMap { container in
    [SampleFormat.int16, .int24, .float32].map { (container, $0) }
  }

  /// A file as a kill leaves it: `frames` written, the header as it was after `told`.
  private func leave(
    _ path: String, _ encoding: SoundFileEncoding, frames: Int, told: Int, extra: [UInt8] = []
  ) throws -> [Float] {
    let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL, 0o666)
    defer { close(descriptor) }
    let samples = SoundFixtures.coded(frames, channels: encoding.channelCount)
    let writer = try SoundFileWriter(descriptor: descriptor, path: path, encoding: encoding)
    try samples.withUnsafeBufferPointer { buffer in
      let base = try #require(buffer.baseAddress)
      try writer.write(base, frames: told)
      try writer.updateHeader()
      try writer.write(base + told * encoding.channelCount, frames: frames - told)
    }
    // A copy is what a kill would leave: the writer ends the file itself when it goes.
    let copy = path + ".copy"
    try FileManager.default.copyItem(atPath: path, toPath: copy)
    if !extra.isEmpty {
      let handle = try #require(FileHandle(forWritingAtPath: copy))
      handle.seekToEndOfFile()
      handle.write(Data(extra))
    }
    try writer.finish()
    #expect(rename(copy, path) == 0)
    return samples
  }

  @Test("all whole frames that reached the file come back, whatever its header says (U-71)", arguments: kinds)
  func recovers(kind: (container: SoundContainer, format: SampleFormat)) throws {
    for channels in [1, 3, 8] {
      let fixtures = SoundFixtures()
      let encoding = try SoundFileEncoding(
        kind.container, sampleFormat: kind.format, sampleRate: 48_000, channelCount: channels)
      let name = "take.\(kind.container.fileEnding)"
      // A part of a frame at the end is what a kill within a write leaves.
      let samples = try leave(
        fixtures.path(name + ".recording"), encoding, frames: 7001, told: 3000,
        extra: channels > 1 || kind.format != .int16 ? [1] : [])
      let left = UnfinishedRecording.find(fixtures.folder)
      #expect(left.map(\.finalPath) == [fixtures.path(name)])
      let recovered = try #require(left.first).recover()
      #expect(recovered.path == fixtures.path(name) && recovered.frames == 7001 && recovered.channelCount == channels)
      let read = try RecorderRig.read(recovered.path)
      #expect(
        (0..<7001).allSatisfy { frame in
          (0..<channels).allSatisfy { read[$0][frame] == samples[frame * channels + $0] }
        })
      #expect(UnfinishedRecording.find(fixtures.folder).isEmpty)
    }
  }

  @Test("what has the final name already is left alone, and so are files that are whole")
  func leavesOthers() throws {
    let fixtures = SoundFixtures()
    let encoding = try SoundFileEncoding(.wav, sampleRate: 48_000, channelCount: 2)
    let healthy = fixtures.write("take.wav", format: 0x010006, SoundFixtures.coded(100))
    let before = FileManager.default.contents(atPath: healthy)
    _ = try leave(fixtures.path("take.wav.recording"), encoding, frames: 500, told: 100)
    let recovered = try #require(UnfinishedRecording.find(fixtures.folder).first).recover()
    #expect(recovered.path == fixtures.path("take-2.wav") && recovered.frames == 500)
    #expect(FileManager.default.contents(atPath: healthy) == before)
  }

  @Test("a recording that somebody still writes to is not touched, and one without a header is refused")
  func refuses() throws {
    let fixtures = SoundFixtures()
    let encoding = try SoundFileEncoding(.wav, sampleRate: 48_000, channelCount: 2)
    let file = try RecordingFile(path: fixtures.path("live.wav"), channels: 0..<2, title: nil, encoding: encoding)
    #expect(UnfinishedRecording.find(fixtures.folder).isEmpty)
    let live = UnfinishedRecording(path: fixtures.path("live.wav.recording"))
    #expect(throws: SoundFileWriteError.self) { try live.recover() }
    file.discard()
    _ = fixtures.write("empty.wav.recording", bytes: Data())
    let empty = try #require(UnfinishedRecording.find(fixtures.folder).first)
    #expect(throws: SoundFileWriteError.self) { try empty.recover() }
    #expect(FileManager.default.fileExists(atPath: empty.path))
  }

  @Test(
    "a WAV file that has grown beyond 4 GiB becomes RF64 with 64-bit sizes, and its sound stays where it was (U-69)")
  func growsLong() throws {
    let fixtures = SoundFixtures()
    let path = fixtures.path("long.wav")
    let encoding = try SoundFileEncoding(.wav, sampleRate: 48_000, channelCount: 32)
    let samples = try leave(path, encoding, frames: 1000, told: 1000)
    let descriptor = open(path, O_RDWR)
    defer { close(descriptor) }
    let layout = try #require(RIFFSizes.layout(descriptor))
    #expect(!layout.isLong && layout.statedBytes == 1000 * 128)
    // 720 s of 32 channels: a hole in the file stands for the silence.
    let frames: Int64 = 34_560_000
    #expect(ftruncate(descriptor, off_t(layout.data + frames * 128)) == 0)
    #expect(RIFFSizes.write(descriptor, dataBytes: frames * 128) == 0)
    let long = try #require(RIFFSizes.layout(descriptor))
    #expect(long.isLong && long.data == layout.data && long.statedBytes == frames * 128)
    let reader = try SoundFileReader(path: path)
    #expect(reader.format.frameCount == frames && reader.format.channelCount == 32)
    var first = [Float](repeating: 0, count: 32_000)
    #expect(
      try first.withUnsafeMutableBufferPointer { try reader.read(at: 0, into: #require($0.baseAddress), count: 1000) }
        == 1000)
    #expect(first == samples)
  }

  @Test("chunks behind sound of an odd length are found: a pad byte that is not counted stands between (U-72)")
  func padding() throws {
    for (channels, frames) in [(1, 101), (3, 1)] {
      let fixtures = SoundFixtures()
      let path = fixtures.path("odd.wav")
      let encoding = try SoundFileEncoding(.wav, sampleFormat: .int24, sampleRate: 48_000, channelCount: channels)
      let descriptor = open(path, O_RDWR | O_CREAT, 0o666)
      defer { close(descriptor) }
      let writer = try SoundFileWriter(descriptor: descriptor, path: path, encoding: encoding)
      try SoundFixtures.coded(frames, channels: channels).withUnsafeBufferPointer {
        try writer.write(#require($0.baseAddress), frames: frames)
      }
      try writer.finish()
      let bytes = Int64(3 * channels * frames)
      #expect(CueChunk.append([.init(frame: 0, name: "abc")], to: descriptor, dataBytes: bytes) == 0)
      let content = [UInt8](try #require(FileManager.default.contents(atPath: path)))
      var chunks: [String: Int] = [:]
      var at = 12
      while at + 8 <= content.count {
        let size = Int(RIFFSizes.integer(content[(at + 4)..<(at + 8)]))
        chunks[String(decoding: content[at..<(at + 4)], as: UTF8.self)] = size
        if size % 2 != 0 { #expect(content[at + 8 + size] == 0) }
        at += 8 + size + size % 2
      }
      #expect(at == content.count && chunks["data"] == Int(bytes) && chunks["cue "] == 28 && chunks["LIST"] != nil)
      #expect(content.count % 2 == 0 && RIFFSizes.integer(content[4..<8]) == UInt64(content.count - 8))
      #expect(try SoundFileReader(path: path).format.frameCount == Int64(frames))
    }
  }

  @Test(
    "channels keep their order in two readers and stand for no loudspeakers, and too many are refused before (U-78)",
    arguments: [
      1, 2, 3, 4, 6, 8, 24, 64,
    ])
  func channels(count: Int) throws {
    let fixtures = SoundFixtures()
    let tracks = [RecordingPlan.Track(source: .init("input"), label: "input", channels: 0..<count)]
    let plan = try RecordingPlan(path: fixtures.path("a.wav"), tracks: tracks, sampleFormat: .int24)
    let part = try RecordingPart(plan, number: 1, sampleRate: 48_000)
    let scratch = UnsafeMutablePointer<Float>.allocate(capacity: 64 * count)
    defer { scratch.deallocate() }
    try part.write(64, scratch) { channels, target in
      for index in 0..<64 * channels.count { target[index] = Float(index % channels.count + 1) / 128 }
    }
    #expect(part.finish() == nil)
    let (paths, failure) = part.publish()
    #expect(failure == nil && paths == [fixtures.path("a.wav")])
    let read = try RecorderRig.read(paths[0])
    #expect(read.indices.allSatisfy { channel in read[channel].allSatisfy { $0 == Float(channel + 1) / 128 } })
    let other = fixtures.path("other.raw")
    let ffmpeg = try ProcessRunner.run("/usr/bin/ffmpeg", ["-v", "error", "-i", paths[0], "-f", "f32le", other])
    #expect(ffmpeg.status == 0, "\(ffmpeg.errors)")
    let decoded = try #require(FileManager.default.contents(atPath: other)).withUnsafeBytes {
      Array($0.bindMemory(to: Float.self))
    }
    #expect(decoded == (0..<64 * count).map { Float($0 % count + 1) / 128 })
    let bytes = [UInt8](try #require(FileManager.default.contents(atPath: paths[0])))
    let format = try #require(RIFFSizes.layout(open(paths[0], O_RDONLY))).format
    #expect(bytes[Int(format)...].prefix(2).elementsEqual([0xFE, 0xFF]), "the header is the extensible one")
    #expect(bytes[(Int(format) + 18)..<(Int(format) + 20)].elementsEqual([24, 0]), "24 bits are valid")
    if count > 2 { #expect(bytes[(Int(format) + 20)..<(Int(format) + 24)].allSatisfy { $0 == 0 }) }
    #expect(throws: SoundFileWriteError.self) {
      try RecordingPlan(
        path: "b.wav", tracks: [.init(source: .init("input"), label: "", channels: 0..<65)])
    }
  }

  @Test(
    "32 channels for 720 seconds, over 4 GiB, are RF64 with right sizes and sound in two readers (U-69)",
    .enabled(if: ProcessInfo.processInfo.environment["BACKLINE_LONG_TESTS"] == "1"))
  func longRecording() throws {
    let fixtures = SoundFixtures()
    let tracks = [RecordingPlan.Track(source: .init("input"), label: "input", channels: 0..<32)]
    let part = try RecordingPart(
      RecordingPlan(path: fixtures.path("long.wav"), tracks: tracks), number: 1, sampleRate: 48_000)
    let pieceFrames = 7680, pieces = 4500
    let scratch = UnsafeMutablePointer<Float>.allocate(capacity: pieceFrames * 32)
    defer { scratch.deallocate() }
    scratch.initialize(repeating: 0.25, count: pieceFrames * 32)
    for piece in 0..<pieces {
      #expect(part.reserve(pieceFrames))
      try part.write(pieceFrames, scratch) { _, target in
        // The first sample of each piece tells its number.
        target[0] = Float(piece) / 8192
      }
      if piece % 100 == 0 { try part.updateHeaders() }
    }
    #expect(part.finish() == nil && part.publish().failure == nil)
    let path = fixtures.path("long.wav")
    let reader = try SoundFileReader(path: path)
    #expect(reader.format.frameCount == 34_560_000)
    var frame = [Float](repeating: 0, count: 32)
    for piece in [0, 1, 2000, pieces - 1] {
      let read = try frame.withUnsafeMutableBufferPointer {
        try reader.read(at: Int64(piece * pieceFrames), into: #require($0.baseAddress), count: 1)
      }
      #expect(read == 1 && frame[0] == Float(piece) / 8192 && frame[1] == 0.25)
    }
    let other = try ProcessRunner(
      "/usr/bin/ffprobe",
      ["-loglevel", "error", "-show_entries", "stream=duration_ts,channels", "-of", "csv=p=0", path]
    ).wait(30)
    #expect(other.output.trimmingCharacters(in: .whitespacesAndNewlines) == "32,34560000")
    // The last piece, as FFmpeg decodes it.
    let raw = fixtures.path("end.raw")
    let ffmpeg = try ProcessRunner(
      "/usr/bin/ffmpeg", ["-v", "error", "-ss", "719.84", "-i", path, "-f", "f32le", raw]
    ).wait(60)
    #expect(ffmpeg.status == 0, "\(ffmpeg.errors)")
    let end = try #require(FileManager.default.contents(atPath: raw)).withUnsafeBytes {
      Array($0.bindMemory(to: Float.self))
    }
    #expect(end.count == pieceFrames * 32 && end.first == Float(pieces - 1) / 8192)
    #expect(end.dropFirst().allSatisfy { $0 == 0.25 })
  }

  @Test("markers survive a kill, and broken lines of theirs harm nothing", arguments: ["take.wav", "take.rf64"])
  func markersSurvive(name: String) throws {
    let fixtures = SoundFixtures()
    let tracks = [RecordingPlan.Track(source: Endpoint("input"), label: "input", channels: 0..<1)]
    do {
      let part = try RecordingPart(
        RecordingPlan(path: fixtures.path(name), tracks: tracks), number: 1, sampleRate: 48_000)
      let scratch = UnsafeMutablePointer<Float>.allocate(capacity: 4_800)
      defer { scratch.deallocate() }
      try part.write(4_800, scratch) { _, target in target.update(repeating: 0.25, count: 4_800) }
      try part.updateHeaders()
      part.mark(.init(frame: 0, name: "begins"))
      part.mark(.init(frame: 4_799, name: "Übung\nin two lines"))
      part.mark(.init(frame: 5_000, name: "beyond what is there"))
      // Nobody ends it.
    }
    let journal = try #require(FileHandle(forWritingAtPath: fixtures.path(name + ".markers")))
    journal.seekToEndOfFile()
    journal.write(Data("nonsense\n77".utf8))
    journal.closeFile()
    let recovered = try #require(UnfinishedRecording.find(fixtures.path(name)).first).recover()
    #expect(recovered.frames == 4_800)
    #expect(try FileManager.default.contentsOfDirectory(atPath: fixtures.path("")) == [name])
    let content = try Data(contentsOf: URL(fileURLWithPath: recovered.path))
    #expect(content.range(of: Data("cue ".utf8)) != nil && content.range(of: Data("Übung in two lines".utf8)) != nil)
    // libsndfile 1.2.0 reads no markers of RF64.
    if name.hasSuffix("rf64") { return }
    let markers = try SoundFileReader(path: recovered.path).metadata().markers
    #expect(markers == [.init(frame: 0, name: "begins"), .init(frame: 4_799, name: "Übung in two lines")])
  }

  @Test("a recording that was to be FLAC is that when it comes back")
  func compressedComesBack() throws {
    let fixtures = SoundFixtures()
    let tracks = [RecordingPlan.Track(source: Endpoint("input"), label: "input", channels: 0..<1)]
    do {
      let part = try RecordingPart(
        RecordingPlan(path: fixtures.path("take.flac"), tracks: tracks), number: 1, sampleRate: 48_000)
      let scratch = UnsafeMutablePointer<Float>.allocate(capacity: 4_800)
      defer { scratch.deallocate() }
      try part.write(4_800, scratch) { _, target in target.update(repeating: 0.25, count: 4_800) }
    }
    let recovered = try #require(UnfinishedRecording.find(fixtures.path("take.flac")).first).recover()
    #expect(recovered.path == fixtures.path("take.flac"))
    let reader = try SoundFileReader(path: recovered.path)
    #expect(reader.format.frameCount == 4_800 && reader.format.name.contains("FLAC"))
    #expect(try FileManager.default.contentsOfDirectory(atPath: fixtures.path("")) == ["take.flac"])
  }
}
