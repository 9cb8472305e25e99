import BacklineTestSupport
import Foundation
import Testing

@testable import BacklineCommand

@Suite("backline check and the files of presets")
struct CommandLineCheckTests {
  private func preset(_ kind: String, _ file: String) -> String {
    """
    {
      "format": "backline.preset", "version": 1, "name": "Room",
      "nodes": [
        { "name": "room", "kind": "\(kind)",
          "file": "\(file)" }
      ],
      "connections": [{ "from": "room", "to": "output" }]
    }
    """
  }

  /// A WAV file of 16 bits with `frames` frames of `channels` channels.
  private func wave(channels: Int, frames: Int) -> Data {
    func word(_ value: Int) -> [UInt8] { (0..<4).map { UInt8(value >> (8 * $0) & 255) } }
    func half(_ value: Int) -> [UInt8] { [UInt8(value & 255), UInt8(value >> 8 & 255)] }
    let size = frames * channels * 2
    let format =
      word(16) + half(1) + half(channels) + word(48_000) + word(96_000 * channels) + half(2 * channels) + half(16)
    let samples = (0..<size).map { UInt8($0 % 2 == 0 ? 1 : 0) }
    return Data(
      Array("RIFF".utf8) + word(36 + size) + Array("WAVEfmt ".utf8) + format + Array("data".utf8) + word(size) + samples
    )
  }

  @Test(
    "a file that a node names is looked at, beside the preset, and what is wrong with it told with its place",
    arguments: [
      ("convolver", "none.wav", "none.wav"), ("convolver", "empty.wav", "at least one frame"),
      ("convolver", "three.wav", "not 3"), ("convolver", "text.wav", "text.wav"), ("player", "none.wav", "none.wav"),
      ("player", "text.wav", "text.wav"),
    ])
  func wrong(kind: String, file: String, words: String) throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("check-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try wave(channels: 1, frames: 0).write(to: folder.appendingPathComponent("empty.wav"))
    try wave(channels: 3, frames: 64).write(to: folder.appendingPathComponent("three.wav"))
    try Data("no sound".utf8).write(to: folder.appendingPathComponent("text.wav"))
    let path = folder.appendingPathComponent("room.json").path
    try Data(preset(kind, file).utf8).write(to: URL(fileURLWithPath: path))
    let outcome = CommandOutcome("check", path)
    #expect(outcome.code == .badData)
    #expect(outcome.output.hasPrefix("\(path):5:15: nodes[0].file: "), "\(outcome.output)")
    #expect(outcome.output.contains(words), "\(outcome.output)")
  }

  @Test("a folder is wrong usage, said so, and what is named beside it is looked at all the same")
  func folder() throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("check-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let path = folder.appendingPathComponent("room.json").path
    try Data("[]".utf8).write(to: URL(fileURLWithPath: path))
    let outcome = CommandOutcome("check", folder.path + "/", path)
    #expect(outcome.code == .wrongUsage)
    #expect(outcome.errors.contains("is a folder: name the presets in it"), "\(outcome.errors)")
    #expect(outcome.output.hasPrefix("\(path):1:1: "), "\(outcome.output)")
  }

  @Test("a file that can be used is nothing to tell", arguments: ["convolver", "player"])
  func right(kind: String) throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("check-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try wave(channels: 2, frames: 64).write(to: folder.appendingPathComponent("room.wav"))
    let path = folder.appendingPathComponent("room.json").path
    try Data(preset(kind, "room.wav").utf8).write(to: URL(fileURLWithPath: path))
    let outcome = CommandOutcome("check", path)
    #expect(outcome.code == .done, "\(outcome.output)")
    #expect(outcome.output == "")
  }
}
