import Backline
import BacklineAVFAudio
import BacklineTestSupport
import Foundation
import Testing

@Suite("A program that writes movies, written for the Mac")
struct WriterSampleTests {
  @Test("it writes the first picture of a clip, which is a movie of one picture then")
  func writesOneSample() async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("backline-writer-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let clip = folder.appendingPathComponent("clip.mp4").path
    let made = try ProcessRunner(
      "/usr/bin/ffmpeg",
      ["-loglevel", "error", "-f", "lavfi", "-i", "testsrc=size=64x48:rate=25", "-t", "1", "-c:v", "mpeg4", clip]
    ).wait(30)
    try #require(made.status == 0, "\(made.errors)")
    let sample = try #require(try MediaReader(path: clip).nextSample())
    let target = folder.appendingPathComponent("one.mov")
    try await writeSingleVideoSample(CMReadySampleBuffer(sample), to: target)
    let reader = try MediaReader(path: target.path)
    #expect(reader.tracks.map(\.codec) == ["mpeg4"])
    let copy = try #require(try reader.nextSample())
    #expect(copy.bytes == sample.bytes && copy.presentationTime == .zero)
    #expect(try reader.nextSample() == nil)
    // The destination is taken now.
    await #expect(throws: MediaError.self) { try await writeSingleVideoSample(CMReadySampleBuffer(sample), to: target) }
  }

  @Test("buffers of sound are encoded by the Mac's settings, with texts beside them, in fragments")
  func encodes() async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("backline-writer-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let target = folder.appendingPathComponent("sound.mp4")
    let writer = try AVAssetWriter(url: target, fileType: .mp4)
    writer.movieFragmentInterval = CMTime(value: 1, timescale: 10)
    let sound = AVAssetWriterInput(
      mediaType: .audio,
      outputSettings: [
        AVFormatIDKey: kAudioFormatMPEG4AAC, AVSampleRateKey: 48_000.0, AVNumberOfChannelsKey: 1,
        AVEncoderBitRateKey: 96_000,
      ])
    let texts = AVAssetWriterInput(mediaType: .metadata, outputSettings: nil)
    try #require(writer.canAdd(sound) && writer.canAdd(texts))
    let soundReceiver = writer.inputReceiver(for: sound), textReceiver = writer.inputReceiver(for: texts)
    try writer.start()
    writer.startSession(atSourceTime: .zero)
    typealias Sample = CMReadySampleBuffer<CMSampleBuffer.DynamicContent>
    try await textReceiver.append(
      Sample(text: "begins", presentationTimeStamp: .zero, duration: CMTime(value: 1, timescale: 1)))
    let format = try #require(AVAudioFormat(standardFormatWithSampleRate: 48_000, channels: 1))
    let buffer = try #require(AVAudioPCMBuffer(pcmFormat: format, frameCapacity: 48_000))
    buffer.frameLength = 48_000
    try await soundReceiver.append(Sample(buffer, presentationTimeStamp: .zero))
    soundReceiver.finish()
    await writer.finishWriting()
    #expect(writer.status == .completed, "\(String(describing: writer.error))")
    let reader = try MediaReader(path: target.path)
    #expect(reader.tracks.map(\.codec) == ["aac", "mov_text"])
    #expect(reader.tracks.map(\.mediaType) == [.audio, .metadata])
  }

  @Test("settings that do not fit, other kinds of file and times that are no times are refused or told")
  func refusals() throws {
    #expect(throws: MediaError.self) {
      try AVAssetWriter(url: URL(fileURLWithPath: "/tmp/x"), fileType: AVFileType(rawValue: "other"))
    }
    let writer = try AVAssetWriter(url: URL(fileURLWithPath: "/tmp/x.mov"), fileType: .mov)
    #expect(!writer.canAdd(AVAssetWriterInput(mediaType: .video, outputSettings: [:])))
    #expect(!writer.canAdd(AVAssetWriterInput(mediaType: .video, outputSettings: nil)))
    #expect(writer.status == .unknown && writer.error == nil)
    let pcm: [String: any Sendable] = [
      AVFormatIDKey: kAudioFormatLinearPCM, AVSampleRateKey: 48_000.0, AVNumberOfChannelsKey: 2,
      AVLinearPCMBitDepthKey: 32, AVLinearPCMIsFloatKey: true,
    ]
    #expect(writer.canApply(outputSettings: pcm, forMediaType: .audio))
    #expect(writer.canApply(outputSettings: nil, forMediaType: .video))
    #expect(!writer.canApply(outputSettings: pcm, forMediaType: .video))
    #expect(!writer.canApply(outputSettings: ["AVNothingKey": 1], forMediaType: .audio))
    let mp4 = try AVAssetWriter(url: URL(fileURLWithPath: "/tmp/x.mp4"), fileType: .mp4)
    #expect(!mp4.canApply(outputSettings: pcm, forMediaType: .audio), "MP4 takes no PCM from this FFmpeg")
    #expect(mp4.canAdd(AVAssetWriterInput(mediaType: .metadata, outputSettings: nil)))
    #expect(!CMTime(value: 1, timescale: 0).isValid && !(CMTime.invalid + .zero).isValid)
    #expect(CMTime(value: 1, timescale: 2) == CMTime(value: 24_000, timescale: 48_000))
  }
}
