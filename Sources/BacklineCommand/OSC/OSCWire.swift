import BacklineOSC

/// Messages to bytes and back.
protocol OSCWire: Sendable {
  /// The bytes of one packet; wrong usage where the message cannot be sent.
  func encode(_ message: OSCMessage) throws(CommandError) -> [UInt8]
  /// The message in a packet; `nil` where there is none in it.
  func decode(_ packet: [UInt8]) -> OSCMessage?
}
