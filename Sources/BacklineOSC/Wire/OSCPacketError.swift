/// Why a packet was refused. Offsets count bytes from the start of the packet.
public enum OSCPacketError: Error, Equatable, Sendable {
  case empty
  case lengthNotMultipleOfFour(Int)
  case tooLong(bytes: Int, limit: Int)
  case neitherMessageNorBundle(offset: Int)
  case unterminatedString(offset: Int)
  case paddingNotZero(offset: Int)
  case invalidUTF8(offset: Int)
  case controlCharacterInAddress(offset: Int)
  case missingTypeTags(offset: Int)
  case unsupportedType(tag: UInt8, offset: Int)
  case notASCII(offset: Int)
  case argumentsMissing(offset: Int)
  case bytesLeftOver(offset: Int)
  case blobTooLong(offset: Int)
  case timeTagMissing(offset: Int)
  case elementSize(offset: Int)
  case nestedTooDeep(limit: Int)

  /// True where the packet is sound but for a value that is not supported, so that its sender can be told which.
  public var isAnswerable: Bool {
    switch self {
    case .invalidUTF8, .unsupportedType, .notASCII: true
    default: false
    }
  }
}

extension OSCPacketError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .empty: "empty packet"
    case .lengthNotMultipleOfFour(let bytes): "\(bytes) bytes are not a multiple of four"
    case .tooLong(let bytes, let limit): "\(bytes) bytes are more than the limit of \(limit)"
    case .neitherMessageNorBundle(let offset): "neither an address nor a bundle at byte \(offset)"
    case .unterminatedString(let offset): "the string at byte \(offset) has no end"
    case .paddingNotZero(let offset): "the padding at byte \(offset) is not zero"
    case .invalidUTF8(let offset): "the string at byte \(offset) is not valid UTF-8"
    case .controlCharacterInAddress(let offset): "the address has a control character at byte \(offset)"
    case .missingTypeTags(let offset): "no type tags at byte \(offset)"
    case .unsupportedType(let tag, let offset):
      "the type tag '\(Character(Unicode.Scalar(tag)))' at byte \(offset) is not supported"
    case .notASCII(let offset): "the character at byte \(offset) is not ASCII"
    case .argumentsMissing(let offset): "arguments end early at byte \(offset)"
    case .bytesLeftOver(let offset): "bytes are left over at byte \(offset)"
    case .blobTooLong(let offset): "the blob at byte \(offset) is longer than the packet"
    case .timeTagMissing(let offset): "the bundle at byte \(offset) has no time tag"
    case .elementSize(let offset): "the size of the bundle element at byte \(offset) is wrong"
    case .nestedTooDeep(let limit): "bundles are nested deeper than \(limit)"
    }
  }
}
