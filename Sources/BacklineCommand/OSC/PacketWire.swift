import BacklineOSC

/// The wire as the rack speaks it.
struct PacketWire: OSCWire {
  func encode(_ message: OSCMessage) throws(CommandError) -> [UInt8] {
    do {
      return try OSCPacket.message(message).encoded(limit: OSCLimits.datagramBytes)
    } catch {
      throw .usage("\(message.address) cannot be sent: \(error)")
    }
  }

  func decode(_ packet: [UInt8]) -> OSCMessage? {
    guard case .message(let message)? = try? OSCPacket(parsing: packet) else { return nil }
    return message
  }
}
