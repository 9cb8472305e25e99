/// The limits of the wire, in one place. What exceeds one is refused with an error that states it.
public enum OSCLimits {
  /// The most bytes of a packet over UDP: what fits into one IPv4 datagram.
  public static let datagramBytes = 65_507
  /// The most bytes of a packet over TCP.
  public static let streamPacketBytes = 1 << 20
  /// How deep bundles may be nested, the outermost counted.
  public static let bundleDepth = 8
  /// The most TCP connections at a time.
  public static let streamClients = 64
  /// The most bytes that wait for one TCP connection; a reader that falls behind further is disconnected.
  public static let outgoingBytes = 1 << 20
  /// The most reply ports that are remembered.
  public static let replyPorts = 1024
  /// The most peers that may subscribe.
  public static let subscribers = 64
  /// The most patterns that one peer may subscribe to.
  public static let patternsPerSubscriber = 64
  /// The most bytes of an address pattern.
  public static let patternBytes = 1024
  /// The most bytes of an error's message; what it quotes may be longer.
  public static let errorMessageBytes = 1024
  /// The most bytes of a command's id.
  public static let idBytes = 256
  /// The least and the longest interval of feedback, in milliseconds.
  public static let feedbackMilliseconds = 5...60_000
}
