import BacklineOSC

/// Feeds arbitrary bytes to everything that reads bytes from the network: packets (and through them liblo), patterns and
/// stream framing. The first byte chooses. Built and run by `scripts/fuzz`.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>, _ count: Int) -> CInt {
  guard count > 0 else { return 0 }
  let bytes = UnsafeRawBufferPointer(start: data + 1, count: count - 1)
  switch data[0] & 3 {
  case 0: fuzzPattern(bytes)
  case 1: fuzzStream(bytes)
  default: fuzzPacket(bytes)
  }
  return 0
}

/// What is taken must be readable to its end, must decode through liblo, and must be the same after another round trip.
private func fuzzPacket(_ bytes: UnsafeRawBufferPointer) {
  guard let view = try? OSCPacketView(validating: bytes) else { return }
  for message in view.messages {
    var reader = message.arguments
    var count = 0
    while let argument = reader.next() {
      count += 1
      if case .string(let text) = argument { precondition(String(validating: text, as: UTF8.self) != nil) }
    }
    precondition(count == message.argumentCount)
    guard let encoded = try? message.message().encoded(), let again = try? OSCPacket(parsing: encoded),
      let twice = try? again.encoded()
    else { preconditionFailure("a packet that was taken cannot be sent") }
    precondition(encoded == twice)
  }
}

/// The first half is the pattern, the second the address.
private func fuzzPattern(_ bytes: UnsafeRawBufferPointer) {
  let text = bytes.bindMemory(to: UInt8.self)
  let half = text.count / 2
  let address = UnsafeBufferPointer(rebasing: text[half...])
  guard let pattern = try? OSCPattern(UnsafeBufferPointer(rebasing: text[..<half])) else { return }
  let isMatch = pattern.matches(address)
  if pattern.isLiteral { precondition(isMatch == pattern.text.utf8.elementsEqual(address)) }
  if isMatch {
    let slash = UInt8(ascii: "/")
    precondition(address.count { $0 == slash } == pattern.text.utf8.count { $0 == slash })
  }
}

/// However the bytes are cut, the same packets must come out.
private func fuzzStream(_ bytes: UnsafeRawBufferPointer) {
  let limit = 64
  func packets(_ size: Int) -> [[UInt8]] {
    var decoder = OSCStreamDecoder(limit: limit)
    var seen: [[UInt8]] = []
    var position = 0
    while position < bytes.count {
      let end = min(bytes.count, position + size)
      decoder.receive(UnsafeRawBufferPointer(rebasing: bytes[position..<end])) { event in
        switch event {
        case .packet(let packet):
          precondition(packet.count <= limit)
          seen.append(Array(packet))
        case .oversized(let count):
          precondition(count > limit)
          seen.append([1])
        case .invalidEscape: seen.append([2])
        case .broken: seen.append([3])
        }
      }
      position = end
    }
    return seen
  }
  let whole = packets(max(1, bytes.count))
  precondition(packets(1) == whole && packets(3) == whole)
}
