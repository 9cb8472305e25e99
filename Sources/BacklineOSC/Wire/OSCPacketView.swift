/// A packet that has been checked whole, read in place: one message, or the messages of a bundle.
///
/// Good only for as long as the bytes are; see `OSCMessageView`.
public struct OSCPacketView {
  /// The bytes of the packet.
  public let bytes: UnsafeRawBufferPointer
  /// The outermost bundle's time tag as NTP seconds and fractions (1 means now); `nil` for a single message.
  public let timeTag: UInt64?

  /// Checks the packet, or says why it is refused.
  public init(
    validating bytes: UnsafeRawBufferPointer, limit: Int = OSCLimits.streamPacketBytes
  ) throws(OSCPacketError) {
    try OSCValidator.validate(bytes, limit: limit)
    self.bytes = bytes
    timeTag = bytes.baseAddress.flatMap { OSCBytes.isBundle($0, bytes.count) ? OSCBytes.uint64($0 + 8) : nil }
  }

  /// True for a bundle, even an empty one.
  public var isBundle: Bool { timeTag != nil }

  /// The messages in the order in which they stand, those of nested bundles among the others.
  public var messages: Messages { Messages(bytes) }

  /// Walks over the messages of a packet.
  public struct Messages: Sequence, IteratorProtocol {
    private let bytes: UnsafeRawBufferPointer
    private var position: Int

    init(_ bytes: UnsafeRawBufferPointer) {
      self.bytes = bytes
      position = bytes.baseAddress.map { OSCBytes.isBundle($0, bytes.count) ? 16 : 0 } ?? bytes.count
    }

    /// The coming message; `nil` after the last.
    public mutating func next() -> OSCMessageView? {
      guard let base = bytes.baseAddress else { return nil }
      if position == 0 {
        position = bytes.count
        return OSCMessageView(validated: bytes)
      }
      while position < bytes.count {
        let size = Int(OSCBytes.uint32(base + position))
        let content = position + 4
        if OSCBytes.isBundle(base + content, size) {
          // Elements of a nested bundle follow its header directly, so going on behind the header flattens it.
          position = content + 16
        } else {
          position = content + size
          return OSCMessageView(validated: UnsafeRawBufferPointer(start: base + content, count: size))
        }
      }
      return nil
    }
  }
}
