import BacklineDSP
import BacklineEngine
import BacklineMedia
import BacklineOffline
import BacklinePresets
import BacklineTestSupport
import Foundation
import Testing

/// A folder of sounds and presets for the program to render, removed with it.
final class RenderFolder {
  let path: String

  init() {
    path = FileManager.default.temporaryDirectory.path + "/backline-render-\(UUID().uuidString)"
    try? FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  func file(_ name: String) -> String { path + "/" + name }

  /// What is there, hidden files included.
  var names: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted() }

  func write(_ name: String, bytes: [UInt8]) -> String {
    _ = FileManager.default.createFile(atPath: file(name), contents: Data(bytes))
    return file(name)
  }

  func write(_ name: String, text: String) -> String { write(name, bytes: Array(text.utf8)) }

  /// A WAV file of floats, interleaved.
  func write(_ name: String, _ samples: [Float], channels: Int = 2, rate: Int = 48_000) -> String {
    write(name, bytes: Self.wave(samples, channels: channels, rate: rate))
  }

  /// The bytes of a WAV file of floats.
  static func wave(_ samples: [Float], channels: Int = 2, rate: Int = 48_000) -> [UInt8] {
    var bytes = Array("RIFF".utf8)
    func add(_ value: some FixedWidthInteger) { withUnsafeBytes(of: value.littleEndian) { bytes += $0 } }
    add(UInt32(36 + samples.count * 4))
    bytes += "WAVEfmt ".utf8
    add(UInt32(16))
    add(UInt16(3))
    add(UInt16(channels))
    add(UInt32(rate))
    add(UInt32(rate * channels * 4))
    add(UInt16(truncatingIfNeeded: channels * 4))
    add(UInt16(32))
    bytes += "data".utf8
    add(UInt32(samples.count * 4))
    samples.withUnsafeBytes { bytes += $0 }
    return bytes
  }

  /// A preset of nodes in a row.
  func preset(_ name: String, _ nodes: [(kind: String, parameters: [String: Float])]) throws -> String {
    let names = ["input"] + nodes.indices.map { "n\($0)" } + ["output"]
    let preset = Preset(
      name: name, nodes: nodes.enumerated().map { .init("n\($0)", kind: $1.kind, parameters: $1.parameters) },
      connections: zip(names, names.dropFirst()).map { .init(from: .init($0), to: .init($1)) })
    try PresetFile.save(preset, to: file(name), catalog: .standard)
    return file(name)
  }

  /// The samples of a sound file, interleaved.
  func read(_ path: String) throws -> [Float] {
    let source = try FileSource(path: path)
    let count = Int(source.frameCount ?? 0) * source.channelCount
    var samples = [Float](repeating: .nan, count: count)
    var done = 0
    while done < count {
      let read = try samples.withUnsafeMutableBufferPointer { buffer in
        try source.read(into: #require(buffer.baseAddress) + done, count: 100_000)
      }
      guard case .frames(let frames) = read else { break }
      done += frames * source.channelCount
    }
    return samples
  }

  /// Runs `backline render` to its end.
  func render(_ arguments: String..., limit: Double = 30) throws -> ProcessRunner.Ending {
    try ProcessRunner.run(try BuiltProgram.backline(), ["render"] + arguments, limit: limit)
  }
}

/// What a rendering said in JSON.
struct RenderAnswer {
  let value: JSONValue

  init(_ text: String) throws {
    value = try JSONReader.read(Array(text.utf8))
  }

  subscript(_ name: String) -> JSONValue? { value[name] }
}
