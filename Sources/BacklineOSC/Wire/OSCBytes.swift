import Glibc

/// The elementary reads of the wire format: big-endian numbers and strings padded to four bytes.
enum OSCBytes {
  @inline(__always)
  static func uint32(_ at: UnsafeRawPointer) -> UInt32 { UInt32(bigEndian: at.loadUnaligned(as: UInt32.self)) }

  @inline(__always)
  static func uint64(_ at: UnsafeRawPointer) -> UInt64 { UInt64(bigEndian: at.loadUnaligned(as: UInt64.self)) }

  /// The bytes that a string of `length` bytes takes with its terminator and padding.
  @inline(__always)
  static func padded(_ length: Int) -> Int { (length &+ 4) & ~3 }

  /// The bytes that a blob of `length` bytes takes with its padding, without the size before it.
  @inline(__always)
  static func paddedBlob(_ length: Int) -> Int { (length &+ 3) & ~3 }

  /// The length of a string that is known to end.
  @inline(__always)
  static func length(_ at: UnsafeRawPointer) -> Int { strlen(at.assumingMemoryBound(to: CChar.self)) }

  /// True where a bundle, rather than a message, begins.
  @inline(__always)
  static func isBundle(_ at: UnsafeRawPointer, _ count: Int) -> Bool {
    count >= 8 && uint64(at) == 0x2362_756E_646C_6500  // "#bundle" and its terminator
  }

  /// A string out of bytes that have been validated.
  static func string(_ bytes: UnsafeBufferPointer<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }

  /// True where the bytes begin with a text.
  static func starts(_ bytes: UnsafeBufferPointer<UInt8>, with text: StaticString) -> Bool {
    guard let base = bytes.baseAddress, bytes.count >= text.utf8CodeUnitCount else { return false }
    return text.withUTF8Buffer { text in text.baseAddress.map { memcmp(base, $0, text.count) == 0 } ?? true }
  }

  /// True where the bytes are a text.
  static func equal(_ bytes: UnsafeBufferPointer<UInt8>, _ text: StaticString) -> Bool {
    bytes.count == text.utf8CodeUnitCount && starts(bytes, with: text)
  }
}
