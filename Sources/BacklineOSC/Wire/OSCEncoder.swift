/// Why a message cannot be put on the wire.
public enum OSCEncodingError: Error, Equatable, Sendable {
  /// An address begins with `/`.
  case invalidAddress(String)
  /// A string of OSC ends at its first NUL, so none may be inside.
  case nulInString
  case notASCII(UInt8)
  case tooLong(bytes: Int, limit: Int)
}

extension OSCEncodingError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .invalidAddress(let address): "'\(address)' is no OSC address; it has to begin with /"
    case .nulInString: "a string with a NUL inside cannot be sent"
    case .notASCII(let code): "the character \(code) is not ASCII"
    case .tooLong(let bytes, let limit): "the message has \(bytes) bytes, more than the limit of \(limit)"
    }
  }
}

/// Puts messages into bytes, into memory that is used again from one message to the next.
///
/// Why not liblo's builder: up to 0.31, the memory of a message that outgrows a power of two by less than 0.7 % is made too
/// small for it, so that a string of 1 028 bytes is written beyond its end.
final class OSCEncoder {
  private var memory: UnsafeMutableRawPointer
  private var capacity = 1024
  private var length = 0

  init() { memory = .allocate(byteCount: capacity, alignment: 16) }

  deinit { memory.deallocate() }

  /// The message on the wire; good until the next call, and for as long as the encoder is kept.
  func encode(
    _ message: OSCMessage, limit: Int = OSCLimits.streamPacketBytes
  ) throws(OSCEncodingError) -> UnsafeRawBufferPointer {
    if message.address.utf8.first != UInt8(ascii: "/") { throw .invalidAddress(message.address) }
    try makeRoom(for: message, limit: limit)
    length = 0
    append(message.address)
    put(UInt8(ascii: ","))
    for argument in message.arguments { put(argument.typeTag) }
    pad(always: true)
    for argument in message.arguments { append(argument) }
    return UnsafeRawBufferPointer(start: memory, count: length)
  }

  /// Checks what the wire cannot carry, and gets the memory for the rest.
  private func makeRoom(for message: OSCMessage, limit: Int) throws(OSCEncodingError) {
    var bytes = try size(of: message.address) + (message.arguments.count + 5) & ~3
    for argument in message.arguments { bytes += try size(of: argument) }
    if bytes > limit { throw .tooLong(bytes: bytes, limit: limit) }
    if bytes <= capacity { return }
    memory.deallocate()
    while capacity < bytes { capacity *= 2 }
    memory = .allocate(byteCount: capacity, alignment: 16)
  }

  private func size(of text: String) throws(OSCEncodingError) -> Int {
    if text.utf8.contains(0) { throw .nulInString }
    return (text.utf8.count + 4) & ~3
  }

  private func size(of argument: OSCArgument) throws(OSCEncodingError) -> Int {
    switch argument {
    case .int32, .float, .midi: return 4
    case .int64, .double, .timeTag: return 8
    case .string(let text), .symbol(let text): return try size(of: text)
    case .blob(let bytes): return 4 + (bytes.count + 3) & ~3
    case .character(let value):
      if value > 0x7F { throw .notASCII(value) }
      return 4
    case .true, .false, .nil, .impulse: return 0
    }
  }

  private func append(_ argument: OSCArgument) {
    switch argument {
    case .int32(let value): append(value)
    case .int64(let value): append(value)
    case .float(let value): append(value.bitPattern)
    case .double(let value): append(value.bitPattern)
    case .string(let text), .symbol(let text): append(text)
    case .blob(let bytes):
      append(UInt32(bytes.count))
      bytes.withUnsafeBytes(put)
      pad(always: false)
    case .character(let value): append(UInt32(value))
    case .timeTag(let value): append(value)
    case .midi(let value): append(value)
    case .true, .false, .nil, .impulse: break
    }
  }

  private func append(_ text: String) {
    var text = text
    text.withUTF8 { put(UnsafeRawBufferPointer($0)) }
    pad(always: true)
  }

  private func append(_ value: some FixedWidthInteger) {
    withUnsafeBytes(of: value.bigEndian, put)
  }

  private func put(_ byte: UInt8) {
    memory.storeBytes(of: byte, toByteOffset: length, as: UInt8.self)
    length += 1
  }

  private func put(_ bytes: UnsafeRawBufferPointer) {
    guard let base = bytes.baseAddress else { return }
    (memory + length).copyMemory(from: base, byteCount: bytes.count)
    length += bytes.count
  }

  /// Zeros up to a multiple of four; at least one after a string.
  private func pad(always: Bool) {
    if always { put(0) }
    while length % 4 != 0 { put(0) }
  }
}

extension OSCMessage {
  /// The message on the wire.
  public func encoded(limit: Int = OSCLimits.streamPacketBytes) throws(OSCEncodingError) -> [UInt8] {
    let encoder = OSCEncoder()
    defer { withExtendedLifetime(encoder) {} }
    return [UInt8](try encoder.encode(self, limit: limit))
  }
}

extension OSCArgument {
  /// The character that stands for the type on the wire.
  fileprivate var typeTag: UInt8 {
    switch self {
    case .int32: UInt8(ascii: "i")
    case .int64: UInt8(ascii: "h")
    case .float: UInt8(ascii: "f")
    case .double: UInt8(ascii: "d")
    case .string: UInt8(ascii: "s")
    case .symbol: UInt8(ascii: "S")
    case .blob: UInt8(ascii: "b")
    case .character: UInt8(ascii: "c")
    case .timeTag: UInt8(ascii: "t")
    case .midi: UInt8(ascii: "m")
    case .true: UInt8(ascii: "T")
    case .false: UInt8(ascii: "F")
    case .nil: UInt8(ascii: "N")
    case .impulse: UInt8(ascii: "I")
    }
  }
}
