/// One argument inside a validated packet. Text and blobs point into it, and are good for as long as it is.
public enum OSCArgumentView {
  case int32(Int32)
  case int64(Int64)
  case float(Float)
  case double(Double)
  case string(UnsafeBufferPointer<UInt8>)
  case symbol(UnsafeBufferPointer<UInt8>)
  case blob(UnsafeRawBufferPointer)
  case character(UInt8)
  case timeTag(UInt64)
  case midi(UInt32)
  case `true`
  case `false`
  case `nil`
  case impulse
}

/// Reads the arguments of a message one after the other, without allocating.
public struct OSCArgumentReader {
  private var tag: UnsafeRawPointer
  private let lastTag: UnsafeRawPointer
  private var data: UnsafeRawPointer

  init(tags: UnsafeBufferPointer<UInt8>, data: UnsafeRawPointer) {
    tag = tags.baseAddress.map { UnsafeRawPointer($0) } ?? data
    lastTag = tag + tags.count
    self.data = data
  }

  /// The coming argument; `nil` after the last.
  public mutating func next() -> OSCArgumentView? {
    if tag == lastTag { return nil }
    let type = tag.load(as: UInt8.self)
    tag += 1
    switch type {
    case UInt8(ascii: "i"): return .int32(Int32(bitPattern: take32()))
    case UInt8(ascii: "f"): return .float(Float(bitPattern: take32()))
    case UInt8(ascii: "d"): return .double(Double(bitPattern: take64()))
    case UInt8(ascii: "h"): return .int64(Int64(bitPattern: take64()))
    case UInt8(ascii: "s"): return .string(takeString())
    case UInt8(ascii: "S"): return .symbol(takeString())
    case UInt8(ascii: "b"): return .blob(takeBlob())
    case UInt8(ascii: "T"): return .true
    case UInt8(ascii: "F"): return .false
    case UInt8(ascii: "N"): return .nil
    case UInt8(ascii: "I"): return .impulse
    case UInt8(ascii: "c"): return .character(UInt8(truncatingIfNeeded: take32()))
    case UInt8(ascii: "t"): return .timeTag(take64())
    case UInt8(ascii: "m"): return .midi(take32())
    default: preconditionFailure("a type that the validator refuses")
    }
  }

  @inline(__always)
  private mutating func take32() -> UInt32 {
    defer { data += 4 }
    return OSCBytes.uint32(data)
  }

  @inline(__always)
  private mutating func take64() -> UInt64 {
    defer { data += 8 }
    return OSCBytes.uint64(data)
  }

  private mutating func takeString() -> UnsafeBufferPointer<UInt8> {
    let length = OSCBytes.length(data)
    defer { data += OSCBytes.padded(length) }
    return UnsafeBufferPointer(start: data.assumingMemoryBound(to: UInt8.self), count: length)
  }

  private mutating func takeBlob() -> UnsafeRawBufferPointer {
    let size = Int(OSCBytes.uint32(data))
    defer { data += 4 + OSCBytes.paddedBlob(size) }
    return UnsafeRawBufferPointer(start: data + 4, count: size)
  }
}
