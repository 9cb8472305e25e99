/// What the server has seen and lost since it was opened.
public struct OSCServerCounters: Sendable, Equatable {
  /// Packets that passed all checks.
  public var packets = 0
  /// Packets that were refused, the oversized among them.
  public var malformedPackets = 0
  /// Packets on TCP that were longer than the limit.
  public var oversizedPackets = 0
  /// Datagrams that the kernel dropped since its buffer was full.
  public var kernelDrops = 0
  /// Messages that could not be sent: no room, no way, too long.
  public var unsentMessages = 0
  /// TCP connections beyond the limit.
  public var refusedClients = 0
  /// TCP connections that were ended since their peer read too slowly.
  public var slowClients = 0
}
