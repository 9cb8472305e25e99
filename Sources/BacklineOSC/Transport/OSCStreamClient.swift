import CBackline
import Glibc

/// One TCP connection: its framing, and what waits to be sent. Used on the control queue only.
final class OSCStreamClient {
  enum SendResult {
    case sent, waiting
    /// The peer has fallen behind by more than the limit.
    case tooSlow
    case failed
  }

  let peer: OSCPeer
  let descriptor: Int32
  /// What the peer speaks; OSC 1.0's framing until it has spoken. Beside the decoder, since answers are sent while that works.
  private var framing = OSCStreamFraming.lengthPrefix
  private var decoder = OSCStreamDecoder()
  private(set) var isOpen = true
  private var outgoing: [UInt8] = []
  private var sentCount = 0

  init(descriptor: Int32, peer: OSCPeer) {
    self.descriptor = descriptor
    self.peer = peer
  }

  deinit { close() }

  /// The bytes that wait to be sent.
  var waitingCount: Int { outgoing.count - sentCount }

  func close() {
    if !isOpen { return }
    isOpen = false
    Glibc.close(descriptor)
  }

  /// Takes apart what has been received; the handler may send, and may close the connection.
  func receive(_ bytes: UnsafeRawBufferPointer, _ handler: (OSCStreamEvent) -> Void) {
    if decoder.framing == nil, let first = bytes.first { framing = .detect(first) }
    decoder.receive(bytes) { event in
      if isOpen { handler(event) }
    }
  }

  /// Sends a packet in the framing that the peer speaks, as far as the connection takes it at once; keeps the rest.
  func send(_ packet: UnsafeRawBufferPointer) -> SendResult {
    if !isOpen { return .failed }
    // What waits is measured before the packet, so that a large one does not count as a slow reader.
    if waitingCount > OSCLimits.outgoingBytes { return .tooSlow }
    framing.encode(packet, into: &outgoing)
    return flush()
  }

  /// Sends what waits.
  func flush() -> SendResult {
    while isOpen && sentCount < outgoing.count {
      let result = outgoing.withUnsafeBytes { bytes -> Int64 in
        guard let base = bytes.baseAddress else { return 0 }
        return backline_send_stream(descriptor, base + sentCount, bytes.count - sentCount)
      }
      if result == -Int64(EAGAIN) { break }
      if result < 0 { return .failed }
      sentCount += Int(result)
    }
    if sentCount == outgoing.count {
      outgoing.removeAll(keepingCapacity: outgoing.capacity <= 65_536)
      sentCount = 0
      return .sent
    }
    if sentCount > OSCLimits.outgoingBytes {
      outgoing.removeFirst(sentCount)
      sentCount = 0
    }
    return .waiting
  }
}
