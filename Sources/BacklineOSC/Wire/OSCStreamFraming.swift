/// How packets are told apart on a TCP connection.
public enum OSCStreamFraming: Sendable, Equatable {
  /// A big-endian 32-bit length before each packet (OSC 1.0).
  case lengthPrefix
  /// END bytes between packets, escaped inside (SLIP, RFC 1055, with END on both sides as OSC 1.1 has it).
  case slip

  static let end: UInt8 = 0xC0
  static let escape: UInt8 = 0xDB
  static let escapedEnd: UInt8 = 0xDC
  static let escapedEscape: UInt8 = 0xDD

  /// What a connection speaks, told from its first byte.
  ///
  /// A SLIP stream begins with END or, where only the ends are marked, with the first byte of a packet, `/` or `#`. As the
  /// first byte of a length these would mean packets of more than 500 MiB, which no sender means.
  static func detect(_ first: UInt8) -> OSCStreamFraming {
    switch first {
    case end, UInt8(ascii: "/"), UInt8(ascii: "#"): .slip
    default: .lengthPrefix
    }
  }

  /// Appends a packet in its frame.
  public func encode(_ packet: UnsafeRawBufferPointer, into bytes: inout [UInt8]) {
    switch self {
    case .lengthPrefix:
      withUnsafeBytes(of: UInt32(packet.count).bigEndian) { bytes.append(contentsOf: $0) }
      bytes.append(contentsOf: packet)
    case .slip:
      bytes.append(Self.end)
      for byte in packet {
        switch byte {
        case Self.end:
          bytes.append(Self.escape)
          bytes.append(Self.escapedEnd)
        case Self.escape:
          bytes.append(Self.escape)
          bytes.append(Self.escapedEscape)
        default: bytes.append(byte)
        }
      }
      bytes.append(Self.end)
    }
  }
}

/// What a stream held.
public enum OSCStreamEvent {
  /// A packet, not yet checked; the bytes are good for the length of the call.
  case packet(UnsafeRawBufferPointer)
  /// A packet longer than the limit, skipped; at least this many bytes.
  case oversized(bytes: Int)
  /// A SLIP frame with an escape that means nothing, skipped.
  case invalidEscape
  /// A length below zero: nothing that follows can be told apart, so the connection has to be closed.
  case broken
}

/// Takes the bytes of one TCP connection apart, in whatever pieces they come.
public struct OSCStreamDecoder {
  /// What the connection speaks; `nil` before its first byte.
  public private(set) var framing: OSCStreamFraming?
  private let limit: Int
  /// What has come of the packet under way (with its length before it under `lengthPrefix`).
  private var partial: [UInt8] = []
  /// Bytes of an oversized packet that are still to be skipped.
  private var skipping = 0
  private var isEscaped = false
  private var isInvalid = false
  private var isBroken = false
  /// The bytes of a SLIP frame, counted beyond the limit too.
  private var frameLength = 0

  public init(limit: Int = OSCLimits.streamPacketBytes) { self.limit = limit }

  /// Takes what has been received; calls `handler` for each packet that is complete.
  public mutating func receive(_ bytes: UnsafeRawBufferPointer, _ handler: (OSCStreamEvent) -> Void) {
    guard let first = bytes.first, !isBroken else { return }
    if framing == nil { framing = .detect(first) }
    if framing == .slip { receiveSLIP(bytes, handler) } else { receiveLengthPrefixed(bytes, handler) }
  }

  // MARK: Length prefix

  private mutating func receiveLengthPrefixed(_ bytes: UnsafeRawBufferPointer, _ handler: (OSCStreamEvent) -> Void) {
    var rest = bytes[...]
    while !rest.isEmpty && !isBroken {
      if skipping > 0 {
        let count = min(skipping, rest.count)
        skipping -= count
        rest = rest.dropFirst(count)
      } else if partial.isEmpty, let size = Self.length(rest), size >= 0, size <= limit, rest.count >= 4 + size {
        // Why: a packet that has come whole is handed over where it lies, without a copy.
        handler(.packet(UnsafeRawBufferPointer(rebasing: rest.dropFirst(4).prefix(size))))
        rest = rest.dropFirst(4 + size)
      } else {
        collect(&rest, handler)
      }
    }
  }

  /// Takes bytes of a packet that comes in pieces.
  private mutating func collect(
    _ rest: inout Slice<UnsafeRawBufferPointer>, _ handler: (OSCStreamEvent) -> Void
  ) {
    if partial.count < 4 {
      let count = min(4 - partial.count, rest.count)
      partial.append(contentsOf: rest.prefix(count))
      rest = rest.dropFirst(count)
      if partial.count < 4 { return }
    }
    guard let size = Self.length(partial) else { return }
    if size < 0 {
      isBroken = true
      partial = []
      handler(.broken)
    } else if size > limit {
      partial.removeAll()
      skipping = size
      handler(.oversized(bytes: size))
    } else {
      let count = min(4 + size - partial.count, rest.count)
      partial.append(contentsOf: rest.prefix(count))
      rest = rest.dropFirst(count)
      if partial.count == 4 + size { finish(from: 4, handler) }
    }
  }

  private static func length<Bytes: Collection<UInt8>>(_ bytes: Bytes) -> Int? {
    if bytes.count < 4 { return nil }
    return Int(Int32(bitPattern: bytes.prefix(4).reduce(0) { $0 << 8 | UInt32($1) }))
  }

  // MARK: SLIP

  private mutating func receiveSLIP(_ bytes: UnsafeRawBufferPointer, _ handler: (OSCStreamEvent) -> Void) {
    for byte in bytes {
      if byte == OSCStreamFraming.end {
        endFrame(handler)
      } else if isEscaped {
        isEscaped = false
        switch byte {
        case OSCStreamFraming.escapedEnd: append(OSCStreamFraming.end)
        case OSCStreamFraming.escapedEscape: append(OSCStreamFraming.escape)
        default: isInvalid = true
        }
      } else if byte == OSCStreamFraming.escape {
        isEscaped = true
      } else {
        append(byte)
      }
    }
  }

  private mutating func append(_ byte: UInt8) {
    frameLength += 1
    if frameLength <= limit { partial.append(byte) }
  }

  private mutating func endFrame(_ handler: (OSCStreamEvent) -> Void) {
    let length = frameLength
    let isWrong = isInvalid || isEscaped
    frameLength = 0
    isInvalid = false
    isEscaped = false
    if length > limit {
      partial = []
      handler(.oversized(bytes: length))
    } else if isWrong {
      partial.removeAll(keepingCapacity: partial.capacity <= Self.keptCapacity)
      handler(.invalidEscape)
    } else if length > 0 {
      // An empty frame is the END before a packet that follows the END after another.
      finish(from: 0, handler)
    }
  }

  // MARK: Both

  private static let keptCapacity = 65_536

  private mutating func finish(from offset: Int, _ handler: (OSCStreamEvent) -> Void) {
    var packet: [UInt8] = []
    swap(&packet, &partial)
    packet.withUnsafeBytes { handler(.packet(UnsafeRawBufferPointer(rebasing: $0[offset...]))) }
    // Memory that a rare large packet needed is given back.
    packet.removeAll(keepingCapacity: packet.capacity <= Self.keptCapacity)
    partial = packet
  }
}
