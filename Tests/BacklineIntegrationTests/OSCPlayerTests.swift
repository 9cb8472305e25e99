import BacklineOSC
import BacklineTestSupport
import Foundation
import Testing

@Suite("Players over OSC", .serialized)
struct OSCPlayerTests {
  /// A rack with a player and a file of `seconds`, 48 kHz, one channel, 16 bits.
  private func rack(seconds: Int = 2) throws -> RunningRack {
    let rack = try RunningRack()
    let frames = 48_000 * seconds
    var bytes = Data("RIFF".utf8) + little(UInt32(36 + 2 * frames)) + Data("WAVEfmt ".utf8)
    bytes +=
      little(UInt32(16)) + little(UInt16(1)) + little(UInt16(1)) + little(UInt32(48_000)) + little(UInt32(96_000))
    bytes += little(UInt16(2)) + little(UInt16(16)) + Data("data".utf8) + little(UInt32(2 * frames))
    for frame in 0..<frames { bytes += little(UInt16(truncatingIfNeeded: frame)) }
    try bytes.write(to: URL(fileURLWithPath: rack.path("take.wav")))
    _ = rack.ask("/graph/add", .string("player"), .string("p"))
    _ = rack.ask("/graph/connect", .string("p"), .string("output"))
    return rack
  }

  private func little<Number: FixedWidthInteger>(_ number: Number) -> Data {
    withUnsafeBytes(of: number.littleEndian) { Data($0) }
  }

  private func state(_ rack: RunningRack) -> String {
    guard case .string(let word)? = rack.values("/player/p/state")?.first else { return "?" }
    return word
  }

  private func position(_ rack: RunningRack) -> Double {
    guard case .double(let seconds)? = rack.values("/player/p/position")?.first else { return -1 }
    return seconds
  }

  @Test("a file loads, plays at once or at a frame, pauses, seeks and stops, and its position is told in seconds")
  func transport() throws {
    let rack = try rack()
    #expect(state(rack) == "empty")
    #expect(rack.refusal("/player/p/play")?.code == "unavailable")
    #expect(
      rack.values("/player/p/load", .string("take.wav"))
        == [.string(try #require(rack.real("take.wav"))), .double(2), .int32(1), .int32(48_000)])
    #expect(state(rack) == "stopped" && position(rack) == 0)
    #expect(rack.values("/player/p/seek", .float(0.5)) == [])
    rack.wait("the seek has to act") { position(rack) == 0.5 }
    #expect(rack.values("/player/p/play") == [])
    rack.wait("it has to play on") { position(rack) > 0.6 }
    #expect(state(rack) == "playing")
    #expect(rack.values("/player/p/pause") == [])
    rack.wait("it has to stop") { state(rack) == "stopped" }
    let rest = position(rack)
    #expect(rest > 0.5 && position(rack) == rest)
    #expect(rack.values("/player/p/stop") == [])
    rack.wait("a stop has to go back") { position(rack) == 0 }
    let frame = rack.integer("frame") + 9_600
    #expect(rack.values("/player/p/play", .int64(Int64(frame))) == [])
    rack.wait("it has to start at its frame") { state(rack) == "playing" }
    #expect(rack.integer("frame") >= frame)
    rack.wait("it has to end by itself") { state(rack) == "stopped" }
  }

  @Test("a loop repeats its part, stays with a seek, and ends with 0 0")
  func loop() throws {
    let rack = try rack()
    _ = rack.values("/player/p/load", .string("take.wav"))
    #expect(rack.values("/player/p/loop", .float(0.1), .float(0.2)) == [])
    #expect(rack.values("/player/p/play") == [])
    rack.wait("it has to be in the loop") { position(rack) >= 0.1 }
    for _ in 0..<40 {
      let now = position(rack)
      #expect(now >= 0.1 && now <= 0.2)
      usleep(5_000)
    }
    #expect(rack.values("/player/p/loop", .int32(0), .int32(0)) == [])
    rack.wait("it has to leave the loop") { position(rack) > 0.3 }
    #expect(rack.refusal("/player/p/loop", .float(2), .float(1))?.code == "outOfRange")
    #expect(rack.refusal("/player/p/loop", .float(-1), .float(1))?.code == "outOfRange")
    #expect(rack.refusal("/player/p/seek", .float(.nan))?.code == "outOfRange")
    #expect(rack.refusal("/player/p/seek")?.code == "wrongType")
    #expect(rack.refusal("/player/p/play", .float(0.5))?.code == "wrongType")
    #expect(rack.refusal("/player/p/play", .int32(-7))?.code == "outOfRange")
    #expect(rack.refusal("/player/p/rewind")?.code == "unknownAddress")
    #expect(rack.refusal("/player/q/play")?.code == "unknownNode")
  }

  @Test(
    "a file that is missing, outside the root or no sound is refused by its name; a player keeps what it has, or says why it is silent"
  )
  func refused() throws {
    let rack = try rack()
    try "no sound".write(toFile: rack.path("text.wav"), atomically: false, encoding: .utf8)
    symlink("/etc/passwd", rack.path("link.wav"))
    for (path, code) in [
      ("missing.wav", "notFound"), ("/etc/passwd", "notAllowed"), ("../x.wav", "notAllowed"),
      ("link.wav", "notAllowed"),
      ("text.wav", nil), ("", "notFound"), ("presets", nil),
    ] as [(String, String?)] {
      let refusal = rack.refusal("/player/p/load", .string(path))
      #expect(refusal != nil && (code == nil || refusal?.code == code), "\(path): \(String(describing: refusal))")
      if let name = path.split(separator: "/").last { #expect(refusal?.sentence.contains(name) == true) }
      let state = rack.values("/player/p/state") ?? []
      #expect(state.first == .string("failed") && state.last == .string(refusal?.sentence ?? "?"), "\(path)")
      #expect(rack.refusal("/player/p/play")?.code == "unavailable", "\(path)")
      #expect(rack.values("/player/p/load", .string("take.wav"))?.count == 4)
      _ = rack.values("/player/p/play")
      rack.wait("the player has to play") { self.state(rack) == "playing" }
      #expect(rack.refusal("/player/p/load", .string(path))?.sentence == refusal?.sentence)
      #expect(self.state(rack) == "playing", "\(path)")
      _ = rack.ask("/graph/remove", .string("p"))
      _ = rack.ask("/graph/add", .string("player"), .string("p"))
    }
    #expect(rack.values("/player/p/load", .string("take.wav"))?.count == 4)
    rack.wait("a fresh file has to stand at its start") { state(rack) == "stopped" && position(rack) == 0 }
  }

  @Test("a new node of an old name knows nothing of its file; an undo brings the old one back, with its file")
  func undo() throws {
    let rack = try rack()
    _ = rack.values("/player/p/load", .string("take.wav"))
    _ = rack.values("/player/p/seek", .float(1))
    rack.wait("the seek has to act") { position(rack) == 1 }
    _ = rack.ask("/graph/remove", .string("p"))
    #expect(rack.refusal("/player/p/state")?.code == "unknownNode")
    _ = rack.ask("/graph/undo")
    rack.wait("the file has to come back") { state(rack) == "stopped" && position(rack) == 1 }
    _ = rack.ask("/graph/rename", .string("p"), .string("q"))
    _ = rack.ask("/graph/rename", .string("q"), .string("p"))
    #expect(state(rack) == "stopped")
    _ = rack.ask("/graph/remove", .string("p"))
    _ = rack.ask("/graph/add", .string("player"), .string("p"))
    #expect(state(rack) == "empty")
  }
}

extension RunningRack {
  /// The path of a file with every link resolved.
  func real(_ name: String) -> String? {
    guard let path = realpath(path(name), nil) else { return nil }
    defer { free(path) }
    return String(cString: path)
  }
}
