import CLiblo
import Glibc

/// One argument of a message, by value: the types of OSC 1.0 and those of its customary extensions that liblo knows.
///
/// Colours (`r`) and arrays (`[`, `]`) are refused on the wire, saying so.
public enum OSCArgument: Hashable, Sendable {
  case int32(Int32)
  case int64(Int64)
  case float(Float)
  case double(Double)
  case string(String)
  case symbol(String)
  case blob([UInt8])
  /// An ASCII character.
  case character(UInt8)
  /// NTP seconds and fractions.
  case timeTag(UInt64)
  /// Port, status and two data bytes, the port in the highest byte.
  case midi(UInt32)
  case `true`
  case `false`
  case `nil`
  case impulse
}

/// A message by value.
public struct OSCMessage: Hashable, Sendable {
  public var address: String
  public var arguments: [OSCArgument]

  public init(_ address: String, _ arguments: [OSCArgument] = []) {
    self.address = address
    self.arguments = arguments
  }

  public init(_ address: String, _ arguments: OSCArgument...) {
    self.init(address, arguments)
  }
}

extension OSCMessage {
  /// Decodes a validated message through liblo.
  init(decoding view: OSCMessageView) {
    self.init(view.addressText, [])
    // Why: what a message without type tags says is known already, and liblo would refuse it.
    if view.typeTags.isEmpty { return }
    var result: Int32 = 0
    let source = UnsafeMutableRawPointer(mutating: view.bytes.baseAddress)
    guard let message = lo_message_deserialise(source, view.bytes.count, &result) else {
      // Only want of memory is left as a reason after the validator, and Swift could not go on either.
      preconditionFailure("liblo refused a validated message: \(result)")
    }
    defer { lo_message_free(message) }
    let values = lo_message_get_argv(message)
    arguments.reserveCapacity(view.typeTags.count)
    for (index, tag) in view.typeTags.enumerated() {
      arguments.append(OSCArgument(tag: tag, value: values?[index].map { UnsafeRawPointer($0) }))
    }
  }
}

extension OSCArgument {
  /// An argument as liblo lays it out: numbers in the machine's order, on any multiple of four bytes.
  fileprivate init(tag: UInt8, value: UnsafeRawPointer?) {
    switch (tag, value) {
    case (UInt8(ascii: "i"), let value?): self = .int32(value.loadUnaligned(as: Int32.self))
    case (UInt8(ascii: "f"), let value?): self = .float(value.loadUnaligned(as: Float.self))
    case (UInt8(ascii: "h"), let value?): self = .int64(value.loadUnaligned(as: Int64.self))
    case (UInt8(ascii: "d"), let value?): self = .double(value.loadUnaligned(as: Double.self))
    case (UInt8(ascii: "s"), let value?): self = .string(Self.text(value))
    case (UInt8(ascii: "S"), let value?): self = .symbol(Self.text(value))
    case (UInt8(ascii: "b"), let value?):
      let blob = UnsafeMutableRawPointer(mutating: value)
      let bytes = UnsafeRawBufferPointer(start: lo_blob_dataptr(blob), count: Int(lo_blob_datasize(blob)))
      self = .blob([UInt8](bytes))
    case (UInt8(ascii: "c"), let value?): self = .character(UInt8(value.loadUnaligned(as: UInt32.self) & 0x7F))
    case (UInt8(ascii: "t"), let value?):
      let tag = value.loadUnaligned(as: lo_timetag.self)
      self = .timeTag(UInt64(tag.sec) << 32 | UInt64(tag.frac))
    case (UInt8(ascii: "m"), let value?): self = .midi(OSCBytes.uint32(value))
    case (UInt8(ascii: "T"), _): self = .true
    case (UInt8(ascii: "F"), _): self = .false
    case (UInt8(ascii: "I"), _): self = .impulse
    default: self = .nil
    }
  }

  private static func text(_ value: UnsafeRawPointer) -> String {
    OSCBytes.string(
      UnsafeBufferPointer(start: value.assumingMemoryBound(to: UInt8.self), count: OSCBytes.length(value)))
  }
}
