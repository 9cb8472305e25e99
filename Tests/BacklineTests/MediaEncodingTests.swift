import Backline
import BacklineMedia
import BacklineTestSupport
import Foundation
import Testing

/// Sound that a media writer encodes, read back by FFmpeg's own programs and by libsndfile.
@Suite("Media writer, encoding")
struct MediaEncodingTests {
  typealias Container = MediaWriter.Container

  private static let rate = 48_000

  /// Exact in 16 bits, and never zero.
  private static func sample(_ frame: Int, _ channel: Int) -> Float {
    Float((frame * 7 + channel * 131) % 1_000 + 1) / 32_768 * (frame % 2 == 0 ? 1 : -1)
  }

  private static func block(_ frames: Range<Int>, channels: Int, at time: MediaTime? = nil) -> MediaSample {
    MediaSample(
      sound: frames.flatMap { frame in (0..<channels).map { sample(frame, $0) } }, sampleRate: rate,
      channelCount: channels, at: time ?? MediaTime(value: Int64(frames.lowerBound), timescale: Int32(rate)))
  }

  private func writer(_ clip: MediaClip, _ name: String, _ container: Container) throws -> MediaWriter {
    try MediaWriter(path: clip.file(name), container: container)
  }

  private static let lossless: [(Container, AudioSettings.Codec, SampleFormat)] = [
    (.mov, .pcm, .int16), (.mov, .pcm, .int24), (.mov, .pcm, .float32), (.mov, .pcm, .float64),
    (.matroska, .pcm, .int32),
    (.matroska, .pcm, .float32), (.matroska, .flac, .int16), (.matroska, .flac, .int24), (.wav, .pcm, .int16),
    (.wav, .pcm, .float32), (.broadcastWave, .pcm, .int24), (.rf64, .pcm, .float64), (.w64, .pcm, .int32),
    (.caf, .pcm, .int24), (.flac, .flac, .int24),
  ]

  @Test("lossless codecs give back every sample, at its frame, in two readers", arguments: lossless)
  func losslessRoundTrip(container: Container, codec: AudioSettings.Codec, format: SampleFormat) async throws {
    let clip = try MediaClip()
    let name = "out.\(container == .broadcastWave ? "wav" : container == .matroska ? "mkv" : container.rawValue)"
    let writer = try writer(clip, name, container)
    let settings = AudioSettings(codec, sampleFormat: format, sampleRate: Self.rate, channelCount: 2)
    let receiver = try writer.receiver(for: MediaWriter.Input(settings))
    try writer.start()
    writer.startSession(at: .zero)
    // In pieces that are no packets of anybody.
    var frame = 0
    for count in [1, 4_095, 333, 1_024, 20_000, 555] {
      try await receiver.append(Self.block(frame..<frame + count, channels: 2))
      frame += count
    }
    await writer.finishWriting()
    try #require(writer.status == .completed, "\(String(describing: writer.error))")
    #expect(try clip.names == [name])
    let expected = (0..<2).map { channel in (0..<frame).map { Self.sample($0, channel) } }
    // 16 bits are dithered by one bit at most.
    let tolerance: Float = format == .int16 ? 2 / 32_768 : 0
    let decoded = try clip.sound(name, channels: 2)
    for (channel, samples) in decoded.enumerated() {
      #expect(samples.count == frame)
      #expect(zip(samples, expected[channel]).allSatisfy { abs($0 - $1) <= tolerance }, "channel \(channel)")
    }
    if !container.isMovie {
      let read = try SoundFileReader(path: clip.file(name)).format
      #expect(read.frameCount == Int64(frame) && read.channelCount == 2 && read.sampleRate == Self.rate)
    }
    try clip.checkDecoding(name)
  }

  @Test(
    "lossy codecs keep the length and the place of sound",
    arguments: [
      (Container.mp4, AudioSettings.Codec.aac, "mp4"), (.mov, .aac, "mov"), (.matroska, .aac, "mkv"),
      (.matroska, .opus, "mkv"), (.mp4, .opus, "mp4"), (.matroska, .vorbis, "mkv"), (.ogg, .vorbis, "ogg"),
      (.ogg, .opus, "opus"),
    ])
  func lossyRoundTrip(container: Container, codec: AudioSettings.Codec, ending: String) async throws {
    let clip = try MediaClip()
    let name = "out.\(ending)"
    let writer = try writer(clip, name, container)
    let settings = AudioSettings(
      codec, sampleRate: Self.rate, channelCount: 1, bitRate: container == .ogg ? nil : 128_000)
    let receiver = try writer.receiver(for: MediaWriter.Input(settings))
    try writer.start()
    writer.startSession(at: .zero)
    // A second, with a burst from 0.5 s to 0.6 s, of tones that do not repeat within it.
    let tone: [Float] = (0..<Self.rate).map { frame in
      if !(24_000..<28_800).contains(frame) { return 0 }
      return 0.3 * Float(sin(Double(frame) / 11)) + 0.3 * Float(sin(Double(frame) / 7.3))
    }
    for start in stride(from: 0, to: Self.rate, by: 4_800) {
      try await receiver.append(
        MediaSample(
          sound: Array(tone[start..<start + 4_800]), sampleRate: Self.rate, channelCount: 1,
          at: MediaTime(value: Int64(start), timescale: Int32(Self.rate))))
    }
    await writer.finishWriting()
    try #require(writer.status == .completed, "\(String(describing: writer.error))")
    // Ogg by libsndfile, which knows where its Vorbis begins.
    let decoded = try container.isMovie ? clip.sound(name)[0] : clip.soundFile(name)[0]
    // FFmpeg's decoders give whole packets where a container does not tell them better.
    #expect((Self.rate - 48...Self.rate + 2_048).contains(decoded.count), "\(decoded.count) frames")
    var best = (shift: 0, sum: -Float.infinity)
    for shift in -1_200...1_200 {
      let sum = stride(from: 24_100, to: 28_700, by: 3).reduce(Float(0)) { $0 + tone[$1] * decoded[$1 + shift] }
      if sum > best.sum { best = (shift, sum) }
    }
    let expected = container != .matroska ? 0 : codec == .aac ? 1_024 : codec == .vorbis ? 128 : 0
    // Matroska's times are whole milliseconds.
    #expect(abs(best.shift - expected) <= (container == .matroska ? 24 : 0), "off by \(best.shift) frames")
    try clip.checkDecoding(name)
  }

  @Test("where Matroska begins all tracks later for a codec's sake, sound and picture stay together")
  func laterTogether() async throws {
    let clip = try MediaClip()
    try clip.makeClip()
    let (formats, samples) = try clip.samples()
    let writer = try writer(clip, "out.mkv", .matroska)
    let pictures = try writer.receiver(for: MediaWriter.Input(formats[0]))
    let sound = try writer.receiver(
      for: MediaWriter.Input(AudioSettings(.aac, sampleRate: Self.rate, channelCount: 1)))
    try writer.start()
    writer.startSession(at: .zero)
    for sample in samples[0] { try await pictures.append(sample) }
    try await sound.append(Self.block(0..<96_000, channels: 1))
    await writer.finishWriting()
    try #require(writer.status == .completed, "\(String(describing: writer.error))")
    let copy = try clip.samples("out.mkv").samples
    let shift = MediaTime(value: 21, timescale: 1_000)
    #expect(copy[1].first?.presentationTime == .zero)
    #expect(copy[0].map(\.presentationTime) == samples[0].map { $0.presentationTime + shift })
  }

  @Test(
    "a late start and a gap stay where they are: silence, or a start in the container",
    arguments: [
      (Container.mov, AudioSettings.Codec.pcm), (.matroska, .pcm), (.matroska, .flac), (.mp4, .aac), (.wav, .pcm),
      (.flac, .flac),
    ])
  func gaps(container: Container, codec: AudioSettings.Codec) async throws {
    let clip = try MediaClip()
    let name = "out.\(container == .matroska ? "mkv" : container.rawValue)"
    let writer = try writer(clip, name, container)
    let receiver = try writer.receiver(
      for: MediaWriter.Input(AudioSettings(codec, sampleRate: Self.rate, channelCount: 1)))
    try writer.start()
    let origin = MediaTime(value: 10, timescale: 1)
    writer.startSession(at: origin)
    func time(_ frame: Int64) -> MediaTime { origin + MediaTime(value: frame, timescale: 48_000) }
    // Sound from 0.25 s, and again from 0.75 s: both whole milliseconds.
    try await receiver.append(Self.block(0..<4_800, channels: 1, at: time(12_000)))
    try await receiver.append(Self.block(0..<4_800, channels: 1, at: time(36_000)))
    await writer.finishWriting()
    try #require(writer.status == .completed, "\(String(describing: writer.error))")
    let decoded = try clip.sound(name)[0]
    let isLossy = codec == .aac
    #expect((40_800...(isLossy ? 41_824 : 40_800)).contains(decoded.count), "\(decoded.count) frames")
    let loud = decoded.indices.filter { abs(decoded[$0]) > (isLossy ? 0.004 : 0) }
    let first = try #require(loud.first), last = try #require(loud.last)
    let near = isLossy ? 1_100 : 0
    #expect(abs(first - 12_000) <= near && abs(last - 40_799) <= near, "\(first) to \(last)")
    #expect(loud.allSatisfy { $0 < 16_800 + near || $0 >= 36_000 - near })
  }

  @Test("sound that begins before the session is cut to it, and so is what goes on behind its end, to the frame")
  func session() async throws {
    let clip = try MediaClip()
    let writer = try writer(clip, "out.wav", .wav)
    let receiver = try writer.receiver(
      for: MediaWriter.Input(AudioSettings(.pcm, sampleRate: Self.rate, channelCount: 1)))
    try writer.start()
    writer.startSession(at: MediaTime(value: 1_000, timescale: 48_000))
    writer.endSession(at: MediaTime(value: 6_000, timescale: 48_000))
    await #expect(throws: MediaError.self) { try await receiver.append(Self.block(0..<1_000, channels: 1)) }
    try await receiver.append(Self.block(500..<2_500, channels: 1))
    try await receiver.append(Self.block(2_500..<9_000, channels: 1))
    await #expect(throws: MediaError.self) { try await receiver.append(Self.block(9_000..<9_500, channels: 1)) }
    await writer.finishWriting()
    #expect(writer.status == .completed)
    #expect(try clip.sound("out.wav")[0] == (1_000..<6_000).map { Self.sample($0, 0) })
  }

  @Test("sound whose times are counted in milliseconds has neither gaps nor overlaps by rounding")
  func coarseTimes() async throws {
    let clip = try MediaClip()
    let writer = try writer(clip, "out.wav", .wav)
    let receiver = try writer.receiver(
      for: MediaWriter.Input(AudioSettings(.pcm, sampleRate: Self.rate, channelCount: 1)))
    try writer.start()
    writer.startSession(at: .zero)
    for start in stride(from: 0, to: 10_240, by: 1_024) {
      let time = MediaTime(value: Int64(start), timescale: 48_000).converted(to: 1_000)
      try await receiver.append(Self.block(start..<start + 1_024, channels: 1, at: time))
    }
    // What really overlaps is refused.
    await #expect(throws: MediaError.self) { try await receiver.append(Self.block(9_000..<11_000, channels: 1)) }
    await writer.finishWriting()
    #expect(try clip.sound("out.wav")[0] == (0..<10_240).map { Self.sample($0, 0) })
  }

  @Test("a broadcast wave file tells where its session begins in the time of the source")
  func timeReference() async throws {
    let clip = try MediaClip()
    let writer = try writer(clip, "out.wav", .broadcastWave)
    let receiver = try writer.receiver(
      for: MediaWriter.Input(AudioSettings(.pcm, sampleFormat: .int24, sampleRate: Self.rate, channelCount: 1)))
    try writer.start()
    // An hour, and a frame.
    let origin = MediaTime(value: 3_600 * 48_000 + 1, timescale: 48_000)
    writer.startSession(at: origin)
    try await receiver.append(Self.block(0..<480, channels: 1, at: origin))
    await writer.finishWriting()
    #expect(writer.status == .completed)
    #expect(try clip.probe("out.wav", "format_tags=time_reference") == ["\(3_600 * 48_000 + 1)"])
  }

  @Test("settings are checked against codec and container together, with a reason")
  func refusals() throws {
    let clip = try MediaClip()
    let float = AudioSettings(.pcm, sampleRate: Self.rate, channelCount: 2)
    let mov = try writer(clip, "x.mov", .mov), mp4 = try writer(clip, "x.mp4", .mp4)
    #expect(mov.canApply(float, for: .audio))
    #expect(!mp4.canApply(float, for: .audio), "this FFmpeg puts no PCM into MP4")
    #expect(try #require(mp4.refusal(of: float, for: .audio)).message.contains("mp4 does not hold pcm of float32"))
    #expect(!mov.canApply(float, for: .video))
    #expect(!mov.canApply(AudioSettings(.flac, sampleRate: Self.rate, channelCount: 2), for: .audio))
    #expect(!mov.canApply(AudioSettings(.pcm, sampleRate: Self.rate, channelCount: 0), for: .audio))
    #expect(!mov.canApply(AudioSettings(.pcm, sampleRate: Self.rate, channelCount: 2, bitRate: 64_000), for: .audio))
    #expect(!mp4.canApply(AudioSettings(.aac, sampleRate: 12_345, channelCount: 2), for: .audio))
    #expect(!mp4.canApply(AudioSettings(.aac, sampleFormat: .int16, sampleRate: 48_000, channelCount: 2), for: .audio))
    let wav = try writer(clip, "x.wav", .wav)
    #expect(!wav.canApply(AudioSettings(.aac, sampleRate: Self.rate, channelCount: 2), for: .audio))
    #expect(!wav.canAdd(.metadata) && mov.canAdd(.metadata))
    _ = try wav.receiver(for: MediaWriter.Input(float))
    #expect(!wav.canAdd(MediaWriter.Input(float)), "a sound file has one track")
    let flac = try writer(clip, "x.flac", .flac)
    #expect(
      !flac.canApply(AudioSettings(.flac, sampleFormat: .float32, sampleRate: Self.rate, channelCount: 2), for: .audio))
    #expect(!flac.canApply(AudioSettings(.flac, sampleRate: Self.rate, channelCount: 9), for: .audio))
    #expect(try clip.names == [])
  }

  @Test(
    "tracks of sound, coded pictures and texts go into one movie, each with its own times", arguments: ["mov", "mkv"])
  func together(ending: String) async throws {
    let clip = try MediaClip()
    try clip.makeClip()
    let (formats, samples) = try clip.samples()
    let name = "out.\(ending)"
    let writer = try writer(clip, name, ending == "mkv" ? .matroska : .mov)
    let pictures = try writer.receiver(for: MediaWriter.Input(formats[0]))
    let sound = try writer.receiver(
      for: MediaWriter.Input(AudioSettings(.pcm, sampleFormat: .int16, sampleRate: Self.rate, channelCount: 1)))
    let texts = try writer.receiver(for: .metadata)
    try writer.start()
    writer.startSession(at: .zero)
    let second = MediaTime(value: 1, timescale: 1)
    try await texts.append(MediaSample(text: "a fader moves", at: MediaTime(value: 1, timescale: 4), duration: second))
    try await texts.append(MediaSample(text: "Übung", at: MediaTime(value: 3, timescale: 2), duration: .zero))
    texts.finish()
    for sample in samples[0] { try await pictures.append(sample) }
    try await sound.append(Self.block(0..<96_000, channels: 1))
    await writer.finishWriting()
    try #require(writer.status == .completed, "\(String(describing: writer.error))")
    let copy = try clip.samples(name)
    #expect(copy.formats.map(\.mediaType) == [.video, .audio, .metadata])
    #expect(copy.samples[0].map(\.presentationTime) == samples[0].map(\.presentationTime))
    #expect(copy.samples[0].map(\.bytes) == samples[0].map(\.bytes))
    let told = copy.samples[2].filter { $0.text?.isEmpty == false }
    #expect(told.map(\.text) == ["a fader moves", "Übung"])
    #expect(told.map(\.presentationTime) == [MediaTime(value: 1, timescale: 4), MediaTime(value: 3, timescale: 2)])
    // Timed text holds until the next, which is an empty one.
    let end =
      ending == "mkv" ? told.first.map { $0.presentationTime + $0.duration } : copy.samples[2][2].presentationTime
    #expect(end == MediaTime(value: 5, timescale: 4))
    #expect(try clip.sound(name)[0].count == 96_000)
    try clip.checkDecoding(name)
  }
}
