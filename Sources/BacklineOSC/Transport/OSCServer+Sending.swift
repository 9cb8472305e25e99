import BacklineEngine
import CBackline

extension OSCServer {
  /// Sends a message to a peer, or to the port that it has named with `/reply/port`.
  ///
  /// Never waits. What has no room is lost and counted on UDP; on TCP it waits for the reader, up to a limit, at which the
  /// connection ends. A message too long for the peer is answered by an error that says so.
  public func send(_ message: OSCMessage, to peer: OSCPeer) {
    sendDirectly(message, to: replyPorts.destination(for: peer))
  }

  /// Sends a message to a destination itself, whatever reply port one who sends from there has named for its own answers.
  public func sendDirectly(_ message: OSCMessage, to destination: OSCPeer) {
    assert(executor.isCurrent, "the encoder's bytes belong to the control queue")
    if !isOpen { return }
    do throws(OSCEncodingError) {
      send(try encoder.encode(message, limit: destination.packetLimit), directlyTo: destination)
    } catch {
      counters.unsentMessages += 1
      report("OSC: no answer to \(destination): \(error)")
      sendInstead(of: message, reason: error, to: destination)
    }
  }

  /// Refuses a command.
  public func sendError(_ error: EngineError, for address: String, id: OSCArgument? = nil, to peer: OSCPeer) {
    send(OSCReply.error(to: address, id: id, error), to: peer)
  }

  /// Answers a command.
  public func sendReply(_ values: [OSCArgument] = [], for address: String, id: OSCArgument? = nil, to peer: OSCPeer) {
    send(OSCReply.reply(to: address, id: id, values), to: peer)
  }

  /// Sends one message to many peers, encoding it once.
  public func send(_ message: OSCMessage, to peers: [OSCPeer]) {
    assert(executor.isCurrent, "the encoder's bytes belong to the control queue")
    if !isOpen || peers.isEmpty { return }
    guard let bytes = try? encoder.encode(message, limit: OSCLimits.datagramBytes) else {
      // Rare: too long for UDP, or not to be encoded; each peer is told so or gets it over TCP.
      for peer in peers { send(message, to: peer) }
      return
    }
    for peer in peers { send(bytes, directlyTo: replyPorts.destination(for: peer)) }
  }

  /// Sends an encoded packet.
  private func send(_ bytes: UnsafeRawBufferPointer, directlyTo peer: OSCPeer) {
    if let connection = peer.connection {
      if let client = clients[connection] { send(bytes, to: client) } else { counters.unsentMessages += 1 }
      return
    }
    guard let base = bytes.baseAddress else { return }
    var address = peer.address
    let code = backline_send_datagram(sockets.datagram, base, bytes.count, &address)
    if code != 0 {
      counters.unsentMessages += 1
      report("OSC: no answer to \(peer): \(OSCServerError.system(-code))")
    }
  }

  private func send(_ bytes: UnsafeRawBufferPointer, to client: OSCStreamClient) {
    switch client.send(bytes) {
    case .sent: break
    case .waiting:
      executor.watchWritable(client.descriptor) { [weak self, peer = client.peer] in self?.flush(peer) }
    case .tooSlow:
      counters.slowClients += 1
      counters.unsentMessages += 1
      report("OSC: \(client.peer) reads too slowly and is disconnected")
      drop(client)
    case .failed:
      counters.unsentMessages += 1
      drop(client)
    }
  }

  private func flush(_ peer: OSCPeer) {
    guard let connection = peer.connection, let client = clients[connection] else { return }
    switch client.flush() {
    case .sent: executor.unwatchWritable(client.descriptor)
    case .waiting: break
    case .tooSlow, .failed: drop(client)
    }
  }

  /// Each command gets a final answer: where the true one does not fit, an error about that.
  private func sendInstead(of message: OSCMessage, reason: OSCEncodingError, to destination: OSCPeer) {
    let hasID = message.address == "/reply/id" || message.address == "/error/id"
    guard hasID || message.address == "/reply" || message.address == "/error",
      case .string(let address)? = message.arguments.dropFirst(hasID ? 1 : 0).first
    else { return }
    let advice = destination.isStream ? "" : "; ask for a page with FIRST COUNT, or over TCP"
    let error = EngineError(.limitReached, "\(reason)\(advice)")
    // The address may be what was too long.
    let shortened = OSCReply.shortened(address, to: 256)
    let instead = OSCReply.error(to: shortened, id: hasID ? message.arguments.first : nil, error)
    if let bytes = try? encoder.encode(instead, limit: destination.packetLimit) {
      send(bytes, directlyTo: destination)
    }
  }
}
