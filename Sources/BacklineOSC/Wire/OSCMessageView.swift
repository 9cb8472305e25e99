/// A message inside a validated packet, read in place.
///
/// Why not liblo for all: hundreds of thousands of parameter sets a second must fit on one core beside their reception,
/// and liblo copies each message into three blocks of heap memory, to which Swift would add a `String` and an `Array`.
/// So what is ordinary is dispatched from this view, which allocates nothing; `message()` decodes through liblo what is
/// rarer. Good only for as long as the packet is: do not keep it beyond the call that handed it over.
public struct OSCMessageView {
  /// The bytes of the message.
  public let bytes: UnsafeRawBufferPointer
  /// The bytes of the address: UTF-8 that begins with `/`, without terminator.
  public let address: UnsafeBufferPointer<UInt8>
  /// The type tags, one an argument, without the comma.
  public let typeTags: UnsafeBufferPointer<UInt8>

  /// A view of a message that has been validated.
  init(validated bytes: UnsafeRawBufferPointer) {
    self.bytes = bytes
    guard let base = bytes.baseAddress else { preconditionFailure("a message of no bytes") }
    let text = base.assumingMemoryBound(to: UInt8.self)
    let length = OSCBytes.length(base)
    address = UnsafeBufferPointer(start: text, count: length)
    let tags = OSCBytes.padded(length)
    typeTags =
      tags == bytes.count
      ? UnsafeBufferPointer(start: nil, count: 0)
      : UnsafeBufferPointer(start: text + tags + 1, count: OSCBytes.length(base + tags) - 1)
  }

  /// The number of arguments.
  public var argumentCount: Int { typeTags.count }

  /// The arguments, from the first on.
  public var arguments: OSCArgumentReader {
    let tags = OSCBytes.padded(address.count)
    guard let base = bytes.baseAddress else { preconditionFailure("a message of no bytes") }
    let data = typeTags.isEmpty ? base : base + tags + OSCBytes.padded(typeTags.count + 1)
    return OSCArgumentReader(tags: typeTags, data: data)
  }

  /// The address as text; allocates.
  public var addressText: String { OSCBytes.string(address) }

  /// True where the address is just this.
  public func isAddressed(to text: StaticString) -> Bool { OSCBytes.equal(address, text) }

  /// True where the address begins with this.
  public func hasAddressPrefix(_ text: StaticString) -> Bool { OSCBytes.starts(address, with: text) }

  /// True where the address has a character of a pattern in it.
  public var isPattern: Bool { OSCPattern.isPattern(address) }

  /// The message by value, decoded by liblo.
  public func message() -> OSCMessage { OSCMessage(decoding: self) }
}
