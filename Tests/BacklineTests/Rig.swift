import Backline
import BacklineTestSupport
import Glibc
import Synchronization

/// An engine that a test renders by hand, at 48 000 Hz in stereo unless it says otherwise.
final class Rig {
  let engine: AudioEngine
  let format: AudioFormat
  private let maximum: Int

  init(sampleRate: Double = 48_000, channels: Int = 2, maximum: Int = 4_096, rampTime: Double = 0.01) throws {
    engine = try AudioEngine(EngineConfiguration(name: "rig", output: .timer(), rampTime: rampTime))
    format = AudioFormat(sampleRate: sampleRate, channelCount: channels)
    self.maximum = maximum
    try engine.enableManualRendering(.offline, format: format, maximumFrameCount: maximum)
  }

  /// A player into the main mixer, in a running engine.
  func player(_ format: AudioFormat? = nil) throws -> PlayerNode {
    let player = PlayerNode()
    try engine.attach(player)
    try engine.connect(player, to: engine.mainMixerNode, format: format ?? self.format)
    return player
  }

  /// Renders so many frames in requests of the given lengths in turn; a list of samples a channel.
  func render(_ frames: Int, cuts: [Int] = [512]) throws -> [[Float]] {
    guard let buffer = PCMBuffer(format: format, frameCapacity: maximum) else { throw Unexpected() }
    var result = [[Float]](repeating: [], count: format.channelCount)
    var left = frames, cut = 0
    while left > 0 {
      let count = min(left, cuts[cut % cuts.count])
      cut += 1
      guard try engine.renderOffline(count, to: buffer) == .success, buffer.frameLength == count else {
        throw Unexpected()
      }
      for channel in result.indices { result[channel] += buffer.samples(ofChannel: channel) }
      left -= count
    }
    return result
  }
}

/// Something that cannot be.
struct Unexpected: Error {}

/// Sounds whose samples tell where they are.
enum Sounds {
  /// Frame `first + n` has the value (`first + n + 1`) / 2^20, on all channels.
  static func ramp(_ count: Int, from first: Int = 0) -> [Float] {
    (0..<count).map { Float(first + $0 + 1) / 1_048_576 }
  }

  static func buffer(
    _ samples: [Float], sampleRate: Double = 48_000, channels: Int = 2
  ) throws -> PCMBuffer {
    let format = AudioFormat(sampleRate: sampleRate, channelCount: channels)
    guard let buffer = PCMBuffer(format: format, frameCapacity: max(1, samples.count)) else { throw Unexpected() }
    buffer.frameLength = samples.count
    for channel in 0..<channels { for (frame, sample) in samples.enumerated() { buffer[frame, channel] = sample } }
    return buffer
  }

  /// Writes samples to a file in floating point, the same on all channels.
  static func write(_ samples: [Float], to path: String, sampleRate: Double = 48_000, channels: Int = 2) throws {
    let file = try AudioFile(
      forWriting: path,
      format: AudioFileFormat(container: .wav, encoding: .float32, sampleRate: sampleRate, channelCount: channels))
    if !samples.isEmpty { try file.write(from: buffer(samples, sampleRate: sampleRate, channels: channels)) }
    try file.close()
  }
}

/// A folder that goes with the test.
final class TemporaryFolder {
  let path: String

  init() throws {
    var template = Array("/tmp/backline-library.XXXXXX".utf8CString)
    guard template.withUnsafeMutableBufferPointer({ mkdtemp($0.baseAddress!) }) != nil else { throw Unexpected() }
    path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  func file(_ name: String) -> String { "\(path)/\(name)" }

  /// The names of what is inside.
  var names: [String] {
    guard let folder = opendir(path) else { return [] }
    defer { closedir(folder) }
    var names: [String] = []
    while let entry = readdir(folder) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if name != "." && name != ".." { names.append(name) }
    }
    return names.sorted()
  }

  func remove(_ name: String) { unlink(file(name)) }

  func removeFolder(_ name: String) { rmdir(file(name)) }

  deinit {
    for name in names { unlink(file(name)) }
    rmdir(path)
  }
}

/// The code of an `AudioError` that `body` throws; `nil` where it throws none.
func code(_ body: () throws -> Void) -> AudioError.Code? {
  do {
    try body()
    return nil
  } catch {
    return (error as? AudioError)?.code
  }
}

/// A switch that closures share.
final class Gate: Sendable {
  private let flag = Atomic<Bool>(false)

  var isOpen: Bool {
    get { flag.load(ordering: .relaxed) }
    set { flag.store(newValue, ordering: .relaxed) }
  }
}

extension TemporaryFolder {
  /// Cuts a file off.
  func truncate(_ name: String, toPart part: Double) throws {
    var status = stat()
    guard stat(file(name), &status) == 0,
      Glibc.truncate(file(name), off_t(Double(status.st_size) * part)) == 0
    else { throw Unexpected() }
  }
}

/// True where tests are to take their time: BACKLINE_LONG_TESTS=1.
var isLong: Bool { getenv("BACKLINE_LONG_TESTS").map { String(cString: $0) } == "1" }
