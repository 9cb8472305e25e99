import BacklineMedia
import BacklineTestSupport
import Foundation
import Testing

/// `backline render` of movies, with clips that FFmpeg makes and reads back.
@Suite("Rendering movies")
struct MovieRenderTests {
  private final class Folder {
    let path = FileManager.default.temporaryDirectory.path + "/backline-movie-\(UUID().uuidString)"
    init() throws { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true) }
    deinit { try? FileManager.default.removeItem(atPath: path) }
    func file(_ name: String) -> String { path + "/" + name }
    var names: [String] { get throws { try FileManager.default.contentsOfDirectory(atPath: path).sorted() } }
  }

  private struct Packet: Equatable { let pts, dts, duration, hash: String }

  @discardableResult
  private func tool(_ path: String, _ arguments: [String]) throws -> String {
    let ending = try ProcessRunner(path, arguments).wait(60)
    try #require(ending.status == 0, "\(path): \(ending.errors)")
    return ending.output
  }

  private func ffmpeg(_ arguments: String...) throws {
    try tool("/usr/bin/ffmpeg", ["-hide_banner", "-loglevel", "error", "-y"] + arguments)
  }

  /// A clip of `seconds` with a picture and sine tones, encoded by `codecs`.
  private func clip(_ path: String, tones: Int = 1, seconds: Int = 2, _ codecs: String...) throws {
    let sounds = (1...tones).flatMap { ["-f", "lavfi", "-i", "sine=frequency=\(220 * $0):sample_rate=48000"] }
    let maps = (0...tones).flatMap { ["-map", "\($0)"] }
    try tool(
      "/usr/bin/ffmpeg",
      ["-hide_banner", "-loglevel", "error", "-y", "-f", "lavfi", "-i", "testsrc=size=64x48:rate=25"] + sounds + maps
        + ["-t", "\(seconds)", "-c:v", "mpeg4", "-bf", "2"] + codecs + [path])
  }

  private func render(_ arguments: String...) throws -> ProcessRunner.Ending {
    try ProcessRunner(BuiltProgram.backline(), ["render"] + arguments + ["--quiet"]).wait(60)
  }

  private func packets(_ path: String, _ stream: String) throws -> [Packet] {
    let text = try tool(
      "/usr/bin/ffprobe",
      [
        "-loglevel", "error", "-select_streams", stream, "-show_packets", "-show_data_hash", "md5", "-show_entries",
        "packet=pts_time,dts_time,duration_time,data_hash", "-of", "compact=p=0:nk=1", path,
      ])
    return text.split(separator: "\n").map { line in
      let parts = line.split(separator: "|", omittingEmptySubsequences: false).map(String.init)
      return Packet(pts: parts[0], dts: parts[1], duration: parts[2], hash: parts.last ?? "")
    }
  }

  private func samples(_ path: String, stream: Int, in folder: Folder) throws -> [Float] {
    let name = folder.file("\(UUID().uuidString).wav")
    try ffmpeg("-i", path, "-map", "0:a:\(stream)", "-c:a", "pcm_f32le", name)
    let reader = try SoundFileReader(path: name)
    var samples = [Float](repeating: 0, count: Int(reader.format.frameCount) * reader.format.channelCount)
    var done = 0
    while done < samples.count / reader.format.channelCount {
      done += try samples.withUnsafeMutableBufferPointer {
        try reader.read(
          at: Int64(done), into: #require($0.baseAddress) + done * reader.format.channelCount, count: 1 << 20)
      }
    }
    return samples
  }

  private func startTime(_ path: String, _ stream: String) throws -> String {
    try tool(
      "/usr/bin/ffprobe",
      ["-loglevel", "error", "-select_streams", stream, "-show_entries", "stream=start_time", "-of", "csv=p=0", path])
  }

  @Test(
    "pictures are copied packet by packet with their times, whatever the kind of movie",
    arguments: ["mp4", "mov", "mkv"])
  func pictures(ending: String) throws {
    let folder = try Folder()
    try clip(folder.file("in.\(ending)"), "-c:a", "aac")
    let ended = try render(folder.file("in.\(ending)"), folder.file("out.\(ending)"), "--preset", "podcast-voice")
    #expect(ended == .init(status: 0, output: "", errors: ""))
    let before = try packets(folder.file("in.\(ending)"), "v")
    #expect(try packets(folder.file("out.\(ending)"), "v") == before && before.count == 50)
    #expect(try folder.names == ["in.\(ending)", "out.\(ending)"])
  }

  @Test("lossless sound keeps every sample and its time: latency is taken off, a late start stays late")
  func sound() throws {
    let folder = try Folder()
    // A picture from 0, sound from 0.5 s on.
    try ffmpeg(
      "-f", "lavfi", "-i", "testsrc=size=64x48:rate=25", "-itsoffset", "0.5", "-f", "lavfi", "-i",
      "sine=frequency=331:sample_rate=48000", "-t", "2", "-c:v", "mpeg4", "-ac", "2", "-c:a", "pcm_s16le",
      folder.file("in.mov"))
    let preset = """
      { "format": "backline.preset", "version": 1, "name": "late", "ports": { "inputs": ["in_1", "in_2"], "outputs": ["out_1", "out_2"] },
        "nodes": [ { "name": "a", "kind": "limiter", "parameters": {} } ],
        "connections": [ { "from": "input", "to": "a" }, { "from": "a", "to": "output" } ] }
      """
    try preset.write(toFile: folder.file("late.json"), atomically: false, encoding: .utf8)
    let ended = try render(
      folder.file("in.mov"), folder.file("out.mov"), "--preset", folder.file("late.json"), "--json")
    try #require(ended.status == 0, "\(ended.errors)")
    let before = try samples(folder.file("in.mov"), stream: 0, in: folder)
    let after = try samples(folder.file("out.mov"), stream: 0, in: folder)
    #expect(before.count == after.count)
    // The limiter lets quiet sound pass as it is but for its gain's rounding.
    #expect(zip(before, after).allSatisfy { abs($0 - $1) <= 2 / 32_768 })
    #expect(try startTime(folder.file("out.mov"), "a") == startTime(folder.file("in.mov"), "a"))
    #expect(try startTime(folder.file("in.mov"), "a").hasPrefix("0.5"))
  }

  @Test("every track with sound is rendered, or those that are named while the others are copied")
  func tracks() throws {
    let folder = try Folder()
    try clip(folder.file("in.mov"), tones: 3, "-c:a", "pcm_s16le")
    let gain = """
      { "format": "backline.preset", "version": 1, "name": "half", "ports": { "inputs": ["in"], "outputs": ["out"] },
        "nodes": [ { "name": "a", "kind": "gain", "parameters": { "gain": -6 } } ],
        "connections": [ { "from": "input", "to": "a" }, { "from": "a", "to": "output" } ] }
      """
    try gain.write(toFile: folder.file("half.json"), atomically: false, encoding: .utf8)
    for (words, changed) in [([], [true, true, true]), (["--tracks", "2"], [false, true, false])] {
      let ended = try ProcessRunner(
        BuiltProgram.backline(),
        ["render", folder.file("in.mov"), folder.file("out.mov"), "--preset", folder.file("half.json"), "--overwrite"]
          + words
      ).wait(60)
      try #require(ended.status == 0, "\(ended.errors)")
      for track in 0..<3 {
        let before = try samples(folder.file("in.mov"), stream: track, in: folder)
        let after = try samples(folder.file("out.mov"), stream: track, in: folder)
        let factor: Float = changed[track] ? 0.501_187_2 : 1
        #expect(before.count == after.count && before.count == 96_000)
        #expect(zip(before, after).allSatisfy { abs($0 * factor - $1) <= 1 / 32_768 }, "track \(track)")
      }
    }
  }

  @Test("a first time that is not zero and frames of uneven length stay as they are", arguments: ["mp4", "mov", "mkv"])
  func unevenTimes(ending: String) throws {
    let folder = try Folder()
    try ffmpeg(
      "-f", "lavfi", "-i", "testsrc=size=64x48:rate=50", "-f", "lavfi", "-i", "sine=frequency=331:sample_rate=48000",
      "-t", "2", "-vf", "select='not(mod(n\\,3))+not(mod(n\\,7))'", "-vsync", "vfr", "-c:v", "mpeg4", "-c:a", "aac",
      folder.file("plain.\(ending)"))
    try ffmpeg("-itsoffset", "3", "-i", folder.file("plain.\(ending)"), "-c", "copy", folder.file("in.\(ending)"))
    let ended = try render(folder.file("in.\(ending)"), folder.file("out.\(ending)"))
    try #require(ended.status == 0, "\(ended.errors)")
    let before = try packets(folder.file("in.\(ending)"), "v")
    #expect(try packets(folder.file("out.\(ending)"), "v") == before && before.count > 30)
    let (first, last) = (
      try startTime(folder.file("in.\(ending)"), "v"), try startTime(folder.file("out.\(ending)"), "v")
    )
    #expect(first == last)
  }

  @Test(
    "chapters and attachments are kept where the kind of movie has them, and named where it has not",
    arguments: [("mkv", "mkv"), ("mkv", "mp4"), ("mp4", "mkv"), ("mp4", "mov")])
  func chapters(from: String, to: String) throws {
    let folder = try Folder()
    try clip(folder.file("plain.\(from)"), "-c:a", "aac")
    let chapters = """
      ;FFMETADATA1
      [CHAPTER]
      TIMEBASE=1/1000
      START=0
      END=750
      title=Einführung
      [CHAPTER]
      TIMEBASE=1/1000
      START=750
      END=2000
      title=end
      """
    try chapters.write(toFile: folder.file("chapters.txt"), atomically: false, encoding: .utf8)
    let attachment =
      from == "mkv" ? ["-attach", folder.file("chapters.txt"), "-metadata:s:t", "mimetype=text/plain"] : []
    try tool(
      "/usr/bin/ffmpeg",
      [
        "-loglevel", "error", "-i", folder.file("plain.\(from)"), "-i", folder.file("chapters.txt"), "-map_chapters",
        "1",
        "-map", "0", "-c", "copy",
      ] + attachment + [folder.file("in.\(from)")])
    let ended = try ProcessRunner.run(
      BuiltProgram.backline(), ["render", folder.file("in.\(from)"), folder.file("out.\(to)"), "--json"])
    try #require(ended.status == 0, "\(ended.errors)")
    let told = try tool(
      "/usr/bin/ffprobe",
      [
        "-loglevel", "error", "-show_entries", "chapter=start_time,end_time:chapter_tags=title", "-of", "csv=p=0",
        folder.file("out.\(to)"),
      ])
    #expect(
      told.split(separator: "\n") == ["0.000000,0.750000,Einführung", "0.750000,2.000000,end"], "\(told)")
    let attachments = try tool(
      "/usr/bin/ffprobe",
      [
        "-loglevel", "error", "-select_streams", "t", "-show_entries", "stream_tags=filename", "-of", "csv=p=0",
        folder.file("out.\(to)"),
      ])
    #expect(attachments.contains("chapters.txt") == (from == "mkv" && to == "mkv"))
    let isDropped = ended.output.contains("attachment 2 (chapters.txt)")
    #expect(isDropped == (from == "mkv" && to == "mp4"), "\(ended.output)")
  }

  @Test("a track of time codes is made again from what the picture has")
  func timeCodes() throws {
    let folder = try Folder()
    try tool(
      "/usr/bin/ffmpeg",
      [
        "-loglevel", "error", "-f", "lavfi", "-i", "testsrc=size=64x48:rate=25", "-f", "lavfi", "-i",
        "sine=frequency=220:sample_rate=48000", "-t", "1", "-c:v", "mpeg4", "-c:a", "pcm_s16le", "-timecode",
        "01:02:03:04",
        folder.file("in.mov"),
      ])
    let ended = try render(folder.file("in.mov"), folder.file("out.mov"))
    #expect(ended.status == 0 && ended.errors == "", "\(ended.errors)")
    let told = try tool(
      "/usr/bin/ffprobe",
      ["-loglevel", "error", "-show_entries", "stream_tags=timecode", "-of", "csv=p=0", folder.file("out.mov")])
    #expect(told.contains("01:02:03:04"))
  }

  @Test("the sound of a movie can be had as a sound file")
  func soundFile() throws {
    let folder = try Folder()
    try clip(folder.file("in.mp4"), "-c:a", "aac")
    #expect(try render(folder.file("in.mp4"), folder.file("out.wav")).status == 0)
    #expect(try SoundFileReader(path: folder.file("out.wav")).format.frameCount == 96_000)
  }

  @Test("what cannot be is refused with its exit code, and leaves nothing")
  func refusals() throws {
    let folder = try Folder()
    try clip(folder.file("in.mp4"), "-c:a", "aac")
    try ffmpeg(
      "-f", "lavfi", "-i", "testsrc=size=64x48:rate=25", "-t", "1", "-c:v", "mpeg4", folder.file("mute.mp4"))
    try "no movie".write(toFile: folder.file("text.mp4"), atomically: false, encoding: .utf8)
    try "old".write(toFile: folder.file("old.mp4"), atomically: false, encoding: .utf8)
    let before = try folder.names
    #expect(try render(folder.file("mute.mp4"), folder.file("out.mp4")).status == 65)
    #expect(try render(folder.file("text.mp4"), folder.file("out.mp4")).status == 65)
    #expect(try render(folder.file("none.mp4"), folder.file("out.mp4")).status == 66)
    #expect(try render(folder.file("in.mp4"), folder.file("out.mp4"), "--tracks", "2").status == 65)
    #expect(try render(folder.file("in.mp4"), folder.file("out.mp4"), "--tracks", "x").status == 64)
    #expect(try render(folder.file("in.mp4"), folder.file("out.mp4"), "--sample-format", "int16").status == 64)
    #expect(try render(folder.file("in.mp4"), folder.file("old.mp4")).status == 73)
    #expect(try render(folder.file("in.mp4"), folder.file("in.mp4"), "--overwrite").status == 73)
    #expect(try folder.names == before)
    #expect(try String(contentsOfFile: folder.file("old.mp4"), encoding: .utf8) == "old")
  }
}
