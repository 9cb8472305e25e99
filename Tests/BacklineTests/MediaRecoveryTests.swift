import Backline
import BacklineMedia
import BacklineTestSupport
import Foundation
import Testing

/// What a kill leaves of files that are written in fragments.
@Suite("Media writer, killed")
struct MediaRecoveryTests {
  @Test(
    "a kill leaves nothing under the name, and all but the last fragments comes back", arguments: ["mkv", "mp4", "mov"])
  func kills(ending: String) throws {
    let clip = try MediaClip()
    let name = "out.\(ending)"
    let program = try ProcessRunner(BuiltProgram.path("example-movie-writer"), [clip.file(name), "86400"])
    var second = 0
    while second < 20 {
      let line = try #require(try program.readLine())
      second = try #require(Int(line.dropLast(2)), "\(line)")
    }
    program.send(SIGKILL)
    _ = try program.wait()
    #expect(try clip.names == ["\(name).recording"])
    let left = UnfinishedRecording.find(clip.folder)
    #expect(left.count == 1)
    let recovered = try #require(try left.first?.recover())
    #expect(try clip.names == [name] && recovered.path == clip.file(name))
    // A second that waits for the next text, the fragment that was not full, and the encoder's packet.
    #expect(recovered.seconds >= Double(second) - 1.6, "\(recovered.seconds) s of \(second)")
    let samples = try clip.samples(name)
    #expect(samples.formats.map(\.mediaType) == [.audio, .metadata])
    #expect(samples.samples[1].first?.text == "second 0")
    let sound = try clip.sound(name)[0]
    #expect(Double(sound.count) >= (Double(second) - 1.6) * 48_000)
    #expect(sound.prefix(2_000).contains { abs($0) > 0.1 } && sound.suffix(2_000).contains { abs($0) > 0.1 })
    try clip.checkDecoding(name)
  }

  @Test(
    "a movie of fragments that is finished is whole: late starts, lengths and all", arguments: ["mkv", "mp4", "mov"])
  func finished(ending: String) async throws {
    let clip = try MediaClip()
    try clip.makeClip(seconds: 3)
    let (formats, samples) = try clip.samples()
    let name = "out.\(ending)"
    let container: MediaWriter.Container = ending == "mkv" ? .matroska : ending == "mp4" ? .mp4 : .mov
    let writer = try MediaWriter(path: clip.file(name), container: container)
    writer.fragmentInterval = MediaTime(value: 1, timescale: 2)
    let pictures = try writer.receiver(for: MediaWriter.Input(formats[0]))
    let sound = try writer.receiver(
      for: MediaWriter.Input(AudioSettings(ending == "mp4" ? .aac : .pcm, sampleRate: 48_000, channelCount: 1)))
    try writer.start()
    writer.startSession(at: .zero)
    for sample in samples[0] { try await pictures.append(sample) }
    for start in stride(from: 0, to: 96_000, by: 4_800) {
      let tone = (start..<start + 4_800).map { Float(0.3 * sin(Double($0) / 8)) }
      try await sound.append(
        MediaSample(
          sound: tone, sampleRate: 48_000, channelCount: 1,
          at: MediaTime(value: Int64(start) + 24_000, timescale: 48_000)))
    }
    await writer.finishWriting()
    try #require(writer.status == .completed, "\(String(describing: writer.error))")
    #expect(try clip.names == ["in.mov", name])
    let copy = try clip.samples(name)
    #expect(copy.samples[0].map(\.presentationTime) == samples[0].map(\.presentationTime))
    let decoded = try clip.sound(name)[0]
    // Fragments do not tell that the last packets are not full.
    #expect((120_000...122_048).contains(decoded.count), "\(decoded.count) frames")
    let first = try #require(decoded.firstIndex { abs($0) > 0.05 })
    #expect(abs(first - 24_001) <= (ending == "mp4" ? 1_100 : 4), "from \(first)")
    try clip.checkDecoding(name)
  }

  @Test("a movie that was cut at any byte is either brought back up to there or refused, and keeps its first sample")
  func anyCut() async throws {
    let clip = try MediaClip()
    for container in [MediaWriter.Container.matroska, .mov] {
      let name = "out.\(container.rawValue)"
      let writer = try MediaWriter(path: clip.file(name), container: container)
      writer.fragmentInterval = MediaTime(value: 1, timescale: 10)
      let sound = try writer.receiver(
        for: MediaWriter.Input(AudioSettings(.pcm, sampleFormat: .int16, sampleRate: 8_000, channelCount: 1)))
      try writer.start()
      writer.startSession(at: .zero)
      for start in stride(from: 0, to: 8_000, by: 400) {
        try await sound.append(
          MediaSample(
            sound: (0..<400).map { Float($0 + 1) / 1_000 }, sampleRate: 8_000, channelCount: 1,
            at: MediaTime(value: Int64(start), timescale: 8_000)))
      }
      await writer.finishWriting()
      try #require(writer.status == .completed)
      let whole = try Data(contentsOf: URL(fileURLWithPath: clip.file(name)))
      var longest = 0.0
      for length in stride(from: 0, through: whole.count, by: 97) {
        let cut = clip.file("cut-\(length).\(container.rawValue)")
        try whole.prefix(length).write(to: URL(fileURLWithPath: cut + ".recording"))
        let left = try #require(UnfinishedRecording.find(cut).first)
        guard let recovered = try? left.recover() else { continue }
        #expect(recovered.seconds >= longest && recovered.frames > 0, "cut at \(length)")
        longest = recovered.seconds
      }
      #expect(longest >= 0.9, "\(container)")
    }
  }

  @Test("sound files are mended up to their last header and beyond, and FLAC and Ogg say that they cannot be")
  func soundFiles() async throws {
    let clip = try MediaClip()
    for container in [MediaWriter.Container.flac, .ogg] {
      let writer = try MediaWriter(path: clip.file("x.\(container.rawValue)"), container: container)
      writer.fragmentInterval = MediaTime(value: 1, timescale: 1)
      let codec: AudioSettings.Codec = container == .flac ? .flac : .vorbis
      _ = try writer.receiver(for: MediaWriter.Input(AudioSettings(codec, sampleRate: 48_000, channelCount: 1)))
      #expect(throws: MediaError.self) { try writer.start() }
    }
    let writer = try MediaWriter(path: clip.file("x.wav"), container: .wav)
    writer.fragmentInterval = MediaTime(value: 1, timescale: 1)
    let sound = try writer.receiver(
      for: MediaWriter.Input(AudioSettings(.pcm, sampleRate: 48_000, channelCount: 1)))
    try writer.start()
    writer.startSession(at: .zero)
    try await sound.append(
      MediaSample(sound: [Float](repeating: 0.5, count: 480), sampleRate: 48_000, channelCount: 1, at: .zero))
    #expect(try clip.names == ["x.wav.recording"])
    // What somebody writes to is left alone.
    #expect(UnfinishedRecording.find(clip.folder) == [])
    await writer.finishWriting()
    #expect(try clip.names == ["x.wav"])
  }
}
