import CLiblo
import Glibc

/// Why a message cannot be put on the wire.
public enum OSCEncodingError: Error, Equatable, Sendable {
  /// An address begins with `/`.
  case invalidAddress(String)
  /// A string of OSC ends at its first NUL, so none may be inside.
  case nulInString
  case notASCII(UInt8)
  case tooLong(bytes: Int, limit: Int)
  case outOfMemory
}

extension OSCEncodingError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .invalidAddress(let address): "'\(address)' is no OSC address; it has to begin with /"
    case .nulInString: "a string with a NUL inside cannot be sent"
    case .notASCII(let code): "the character \(code) is not ASCII"
    case .tooLong(let bytes, let limit): "the message has \(bytes) bytes, more than the limit of \(limit)"
    case .outOfMemory: "no memory for the message"
    }
  }
}

/// Puts messages into bytes through liblo, into memory that is used again from one message to the next.
final class OSCEncoder {
  private var memory: UnsafeMutableRawPointer
  private var capacity = 1024

  init() { memory = .allocate(byteCount: capacity, alignment: 16) }

  deinit { memory.deallocate() }

  /// The message on the wire; good until the next call, and for as long as the encoder is kept.
  func encode(
    _ message: OSCMessage, limit: Int = OSCLimits.streamPacketBytes
  ) throws(OSCEncodingError) -> UnsafeRawBufferPointer {
    if !message.address.utf8.starts(with: [UInt8(ascii: "/")]) { throw .invalidAddress(message.address) }
    if message.address.utf8.contains(0) { throw .nulInString }
    guard let built = lo_message_new() else { throw .outOfMemory }
    defer { lo_message_free(built) }
    for argument in message.arguments { try add(argument, to: built, limit: limit) }
    let length = lo_message_length(built, message.address)
    if length > limit { throw .tooLong(bytes: length, limit: limit) }
    if length > capacity {
      memory.deallocate()
      while capacity < length { capacity *= 2 }
      memory = .allocate(byteCount: capacity, alignment: 16)
    }
    var written = length
    guard lo_message_serialise(built, message.address, memory, &written) != nil else { throw .outOfMemory }
    return UnsafeRawBufferPointer(start: memory, count: written)
  }

  private func add(_ argument: OSCArgument, to message: lo_message, limit: Int) throws(OSCEncodingError) {
    let code: Int32
    switch argument {
    case .int32(let value): code = lo_message_add_int32(message, value)
    case .int64(let value): code = lo_message_add_int64(message, value)
    case .float(let value): code = lo_message_add_float(message, value)
    case .double(let value): code = lo_message_add_double(message, value)
    case .string(let text):
      try check(text, limit)
      code = lo_message_add_string(message, text)
    case .symbol(let text):
      try check(text, limit)
      code = lo_message_add_symbol(message, text)
    case .blob(let bytes): code = try addBlob(bytes, to: message, limit: limit)
    case .character(let value):
      if value > 0x7F { throw .notASCII(value) }
      code = lo_message_add_char(message, CChar(value))
    case .timeTag(let value):
      code = lo_message_add_timetag(
        message, lo_timetag(sec: UInt32(value >> 32), frac: UInt32(truncatingIfNeeded: value)))
    case .midi(let value):
      var bigEndian = value.bigEndian
      code = withUnsafeMutableBytes(of: &bigEndian) { bytes in
        lo_message_add_midi(message, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self))
      }
    case .true: code = lo_message_add_true(message)
    case .false: code = lo_message_add_false(message)
    case .nil: code = lo_message_add_nil(message)
    case .impulse: code = lo_message_add_infinitum(message)
    }
    if code != 0 { throw .outOfMemory }
  }

  private func check(_ text: String, _ limit: Int) throws(OSCEncodingError) {
    if text.utf8.count > limit { throw .tooLong(bytes: text.utf8.count, limit: limit) }
    if text.utf8.contains(0) { throw .nulInString }
  }

  private func addBlob(_ bytes: [UInt8], to message: lo_message, limit: Int) throws(OSCEncodingError) -> Int32 {
    if bytes.count > limit { throw .tooLong(bytes: bytes.count, limit: limit) }
    if bytes.isEmpty {
      // lo_blob_new refuses an empty blob, though the format has it; a blob is its size followed by its bytes.
      var empty: UInt64 = 0
      return lo_message_add_blob(message, &empty)
    }
    guard let blob = lo_blob_new(Int32(bytes.count), bytes) else { throw .outOfMemory }
    defer { lo_blob_free(blob) }
    return lo_message_add_blob(message, blob)
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
