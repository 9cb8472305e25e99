import BacklineTestSupport

@testable import BacklineOSC

/// Bytes for the tests, built by hand so that no encoder is trusted to check itself.
enum TestPackets {
  static func padded(_ text: String) -> [UInt8] { padded(Array(text.utf8)) }

  static func padded(_ text: [UInt8]) -> [UInt8] {
    text + [UInt8](repeating: 0, count: 4 - text.count % 4)
  }

  static func bigEndian(_ value: UInt32) -> [UInt8] {
    [UInt8(value >> 24), UInt8(value >> 16 & 0xFF), UInt8(value >> 8 & 0xFF), UInt8(value & 0xFF)]
  }

  static func message(_ address: String, _ tags: String, _ data: [UInt8] = []) -> [UInt8] {
    padded(address) + padded("," + tags) + data
  }

  static func bundle(_ timeTag: UInt64, _ elements: [[UInt8]]) -> [UInt8] {
    var bytes = padded("#bundle") + bigEndian(UInt32(timeTag >> 32)) + bigEndian(UInt32(timeTag & 0xFFFF_FFFF))
    for element in elements { bytes += bigEndian(UInt32(element.count)) + element }
    return bytes
  }

  static func nested(_ depth: Int) -> [UInt8] {
    (0..<depth).reduce(message("/a", "")) { inner, _ in bundle(1, [inner]) }
  }

  /// What a hostile or broken sender may send, each with what is wrong.
  static let malformed: [(String, [UInt8], OSCPacketError)] = [
    ("nothing", [], .empty),
    ("one byte", [0x2F], .lengthNotMultipleOfFour(1)),
    ("two bytes", [0x2F, 0], .lengthNotMultipleOfFour(2)),
    ("three bytes", [0x2F, 0, 0], .lengthNotMultipleOfFour(3)),
    ("five bytes", [0x2F, 0, 0, 0, 0], .lengthNotMultipleOfFour(5)),
    ("no address", padded("hello") + padded(","), .neitherMessageNorBundle(offset: 0)),
    ("zeros", [0, 0, 0, 0], .neitherMessageNorBundle(offset: 0)),
    ("an address without end", Array("/abc/def".utf8), .unterminatedString(offset: 0)),
    ("an address with padding that is not zero", [0x2F, 0x61, 0, 7] + padded(","), .paddingNotZero(offset: 3)),
    ("an address that is not UTF-8", [0x2F, 0xFF, 0, 0] + padded(","), .invalidUTF8(offset: 0)),
    ("an address with a line feed", padded("/a\nb") + padded(","), .controlCharacterInAddress(offset: 2)),
    ("arguments without type tags", padded("/a") + [0, 0, 0, 1], .missingTypeTags(offset: 4)),
    ("type tags without end", padded("/a") + Array(",iii".utf8), .unterminatedString(offset: 4)),
    ("eight floats claimed, none there", message("/a", "ffffffff"), .argumentsMissing(offset: 16)),
    ("half a double", message("/a", "d", [0, 0, 0, 0]), .argumentsMissing(offset: 8)),
    ("a string claimed, none there", message("/a", "s"), .argumentsMissing(offset: 8)),
    ("a string without end", message("/a", "s", [97, 97, 97, 97]), .unterminatedString(offset: 8)),
    ("a string that is not UTF-8", message("/a", "s", [0xC3, 0x28, 0, 0]), .invalidUTF8(offset: 8)),
    ("a string of surrogates", message("/a", "s", padded([0xED, 0xA0, 0x80])), .invalidUTF8(offset: 8)),
    ("a blob size of 0xFFFFFFFF", message("/a", "b", bigEndian(0xFFFF_FFFF)), .blobTooLong(offset: 8)),
    ("a blob size of 0x7FFFFFFF", message("/a", "b", bigEndian(0x7FFF_FFFF)), .blobTooLong(offset: 8)),
    ("a blob without size", message("/a", "b"), .argumentsMissing(offset: 8)),
    ("a blob padded with ones", message("/a", "b", bigEndian(1) + [1, 1, 1, 1]), .paddingNotZero(offset: 13)),
    ("a colour", message("/a", "r", [1, 2, 3, 4]), .unsupportedType(tag: 0x72, offset: 5)),
    ("an array", message("/a", "[i]", [0, 0, 0, 1]), .unsupportedType(tag: 0x5B, offset: 5)),
    ("a character beyond ASCII", message("/a", "c", [0, 0, 1, 0]), .notASCII(offset: 8)),
    ("more data than tags", message("/a", "i", [0, 0, 0, 1, 0, 0, 0, 2]), .bytesLeftOver(offset: 12)),
    ("a bundle without time tag", padded("#bundle"), .timeTagMissing(offset: 0)),
    ("an element longer than the packet", bundle(1, []) + bigEndian(64), .elementSize(offset: 16)),
    ("an element of no bytes", bundle(1, []) + bigEndian(0), .elementSize(offset: 16)),
    ("an element of minus four bytes", bundle(1, []) + bigEndian(0xFFFF_FFFC), .elementSize(offset: 16)),
    ("an element of three bytes", bundle(1, []) + bigEndian(3) + [1, 2, 3, 0], .elementSize(offset: 16)),
    ("a bad message in a bundle", bundle(1, [message("/a", ""), message("/b", "i")]), .argumentsMissing(offset: 40)),
    ("bundles nested nine deep", nested(9), .nestedTooDeep(limit: 8)),
  ]

  /// Sound packets to mutate.
  static let sound: [[UInt8]] = [
    message("/node/eq/band1Gain", "f", bigEndian((3.5 as Float).bitPattern)),
    message("/ping", "s", padded("token")),
    message(
      "/a", "ihdtTFNIcmb",
      [UInt8](repeating: 1, count: 4 + 24) + [0, 0, 0, 65, 1, 2, 3, 4] + bigEndian(3) + [9, 9, 9, 0]),
    bundle(1, [message("/a", "i", [0, 0, 0, 1]), bundle(7, [message("/b", "s", padded("é"))])]),
    nested(8),
  ]

  /// A packet with a few bytes changed, cut or added.
  static func mutation(_ generator: inout SeededGenerator) -> [UInt8] {
    var bytes = sound[Int.random(in: 0..<sound.count, using: &generator)]
    for _ in 0..<Int.random(in: 1...4, using: &generator) {
      let at = Int.random(in: 0..<max(1, bytes.count), using: &generator)
      switch Int.random(in: 0..<5, using: &generator) {
      case 0 where !bytes.isEmpty: bytes[at] = UInt8.random(in: 0...255, using: &generator)
      case 1 where !bytes.isEmpty: bytes[at] ^= 1 << UInt8.random(in: 0...7, using: &generator)
      case 2: bytes.removeLast(min(bytes.count, Int.random(in: 1...8, using: &generator)))
      case 3: bytes.insert(contentsOf: [0xFF, 0xFF, 0xFF, 0xFF].prefix(4), at: min(bytes.count, at & ~3))
      default: bytes += [UInt8](repeating: 0x2C, count: 4)
      }
    }
    return bytes
  }
}
