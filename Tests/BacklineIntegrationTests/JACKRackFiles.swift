import BacklineDSP
import BacklineEngine
import BacklineMedia
import BacklinePresets
import BacklineTestSupport
import Foundation

/// A folder for the files of one test, removed with it; the root of the rack under test.
final class JACKRackFiles {
  let folder: String

  init() throws {
    folder = FileManager.default.temporaryDirectory.path + "/backline-rack-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: folder) }

  func path(_ name: String) -> String { folder + "/" + name }

  /// Writes a text file; its path.
  func write(_ name: String, _ text: String) throws -> String {
    try text.write(toFile: path(name), atomically: true, encoding: .utf8)
    return path(name)
  }

  /// Writes a preset of named nodes and connections; its path.
  func preset(
    _ name: String, inputs: String = #"["in_1"]"#, outputs: String = #"["out_1"]"#,
    nodes: [(name: String, kind: String)],
    parameters: [String: String] = [:], connections: [(String, String)]
  ) throws -> String {
    let nodeTexts = nodes.map { node in
      #"{ "name": "\#(node.name)", "kind": "\#(node.kind)", "parameters": { \#(parameters[node.name] ?? "") } }"#
    }
    let connectionTexts = connections.map { #"{ "from": "\#($0.0)", "to": "\#($0.1)" }"# }
    return try write(
      "\(name).json",
      """
      { "format": "backline.preset", "version": 1, "name": "\(name)", "description": "",
        "ports": { "inputs": \(inputs), "outputs": \(outputs) },
        "nodes": [ \(nodeTexts.joined(separator: ",\n")) ],
        "connections": [ \(connectionTexts.joined(separator: ",\n")) ] }
      """)
  }

  /// Writes a mono WAV file of 32-bit floats (RIFF, format tag 3); its path.
  func wave(_ name: String, _ samples: [Float], sampleRate: Int = 48_000) throws -> String {
    var bytes = waveHeader(dataBytes: samples.count * 4, sampleRate: sampleRate)
    samples.withUnsafeBytes { bytes.append(contentsOf: $0) }
    try bytes.write(to: URL(fileURLWithPath: path(name)))
    return path(name)
  }

  /// Makes a mono WAV file of so many bytes of samples, none of which take room on the disk; its path.
  func sparseWave(_ name: String, dataBytes: Int) throws -> String {
    let header = waveHeader(dataBytes: dataBytes, sampleRate: 48_000)
    try header.write(to: URL(fileURLWithPath: path(name)))
    let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path(name)))
    try file.truncate(atOffset: UInt64(header.count + dataBytes))
    try file.close()
    return path(name)
  }

  private func waveHeader(dataBytes: Int, sampleRate: Int) -> Data {
    var bytes = Data()
    func add(_ text: String) { bytes.append(contentsOf: text.utf8) }
    func add<Number: FixedWidthInteger>(_ number: Number) {
      withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) }
    }
    add("RIFF")
    add(UInt32(dataBytes + 36))
    add("WAVEfmt ")
    add(UInt32(16))
    add(UInt16(3))
    add(UInt16(1))
    add(UInt32(sampleRate))
    add(UInt32(sampleRate * 4))
    add(UInt16(4))
    add(UInt16(32))
    add("data")
    add(UInt32(dataBytes))
    return bytes
  }

  /// The samples of a mono file, as any player would read them.
  static func samples(of path: String) throws -> [Float] {
    let reader = try SoundFileReader(path: path)
    var samples = [Float](repeating: 0, count: Int(reader.format.frameCount))
    let count = try samples.withUnsafeMutableBufferPointer { buffer in
      guard let base = buffer.baseAddress else { return 0 }
      return try reader.read(at: 0, into: base, count: buffer.count)
    }
    return Array(samples.prefix(count))
  }

  /// The graph of a preset that comes with the program.
  static func shipped(_ name: String) throws -> GraphDescription {
    let folders = PresetFolders.standard(executable: try BuiltProgram.backline())
    return try PresetLibrary(folders: folders, roots: nil).load(name, catalog: .standard).graph(catalog: .standard)
  }
}
