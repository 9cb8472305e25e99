import BacklineEngine
import CBackline
import Glibc

/// The sockets of OSC: UDP and TCP on one port of one address, watched on the control queue.
///
/// Only what has passed all checks reaches the handler. Answers leave from the listening socket, over TCP in the framing
/// of the request. Opening throws before anything else of the program needs to run; datagrams that come between opening
/// and `start` wait in the kernel. All but `init`, `port` and `deinit` is for the control queue.
public final class OSCServer: @unchecked Sendable {
  // Why unchecked: everything that changes is confined to the control queue.

  /// What a packet is handed to. The view is good for the length of the call only.
  public typealias PacketHandler = @Sendable (_ packet: OSCPacketView, _ peer: OSCPeer) -> Void
  public typealias PeerHandler = @Sendable (_ peer: OSCPeer) -> Void

  let executor: ControlExecutor
  let sockets: OSCSockets
  let encoder = OSCEncoder()
  var counters = OSCServerCounters()
  var clients: [UInt64: OSCStreamClient] = [:]
  var onPacket: PacketHandler = { _, _ in }
  var onPeerGone: PeerHandler = { _ in }
  var isOpen = true
  private var gonePeers: Set<OSCPeer> = []

  /// Where answers go that do not go back to their sender; `/reply/port` writes here.
  public var replyPorts = ReplyPorts()

  let batch: OpaquePointer
  let streamBuffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 65_536, alignment: 16)
  var kernelDropsSeen: UInt32 = 0
  var nextConnection: UInt64 = 1
  /// A descriptor to give up where there is none left to accept a connection with, so that it can be refused.
  var reserveDescriptor = open("/dev/null", O_RDONLY | O_CLOEXEC)
  private let log: @Sendable (String) -> Void
  var refusalAnswers = AnswerLimiter()
  private var refusalLog = LogLimiter()
  private var troubleLog = LogLimiter()

  /// Opens the sockets: on loopback unless told otherwise, on a port that is free for both where it is 0.
  public init(
    executor: ControlExecutor, bind address: String = "127.0.0.1", port: UInt16,
    log: @escaping @Sendable (String) -> Void = { _ in }
  ) throws(OSCServerError) {
    sockets = try OSCSockets(bind: address, port: port)
    guard let batch = backline_batch_create(64) else { throw .system(ENOMEM) }
    self.batch = batch
    self.executor = executor
    self.log = log
  }

  /// A server that hears nobody and answers nobody, for commands that come from elsewhere (`CommandRouter.perform(script:)`).
  public init(unconnected executor: ControlExecutor) throws(OSCServerError) {
    sockets = OSCSockets()
    guard let batch = backline_batch_create(1) else { throw .system(ENOMEM) }
    self.batch = batch
    self.executor = executor
    log = { _ in }
    isOpen = false
  }

  deinit {
    backline_batch_free(batch)
    streamBuffer.deallocate()
    if reserveDescriptor >= 0 { close(reserveDescriptor) }
  }

  /// The port of both sockets.
  public var port: UInt16 { sockets.port }

  /// What the server has seen and lost.
  public var statistics: OSCServerCounters { counters }

  /// The TCP connections that are open.
  public var clientCount: Int { clients.count }

  /// Begins to receive. `onPeerGone` is told of each TCP connection that has ended and each UDP peer whose port has
  /// refused an answer, in a turn of the queue of its own.
  public func start(onPacket: @escaping PacketHandler, onPeerGone: @escaping PeerHandler = { _ in }) {
    if !isOpen { return }
    self.onPacket = onPacket
    self.onPeerGone = onPeerGone
    executor.watch(sockets.datagram) { [weak self] in self?.receiveDatagrams() }
    executor.watch(sockets.listener) { [weak self] in self?.acceptClients() }
  }

  /// Ends reception and all connections and gives the port back. No handler is called any more.
  public func shutdown() {
    if !isOpen { return }
    isOpen = false
    executor.unwatch(sockets.datagram)
    executor.unwatch(sockets.listener)
    for client in clients.values { stop(client) }
    clients.removeAll()
    sockets.close()
    onPacket = { _, _ in }
    onPeerGone = { _ in }
  }

  // MARK: Peers

  /// Ends a TCP connection and tells so.
  func drop(_ client: OSCStreamClient) {
    guard let connection = client.peer.connection, clients.removeValue(forKey: connection) != nil else { return }
    stop(client)
    tellGone(client.peer)
  }

  private func stop(_ client: OSCStreamClient) {
    executor.unwatch(client.descriptor)
    executor.unwatchWritable(client.descriptor)
    client.close()
  }

  func tellGone(_ peer: OSCPeer) {
    // Why a turn of its own: it happens in the middle of sending, when those who send are not ready for changes.
    let isFirst = gonePeers.isEmpty
    gonePeers.insert(peer)
    if isFirst { executor.schedule(after: 0) { [weak self] in self?.tellGonePeers() } }
  }

  private func tellGonePeers() {
    let peers = gonePeers
    gonePeers.removeAll()
    for peer in peers { onPeerGone(peer) }
  }

  // MARK: Log

  /// Counts a refused packet; logs at most one a second.
  func refuse(_ reason: @autoclosure () -> String, from peer: OSCPeer) {
    counters.malformedPackets += 1
    if let line = refusalLog.pass("OSC packet from \(peer) refused: \(reason())") { log(line) }
  }

  /// Logs another trouble, at most one a second.
  func report(_ trouble: @autoclosure () -> String) {
    if let line = troubleLog.pass(trouble()) { log(line) }
  }
}
