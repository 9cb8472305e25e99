import Glibc

/// Checks a packet from the outside world whole, before anything else looks at it.
///
/// liblo's own checks are not enough for hostile input: version 0.31 reads the size of a blob that lies beyond the end,
/// takes strings that are no UTF-8, and knows nothing of nesting. So nothing reaches it, or the views on the bytes, that
/// has not passed here. The rules are those of the OSC 1.0 specification (Wright, 2002), each taken strictly; the one
/// leniency that it demands is taken too: a message may lack its type tags, where it has no arguments.
///
/// Time is linear in the length; nothing is allocated; the stack is bounded by the depth of nesting.
struct OSCValidator {
  private let base: UnsafeRawPointer

  /// Throws why the packet is refused.
  static func validate(_ packet: UnsafeRawBufferPointer, limit: Int) throws(OSCPacketError) {
    guard let base = packet.baseAddress, packet.count > 0 else { throw .empty }
    if packet.count > limit { throw .tooLong(bytes: packet.count, limit: limit) }
    if packet.count & 3 != 0 { throw .lengthNotMultipleOfFour(packet.count) }
    try OSCValidator(base: base).element(0, packet.count, depth: 1)
  }

  /// Checks the message or bundle in the bytes from `start` to `end`.
  private func element(_ start: Int, _ end: Int, depth: Int) throws(OSCPacketError) {
    if (base + start).load(as: UInt8.self) == UInt8(ascii: "/") {
      try message(start, end)
    } else if OSCBytes.isBundle(base + start, end - start) {
      try bundle(start, end, depth: depth)
    } else {
      throw .neitherMessageNorBundle(offset: start)
    }
  }

  private func bundle(_ start: Int, _ end: Int, depth: Int) throws(OSCPacketError) {
    if depth > OSCLimits.bundleDepth { throw .nestedTooDeep(limit: OSCLimits.bundleDepth) }
    if end - start < 16 { throw .timeTagMissing(offset: start) }
    var position = start + 16
    while position < end {
      // Lengths are multiples of four down to here, so four bytes for the size are always there.
      let size = Int(Int32(bitPattern: OSCBytes.uint32(base + position)))
      if size <= 0 || size & 3 != 0 || size > end - position - 4 { throw .elementSize(offset: position) }
      try element(position + 4, position + 4 + size, depth: depth + 1)
      position += 4 + size
    }
  }

  private func message(_ start: Int, _ end: Int) throws(OSCPacketError) {
    let length = try string(start, end)
    for offset in start..<start + length where (base + offset).load(as: UInt8.self) < 0x20 {
      throw .controlCharacterInAddress(offset: offset)
    }
    let tags = start + OSCBytes.padded(length)
    if tags == end { return }
    if (base + tags).load(as: UInt8.self) != UInt8(ascii: ",") { throw .missingTypeTags(offset: tags) }
    let tagLength = try terminated(tags, end)
    var position = tags + OSCBytes.padded(tagLength)
    for tag in tags + 1..<tags + tagLength { position = try argument(tag, position, end) }
    if position != end { throw .bytesLeftOver(offset: position) }
  }

  /// Checks one argument; returns where the next begins.
  private func argument(_ tag: Int, _ position: Int, _ end: Int) throws(OSCPacketError) -> Int {
    switch (base + tag).load(as: UInt8.self) {
    case UInt8(ascii: "i"), UInt8(ascii: "f"), UInt8(ascii: "m"):
      if end - position < 4 { throw .argumentsMissing(offset: position) }
      return position + 4
    case UInt8(ascii: "c"):
      if end - position < 4 { throw .argumentsMissing(offset: position) }
      if OSCBytes.uint32(base + position) > 0x7F { throw .notASCII(offset: position) }
      return position + 4
    case UInt8(ascii: "h"), UInt8(ascii: "d"), UInt8(ascii: "t"):
      if end - position < 8 { throw .argumentsMissing(offset: position) }
      return position + 8
    case UInt8(ascii: "s"), UInt8(ascii: "S"):
      if position == end { throw .argumentsMissing(offset: position) }
      return position + OSCBytes.padded(try string(position, end))
    case UInt8(ascii: "b"):
      return try blob(position, end)
    case UInt8(ascii: "T"), UInt8(ascii: "F"), UInt8(ascii: "N"), UInt8(ascii: "I"):
      return position
    case let other:
      throw .unsupportedType(tag: other, offset: tag)
    }
  }

  private func blob(_ position: Int, _ end: Int) throws(OSCPacketError) -> Int {
    if end - position < 4 { throw .argumentsMissing(offset: position) }
    let size = Int(OSCBytes.uint32(base + position))
    let next = position + 4 + OSCBytes.paddedBlob(size)
    if next > end { throw .blobTooLong(offset: position) }
    for offset in position + 4 + size..<next where (base + offset).load(as: UInt8.self) != 0 {
      throw .paddingNotZero(offset: offset)
    }
    return next
  }

  /// Checks a string of UTF-8; returns its length without terminator.
  private func string(_ start: Int, _ end: Int) throws(OSCPacketError) -> Int {
    let length = try terminated(start, end)
    let bytes = UnsafeBufferPointer(start: (base + start).assumingMemoryBound(to: UInt8.self), count: length)
    if !isUTF8(bytes) { throw .invalidUTF8(offset: start) }
    return length
  }

  /// Checks that a string ends, and that it is padded with zeros; returns its length without terminator.
  private func terminated(_ start: Int, _ end: Int) throws(OSCPacketError) -> Int {
    guard let terminator = memchr(base + start, 0, end - start) else { throw .unterminatedString(offset: start) }
    let length = UnsafeRawPointer(terminator) - (base + start)
    for offset in start + length..<start + OSCBytes.padded(length) where (base + offset).load(as: UInt8.self) != 0 {
      throw .paddingNotZero(offset: offset)
    }
    return length
  }

  private func isUTF8(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
    // Why: nearly all text is ASCII, which needs no decoder.
    if bytes.allSatisfy({ $0 < 0x80 }) { return true }
    do {
      _ = try UTF8Span(validating: bytes.span)
      return true
    } catch {
      return false
    }
  }
}
