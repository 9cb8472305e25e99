/// A packet by value: a message, or a bundle of messages that belong together.
public enum OSCPacket: Hashable, Sendable {
  case message(OSCMessage)
  /// The time tag is NTP seconds and fractions; 1 means now. Nested bundles have been flattened under the outermost tag.
  case bundle(timeTag: UInt64, messages: [OSCMessage])

  /// The time tag that means now.
  public static let immediately: UInt64 = 1

  /// The packet in these bytes, or why they are refused.
  public init(parsing bytes: [UInt8], limit: Int = OSCLimits.streamPacketBytes) throws(OSCPacketError) {
    let parsed = bytes.withUnsafeBytes { bytes -> Result<OSCPacket, OSCPacketError> in
      do throws(OSCPacketError) {
        return .success(OSCPacket(try OSCPacketView(validating: bytes, limit: limit)))
      } catch {
        return .failure(error)
      }
    }
    self = try parsed.get()
  }

  /// The packet that a view shows.
  public init(_ view: OSCPacketView) {
    let messages = view.messages.map { $0.message() }
    if let timeTag = view.timeTag {
      self = .bundle(timeTag: timeTag, messages: messages)
    } else {
      self = .message(messages[0])
    }
  }

  /// The packet on the wire.
  public func encoded(limit: Int = OSCLimits.streamPacketBytes) throws(OSCEncodingError) -> [UInt8] {
    switch self {
    case .message(let message):
      return try message.encoded(limit: limit)
    case .bundle(let timeTag, let messages):
      let encoder = OSCEncoder()
      defer { withExtendedLifetime(encoder) {} }
      var bytes: [UInt8] = [UInt8]("#bundle".utf8) + [0]
      withUnsafeBytes(of: timeTag.bigEndian) { bytes.append(contentsOf: $0) }
      for message in messages {
        let element = try encoder.encode(message, limit: limit)
        withUnsafeBytes(of: UInt32(element.count).bigEndian) { bytes.append(contentsOf: $0) }
        bytes.append(contentsOf: element)
        if bytes.count > limit { throw .tooLong(bytes: bytes.count, limit: limit) }
      }
      return bytes
    }
  }
}
