import BacklineOSC
import BacklineTestSupport
import Foundation
import Testing

@Suite("Convolvers over OSC", .serialized)
struct OSCConvolverTests {
  /// A file of 16 bits at 48 kHz.
  private func write(_ path: String, channels: Int, frames: Int) throws {
    let size = 2 * frames * channels
    var bytes = Data("RIFF".utf8) + little(UInt32(36 + size)) + Data("WAVEfmt ".utf8)
    bytes += little(UInt32(16)) + little(UInt16(1)) + little(UInt16(channels)) + little(UInt32(48_000))
    bytes += little(UInt32(96_000 * channels)) + little(UInt16(2 * channels)) + little(UInt16(16))
    bytes += Data("data".utf8) + little(UInt32(size))
    for sample in 0..<frames * channels { bytes += little(UInt16(sample == 0 ? 16_384 : 0)) }
    try bytes.write(to: URL(fileURLWithPath: path))
  }

  private func little<Number: FixedWidthInteger>(_ number: Number) -> Data {
    withUnsafeBytes(of: number.littleEndian) { Data($0) }
  }

  @Test("a response loads, is told, stays where another cannot be loaded, comes back with an undo, and is unloaded")
  func responses() throws {
    let rack = try RunningRack()
    try write(rack.path("hall.wav"), channels: 2, frames: 4800)
    try write(rack.path("three.wav"), channels: 3, frames: 100)
    let path = try #require(rack.real("hall.wav"))
    _ = rack.ask("/graph/add", .string("convolver"), .string("c"))
    _ = rack.ask("/graph/add", .string("gain"), .string("g"))
    #expect(rack.values("/convolver/c/state") == [.string("empty"), .string(""), .double(0)])
    #expect(rack.values("/convolver/c/load", .string("hall.wav")) == [.string(path), .double(0.1)])
    let loaded: [OSCArgument] = [.string("loaded"), .string(path), .double(0.1)]
    #expect(rack.values("/convolver/c/state") == loaded)
    #expect(rack.refusal("/convolver/c/load", .string("three.wav"))?.code == "ioError")
    #expect(rack.refusal("/convolver/c/load", .string("none.wav")) != nil)
    #expect(rack.values("/convolver/c/state") == loaded)
    _ = rack.ask("/graph/remove", .string("c"))
    #expect(rack.refusal("/convolver/c/state")?.code == "unknownNode")
    _ = rack.ask("/graph/undo")
    rack.wait("the response has to come back") { rack.values("/convolver/c/state") == loaded }
    #expect(rack.values("/convolver/c/unload") == [])
    #expect(rack.values("/convolver/c/state") == [.string("empty"), .string(""), .double(0)])
    #expect(rack.refusal("/convolver/g/state")?.code == "unknownNode")
    #expect(rack.refusal("/convolver/c/reverse")?.code == "unknownAddress")
    #expect(rack.refusal("/convolver/c/load")?.code != nil)
  }

  private func preset(_ file: String) -> String {
    """
    {"format": "backline.preset", "version": 1, "name": "room", "description": "",
     "nodes": [{"name": "c", "kind": "convolver", "file": "\(file)"}],
     "connections": [{"from": "input", "to": "c"}, {"from": "c", "to": "output"}]}
    """
  }

  @Test("a preset brings its response, a saved one names it, and a bad file refuses the preset, each for its reason")
  func presets() throws {
    let rack = try RunningRack(presets: ["room": preset("../hall.wav")])
    try write(rack.path("hall.wav"), channels: 4, frames: 4800)
    try write(rack.path("many.wav"), channels: 33, frames: 100)
    try write(rack.path("empty.wav"), channels: 2, frames: 0)
    let path = try #require(rack.real("hall.wav"))
    let loaded: [OSCArgument] = [.string("loaded"), .string(path), .double(0.1)]
    #expect(rack.values("/preset/load", .string("room")) == [.string("room")])
    #expect(rack.values("/convolver/c/state") == loaded)
    for (name, word) in [("many", "33 channels"), ("empty", "empty"), ("none", "no ")] {
      try preset(rack.path("\(name).wav")).write(
        toFile: rack.path("presets/\(name).json"), atomically: false, encoding: .utf8)
      let refusal = try #require(rack.refusal("/preset/load", .string(name)))
      #expect(refusal.sentence.contains("node") && refusal.sentence.contains(word), "\(refusal)")
      #expect(rack.values("/convolver/c/state") == loaded)
    }
    #expect(rack.values("/preset/save", .string("kept"))?.count == 2)
    _ = rack.ask("/graph/remove", .string("c"))
    #expect(rack.values("/preset/load", .string("kept")) == [.string("kept")])
    #expect(rack.values("/convolver/c/state") == loaded)
    // A unit made anew by a move, by an undo and by a redo has it, too.
    _ = rack.ask("/graph/insert", .string("gain"), .string("g"), .string("c"), .string("output"))
    _ = rack.ask("/graph/move", .string("c"), .string("g"), .string("output"))
    rack.wait("the response has to come along") { rack.values("/convolver/c/state") == loaded }
    for _ in 0..<2 { _ = rack.ask("/graph/undo") }
    rack.wait("the response has to come back") { rack.values("/convolver/c/state") == loaded }
  }
}
