import CSndFile
import Foundation

/// A folder of sound files that a test makes, removed with it.
final class SoundFixtures {
  let folder: String

  init() {
    folder = FileManager.default.temporaryDirectory.path + "/backline-media-\(UUID().uuidString)"
    try? FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: folder) }

  func path(_ name: String) -> String { folder + "/" + name }

  /// Writes interleaved `samples` in a format of libsndfile.
  func write(
    _ name: String, format: Int, channels: Int = 2, rate: Int = 48_000, _ samples: [Float]
  ) -> String {
    var info = SF_INFO()
    info.samplerate = Int32(rate)
    info.channels = Int32(channels)
    info.format = Int32(format)
    guard let file = sf_open(path(name), Int32(SFM_WRITE), &info) else {
      preconditionFailure("\(name): \(String(cString: sf_strerror(nil)))")
    }
    let frames = sf_count_t(samples.count / channels)
    if [SF_FORMAT_PCM_16, SF_FORMAT_PCM_24, SF_FORMAT_PCM_32, SF_FORMAT_ALAC_16].contains(format & SF_FORMAT_SUBMASK) {
      // As integers, because libsndfile takes a float of 1 for the largest integer instead of the one above.
      let integers = samples.map { Int32(Double($0) * 2_147_483_648) }
      precondition(sf_writef_int(file, integers, frames) == frames)
    } else {
      precondition(sf_writef_float(file, samples, frames) == frames)
    }
    sf_close(file)
    return path(name)
  }

  /// Writes bytes.
  func write(_ name: String, bytes: Data) -> String {
    precondition(FileManager.default.createFile(atPath: path(name), contents: bytes))
    return path(name)
  }

  /// The first part of a file under another name.
  func truncated(_ path: String, to fraction: Double = 0.5) -> String {
    let bytes = FileManager.default.contents(atPath: path) ?? Data()
    let kept = bytes.prefix(Int(Double(bytes.count) * fraction))
    return write("truncated-" + (path as NSString).lastPathComponent, bytes: Data(kept))
  }

  /// Values that every format of 16 bits and more keeps exactly, from which the frame can be told; channel 1 is negated.
  static func coded(_ frames: Int, channels: Int = 2) -> [Float] {
    (0..<frames * channels).map { index in
      let value = Float(index / channels % 32_000 + 1) / 32_768
      return index % channels == 1 ? -value : value
    }
  }

  /// A sine on all channels.
  static func sine(_ frequency: Double, frames: Int, channels: Int = 2, rate: Int = 48_000) -> [Float] {
    (0..<frames * channels).map { index in
      Float(0.5 * sin(2 * .pi * frequency * Double(index / channels) / Double(rate)))
    }
  }

  /// The descriptors of this process that point into the folder.
  var openDescriptors: Int {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
    return names.filter { name in
      let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(name)")
      return target?.hasPrefix(folder) ?? false
    }.count
  }
}

/// Awaits a condition, for at most ten seconds.
func eventually(_ condition: () -> Bool) -> Bool {
  let end = Date(timeIntervalSinceNow: 10)
  while !condition() {
    if Date() > end { return false }
    usleep(500)
  }
  return true
}
