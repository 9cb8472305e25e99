import BacklineEngine
import CBackline
import Glibc

extension OSCServer {
  // MARK: UDP

  /// Takes one batch of datagrams. What is left makes the socket ready again, after timers and others had their turn.
  func receiveDatagrams() {
    let count = backline_batch_receive(batch, sockets.datagram)
    if count > 0 {
      countDrops()
      for index in 0..<count {
        if !isOpen { return }
        let datagram = backline_batch_datagram(batch, index)
        let bytes = UnsafeRawBufferPointer(start: datagram.bytes, count: datagram.length)
        receive(bytes, from: OSCPeer(datagram.sender), limit: OSCLimits.datagramBytes)
      }
    }
    if isOpen { takeRefusals() }
  }

  private func countDrops() {
    let drops = backline_batch_drops(batch)
    if drops == kernelDropsSeen { return }
    let lost = drops &- kernelDropsSeen
    kernelDropsSeen = drops
    counters.kernelDrops += Int(lost)
    report("OSC: \(lost) datagrams lost, messages come faster than they can be taken")
  }

  /// Learns which destinations have refused datagrams. Has to empty the queue, for it keeps the socket ready.
  private func takeRefusals() {
    var destination = NetworkAddress()
    // Bounded, so that refusals in a stream of their own cannot hold up the queue.
    for _ in 0..<256 {
      switch backline_next_refusal(sockets.datagram, &destination) {
      case 0: return
      case 1:
        let peer = OSCPeer(destination)
        for sender in replyPorts.remove(answeredAt: peer) { tellGone(sender) }
        tellGone(peer)
      default: continue
      }
    }
  }

  // MARK: TCP

  func acceptClients() {
    for _ in 0..<16 {
      let descriptor = backline_accept(sockets.listener)
      if descriptor >= 0 {
        admit(descriptor)
      } else if descriptor == -EMFILE || descriptor == -ENFILE {
        refuseWithoutDescriptor()
        return
      } else if descriptor != -EINTR && descriptor != -ECONNABORTED {
        return
      }
    }
  }

  private func admit(_ descriptor: Int32) {
    let client = OSCStreamClient(descriptor: descriptor, peer: OSCPeer(connection: nextConnection))
    nextConnection += 1
    if clients.count >= OSCLimits.streamClients {
      counters.refusedClients += 1
      report("OSC: TCP connection refused, \(OSCLimits.streamClients) are open")
      // What it speaks is not known, for it has not spoken: OSC 1.0's framing is answered.
      let error = EngineError(
        .limitReached, "\(OSCLimits.streamClients) TCP connections are open; close one, or use UDP")
      if let bytes = try? encoder.encode(OSCReply.error(to: "#connection", error)) { _ = client.send(bytes) }
      // Ending our side first, and taking what has come, lets the answer arrive before the connection is reset.
      Glibc.shutdown(descriptor, Int32(SHUT_WR))
      if let base = streamBuffer.baseAddress { _ = backline_receive_stream(descriptor, base, streamBuffer.count) }
      client.close()
      return
    }
    if let connection = client.peer.connection { clients[connection] = client }
    executor.watch(descriptor) { [weak self, peer = client.peer] in self?.receiveStream(from: peer) }
  }

  /// With no descriptor left, a waiting connection keeps the listener ready for ever; it is taken with a spare, and closed.
  private func refuseWithoutDescriptor() {
    counters.refusedClients += 1
    report("OSC: TCP connection refused, no descriptor is left")
    if reserveDescriptor >= 0 { close(reserveDescriptor) }
    let descriptor = backline_accept(sockets.listener)
    if descriptor >= 0 { close(descriptor) }
    reserveDescriptor = open("/dev/null", O_RDONLY | O_CLOEXEC)
  }

  private func receiveStream(from peer: OSCPeer) {
    guard let connection = peer.connection, let client = clients[connection], let base = streamBuffer.baseAddress
    else { return }
    let count = backline_receive_stream(client.descriptor, base, streamBuffer.count)
    if count == -Int64(EAGAIN) { return }
    if count <= 0 {
      drop(client)
      return
    }
    client.receive(UnsafeRawBufferPointer(start: base, count: Int(count))) { take($0, from: client) }
  }

  private func take(_ event: OSCStreamEvent, from client: OSCStreamClient) {
    switch event {
    case .packet(let bytes):
      receive(bytes, from: client.peer, limit: OSCLimits.streamPacketBytes)
    case .oversized(let bytes):
      counters.oversizedPackets += 1
      let reason = OSCPacketError.tooLong(bytes: bytes, limit: OSCLimits.streamPacketBytes)
      refuse("\(reason)", from: client.peer)
      send(OSCReply.error(to: "#packet", EngineError(.limitReached, "\(reason)")), to: client.peer)
    case .invalidEscape:
      refuse("an escape that SLIP does not know", from: client.peer)
      answerPacket("the frame has an escape that SLIP does not know", to: client.peer)
    case .broken:
      refuse("a length below zero, the connection is closed", from: client.peer)
      answerPacket("a length below zero: the connection is closed", to: client.peer)
      drop(client)
    }
  }

  // MARK: Packets

  private func receive(_ bytes: UnsafeRawBufferPointer, from peer: OSCPeer, limit: Int) {
    let packet: OSCPacketView
    do throws(OSCPacketError) {
      packet = try OSCPacketView(validating: bytes, limit: limit)
    } catch {
      refuse("\(error)", from: peer)
      if error.isAnswerable {
        answer(bytes, refusedFor: error, to: peer)
      } else if !Self.isAnswer(bytes) {
        answerPacket("no OSC packet: \(error)", to: peer)
      }
      return
    }
    counters.packets += 1
    onPacket(packet, peer)
  }

  /// Tells the sender of something that is no packet what is wrong with it, as long as there are few of these.
  private func answerPacket(_ reason: @autoclosure () -> String, to peer: OSCPeer) {
    if refusalAnswers.pass() { send(OSCReply.error(to: "#packet", EngineError(.wrongType, reason())), to: peer) }
  }

  /// True for what begins as an answer does, however broken: two programs must not answer each other for ever.
  private static func isAnswer(_ bytes: UnsafeRawBufferPointer) -> Bool {
    let text = bytes.prefix { $0 != 0 }
    return text.withContiguousStorageIfAvailable { OSCReply.isAnswer($0) } ?? false
  }

  /// Tells the sender of a sound packet with an unsupported value which one it is.
  private func answer(_ bytes: UnsafeRawBufferPointer, refusedFor reason: OSCPacketError, to peer: OSCPeer) {
    guard let base = bytes.baseAddress else { return }
    let text = UnsafeBufferPointer(start: base.assumingMemoryBound(to: UInt8.self), count: OSCBytes.length(base))
    // An address that is itself the trouble cannot be named.
    guard !OSCReply.isAnswer(text), let address = String(validating: text, as: UTF8.self) else { return }
    send(OSCReply.error(to: address, EngineError(.wrongType, "\(reason); nothing of the packet was done")), to: peer)
  }
}
