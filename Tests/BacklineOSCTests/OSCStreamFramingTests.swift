import Testing

@testable import BacklineOSC

@Suite("OSC stream framing")
struct OSCStreamFramingTests {
  private enum Seen: Equatable {
    case packet([UInt8])
    case oversized(Int)
    case invalidEscape, broken
  }

  /// What a decoder makes of bytes that come in pieces of `size`.
  private func decode(_ bytes: [UInt8], pieces size: Int, limit: Int = 1 << 20) -> [Seen] {
    var decoder = OSCStreamDecoder(limit: limit)
    var seen: [Seen] = []
    var rest = bytes[...]
    while !rest.isEmpty {
      Array(rest.prefix(size)).withUnsafeBytes { piece in
        decoder.receive(piece) { event in
          switch event {
          case .packet(let bytes): seen.append(.packet(Array(bytes)))
          case .oversized(let count): seen.append(.oversized(count))
          case .invalidEscape: seen.append(.invalidEscape)
          case .broken: seen.append(.broken)
          }
        }
      }
      rest = rest.dropFirst(size)
    }
    return seen
  }

  private func frame(_ framing: OSCStreamFraming, _ packets: [[UInt8]]) -> [UInt8] {
    var bytes: [UInt8] = []
    for packet in packets { packet.withUnsafeBytes { framing.encode($0, into: &bytes) } }
    return bytes
  }

  /// Packets with every byte that SLIP escapes, of lengths around all edges.
  private let packets: [[UInt8]] = [
    TestPackets.message("/a", "b", TestPackets.bigEndian(4) + [0xC0, 0xDB, 0xDC, 0xDD]),
    TestPackets.message("/b", ""),
    TestPackets.message("/c", "b", TestPackets.bigEndian(8) + [0xC0, 0xC0, 0xDB, 0xDB, 0xDB, 0xDC, 0xC0, 0xDD]),
  ]

  @Test("both framings give the packets back, in whatever pieces they come", arguments: [1, 2, 3, 5, 7, 64, 10_000])
  func roundTrip(_ size: Int) {
    for framing in [OSCStreamFraming.lengthPrefix, .slip] {
      #expect(decode(frame(framing, packets), pieces: size) == packets.map { .packet($0) })
    }
  }

  @Test("a SLIP sender that marks only the ends of its packets is understood", arguments: [1, 3, 1000])
  func singleEnd(_ size: Int) {
    let bytes = packets.flatMap { packet in Array(frame(.slip, [packet]).dropFirst()) }
    #expect(decode(bytes, pieces: size) == packets.map { .packet($0) })
    let bundle = TestPackets.bundle(1, [])
    #expect(decode(Array(frame(.slip, [bundle]).dropFirst()), pieces: size) == [.packet(bundle)])
  }

  @Test("a packet at the limit passes, one above is reported and skipped", arguments: [1, 7, 1000])
  func limit(_ size: Int) {
    let full = TestPackets.message("/a", "b", TestPackets.bigEndian(20) + [UInt8](repeating: 0xC0, count: 20))
    let over = full + [0, 0, 0, 0]
    for framing in [OSCStreamFraming.lengthPrefix, .slip] {
      let bytes = frame(framing, [full, over, packets[1]])
      let seen = decode(bytes, pieces: size, limit: full.count)
      #expect(seen == [.packet(full), .oversized(over.count), .packet(packets[1])])
    }
  }

  @Test("a length below zero breaks the stream, and nothing more is read from it")
  func negativeLength() {
    let bytes = frame(.lengthPrefix, [packets[0]]) + [0x80, 0, 0, 4, 1, 2, 3, 4] + frame(.lengthPrefix, [packets[1]])
    for size in [1, 1000] { #expect(decode(bytes, pieces: size) == [.packet(packets[0]), .broken]) }
  }

  @Test("an escape that means nothing spoils its packet only")
  func invalidEscape() {
    let end = OSCStreamFraming.end
    let bytes = [end, 0x2F, 0xDB, 0x41, end, 0x2F, 0xDB, end] + frame(.slip, [packets[1]])
    for size in [1, 1000] {
      #expect(decode(bytes, pieces: size) == [.invalidEscape, .invalidEscape, .packet(packets[1])])
    }
  }
}
