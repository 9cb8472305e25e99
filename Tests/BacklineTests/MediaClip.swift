import Backline
import BacklineTestSupport
import Foundation
import Testing

/// A folder for movies, and what FFmpeg's own programs say of them.
final class MediaClip {
  let folder = FileManager.default.temporaryDirectory.path + "/backline-media-\(UUID().uuidString)"

  init() throws { try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true) }

  deinit { try? FileManager.default.removeItem(atPath: folder) }

  func file(_ name: String) -> String { folder + "/" + name }

  var names: [String] { get throws { try FileManager.default.contentsOfDirectory(atPath: folder).sorted() } }

  @discardableResult
  func tool(_ name: String, _ arguments: [String]) throws -> String {
    let ended = try ProcessRunner.run("/usr/bin/\(name)", ["-loglevel", "error"] + arguments, limit: 240)
    try #require(ended.status == 0, "\(name): \(ended.errors)")
    return ended.output
  }

  /// Makes a picture and a tone.
  func makeClip(
    _ name: String = "in.mov", seconds: Int = 2, _ codecs: [String] = ["-c:v", "mpeg4", "-c:a", "pcm_s16le"]
  ) throws {
    try tool(
      "ffmpeg",
      [
        "-f", "lavfi", "-i", "testsrc=size=64x48:rate=25", "-f", "lavfi", "-i",
        "sine=frequency=331:sample_rate=48000", "-t", "\(seconds)",
      ] + codecs + [file(name)])
  }

  /// All samples, of each track in its order.
  func samples(_ name: String = "in.mov") throws -> (formats: [MediaFormat], samples: [[MediaSample]]) {
    let reader = try MediaReader(path: file(name))
    var samples = reader.tracks.map { _ in [MediaSample]() }
    while let sample = try reader.nextSample() { samples[sample.track].append(sample) }
    return (reader.tracks, samples)
  }

  /// The sound of a track as FFmpeg decodes it onto the movie's time from 0 on: a late start and gaps are silence.
  func sound(_ name: String, track: Int = 0, channels: Int = 1) throws -> [[Float]] {
    let target = file("decoded-\(UUID().uuidString).raw")
    defer { try? FileManager.default.removeItem(atPath: target) }
    try tool(
      "ffmpeg",
      [
        "-copyts", "-i", file(name), "-map", "0:a:\(track)", "-af", "aresample=async=1:min_hard_comp=0.001:first_pts=0",
        "-f", "f32le",
        target,
      ])
    let data = try Data(contentsOf: URL(fileURLWithPath: target))
    let samples = data.withUnsafeBytes { Array($0.bindMemory(to: Float.self)) }
    return (0..<channels).map { channel in stride(from: channel, to: samples.count, by: channels).map { samples[$0] } }
  }

  /// The sound of a file as libsndfile reads it, a list a channel.
  func soundFile(_ name: String) throws -> [[Float]] {
    let file = try AudioFile(forReading: file(name))
    let buffer = try #require(PCMBuffer(format: file.processingFormat, frameCapacity: max(1, Int(file.length))))
    try file.read(into: buffer)
    return (0..<file.processingFormat.channelCount).map(buffer.samples(ofChannel:))
  }

  /// What ffprobe says of all tracks: an entry a line.
  func probe(_ name: String, _ entries: String) throws -> [String] {
    try tool("ffprobe", ["-show_entries", entries, "-of", "csv=p=0", file(name)]).split(separator: "\n").map(
      String.init)
  }

  /// That all tracks can be decoded from the first sample to the last.
  func checkDecoding(_ name: String) throws {
    let ended = try ProcessRunner.run(
      "/usr/bin/ffmpeg",
      [
        "-v", "error", "-xerror", "-i", file(name), "-map", "0:v?", "-map", "0:a?", "-vsync", "passthrough",
        "-enc_time_base", "-1", "-f", "null", "-",
      ], limit: 240)
    #expect(ended.status == 0 && ended.errors == "", "\(name): \(ended.errors)")
  }
}
