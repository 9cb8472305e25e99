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

  @Test("settings that would encode, other kinds of file and times that are no times are refused or told")
  func refusals() throws {
    #expect(throws: MediaError.self) {
      try AVAssetWriter(url: URL(fileURLWithPath: "/tmp/x"), fileType: AVFileType(rawValue: "other"))
    }
    let writer = try AVAssetWriter(url: URL(fileURLWithPath: "/tmp/x.mov"), fileType: .mov)
    #expect(!writer.canAdd(AVAssetWriterInput(mediaType: .video, outputSettings: [:])))
    #expect(!writer.canAdd(AVAssetWriterInput(mediaType: .video, outputSettings: nil)))
    #expect(writer.status == .unknown && writer.error == nil)
    #expect(!CMTime(value: 1, timescale: 0).isValid && !(CMTime.invalid + .zero).isValid)
    #expect(CMTime(value: 1, timescale: 2) == CMTime(value: 24_000, timescale: 48_000))
  }
}
