/// Where answers go instead of to the sender: what `/reply/port` has said, for each sending address and port.
///
/// Touch controllers send from one port and listen on another of the same host. The table is bounded; the mapping that
/// was made the longest ago makes room.
public struct ReplyPorts {
  private struct Mapping {
    let destination: OSCPeer
    let order: UInt64
  }

  private var mappings: [OSCPeer: Mapping] = [:]
  private var nextOrder: UInt64 = 0
  private let limit: Int

  public init(limit: Int = OSCLimits.replyPorts) { self.limit = limit }

  /// How many senders have one.
  public var count: Int { mappings.count }

  /// Answers to `sender` go to this port of its host from now on. A TCP connection has no other port and stays as it is.
  public mutating func set(_ port: UInt16, for sender: OSCPeer) {
    if sender.isStream { return }
    if port == sender.port {
      mappings[sender] = nil
      return
    }
    if mappings[sender] == nil, mappings.count >= limit,
      let oldest = mappings.min(by: { $0.value.order < $1.value.order })
    {
      mappings[oldest.key] = nil
    }
    mappings[sender] = Mapping(destination: sender.withPort(port), order: nextOrder)
    nextOrder += 1
  }

  /// Where answers to `sender` go.
  public func destination(for sender: OSCPeer) -> OSCPeer {
    mappings.isEmpty ? sender : mappings[sender]?.destination ?? sender
  }

  /// Forgets who is answered at `destination`; returns them.
  public mutating func remove(answeredAt destination: OSCPeer) -> [OSCPeer] {
    let senders = mappings.filter { $0.value.destination == destination }.map(\.key)
    for sender in senders { mappings[sender] = nil }
    return senders
  }
}
