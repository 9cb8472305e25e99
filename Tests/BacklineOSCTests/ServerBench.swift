import BacklineEngine
import Foundation
import Glibc
import Synchronization
import Testing

@testable import BacklineOSC

/// A server on a port of its own whose handler answers `/ping` with what came, `/sum` with the sum of a blob's bytes, and
/// keeps everything else.
final class ServerBench: @unchecked Sendable {
  let executor: ControlExecutor
  let server: OSCServer
  private let state = Mutex(State())

  private struct State {
    var kept: [OSCMessage] = []
    var gone: [OSCPeer] = []
    var senders: [OSCPeer] = []
  }

  init(bind address: String = "127.0.0.1") throws {
    let lines = Lines()
    executor = try ControlExecutor()
    server = try OSCServer(executor: executor, bind: address, port: 0) { lines.append($0) }
    self.lines = lines
    onQueue { [self] in
      server.start(
        onPacket: { [unowned self] in take($0, $1) },
        onPeerGone: { [unowned self] peer in state.withLock { $0.gone.append(peer) } })
    }
  }

  private let lines: Lines

  private final class Lines: Sendable {
    let all = Mutex<[String]>([])
    func append(_ line: String) { all.withLock { $0.append(line) } }
  }

  var log: [String] { lines.all.withLock { $0 } }
  var kept: [OSCMessage] { state.withLock { $0.kept } }
  var gone: [OSCPeer] { state.withLock { $0.gone } }
  var senders: [OSCPeer] { state.withLock { $0.senders } }
  var port: UInt16 { server.port }
  var counters: OSCServerCounters { onQueue { self.server.statistics } }

  private func take(_ packet: OSCPacketView, _ peer: OSCPeer) {
    for view in packet.messages {
      if OSCReply.isAnswer(view.address) { continue }
      let message = view.message()
      switch message.address {
      case "/ping": server.sendReply(message.arguments, for: "/ping", to: peer)
      case "/sum":
        guard case .blob(let bytes)? = message.arguments.first else { continue }
        let sum = bytes.reduce(Int64(0)) { $0 + Int64($1) }
        server.sendReply([.int64(sum), .int32(Int32(bytes.count))], for: "/sum", to: peer)
      case "/large":
        guard case .int32(let size)? = message.arguments.first else { continue }
        server.sendReply([.blob([UInt8](repeating: 0xC0, count: Int(size)))], for: "/large", to: peer)
      case "/reply/port":
        guard case .int32(let port)? = message.arguments.first else { continue }
        server.replyPorts.set(UInt16(clamping: port), for: peer)
      default:
        state.withLock {
          $0.kept.append(message)
          $0.senders.append(peer)
        }
      }
    }
  }

  /// Runs something on the control queue and waits for it.
  @discardableResult
  func onQueue<Value: Sendable>(_ body: @escaping @Sendable () -> Value) -> Value {
    let done = DispatchSemaphore(value: 0)
    let result = Mutex<Value?>(nil)
    executor.schedule(after: 0) {
      let value = body()
      result.withLock { $0 = value }
      done.signal()
    }
    done.wait()
    return result.withLock { $0! }
  }

  func udp(from port: UInt16 = 0) -> TestSocket { TestSocket(SOCK_DGRAM, port: server.port, from: port) }

  func tcp() -> TestSocket { TestSocket(SOCK_STREAM, port: server.port) }

  /// Waits until something holds, for at most twenty seconds.
  func wait(_ what: Comment, until condition: () -> Bool) {
    for _ in 0..<10_000 {
      if condition() { return }
      usleep(2_000)
    }
    Issue.record(what)
  }

  func end() {
    onQueue { self.server.shutdown() }
    executor.shutdown()
  }
}
