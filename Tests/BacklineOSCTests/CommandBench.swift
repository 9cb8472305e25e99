import BacklineDSP
import BacklineEngine
import BacklineTestSupport
import CBackline
import Foundation
import Synchronization
import Testing

@testable import BacklineOSC

/// A rack inside the test: an engine, on a manual host where one is asked for, with its router behind real sockets.
final class CommandBench: @unchecked Sendable {
  let engine: Engine
  let server: OSCServer
  let router: CommandRouter
  /// What renders when the test says so; without one no audio runs and everything is taken at once.
  let host: OfflineHost?
  private let lines = EventLog<String>()
  /// Frames rendered, and what came out on the left.
  private(set) var output: [Float] = []

  /// With `isOffline` the engine does nothing by the clock.
  init(
    isRunning: Bool = false, catalog: UnitCatalog = .standard, period: Int = 64, threads: RenderThreads = .one,
    isOffline: Bool = false
  ) throws {
    engine = try Engine(catalog: catalog)
    let lines = lines
    server = try OSCServer(executor: engine.executor, port: 0) { lines.append($0) }
    router = CommandRouter(engine: engine, server: server, version: "1.2.3")
    host = isRunning ? .manual(period: period, isOffline: isOffline) : nil
    onQueue { bench in
      bench.router.start()
      guard let host = bench.host else { return }
      bench.engine.here { engine in
        engine.setThreads(threads)
        engine.start(host, name: "test")
      }
    }
    if let host {
      wait("the host has to start") { host.isStarted }
      // The outputs fade in.
      render(frames: 1_024)
    }
  }

  var log: [String] { lines.all }

  func udp(from port: UInt16 = 0) -> CommandClient {
    CommandClient(TestSocket(SOCK_DGRAM, port: server.port, from: port), framing: nil)
  }

  func tcp(_ framing: OSCStreamFraming = .lengthPrefix) -> CommandClient {
    CommandClient(TestSocket(SOCK_STREAM, port: server.port), framing: framing)
  }

  /// Renders with a DC of 1 as the input.
  func render(frames: Int) {
    guard let host else { return }
    // What has been answered is rendered from here on, however long the queue would have gathered it.
    onQueue { bench in bench.engine.here { $0.flush() } }
    var left = frames
    while left > 0 {
      let count = min(left, host.period)
      let ones = [Float](repeating: 1, count: count)
      output += host.cycle([ones, ones], frames: count)[0]
      left -= count
    }
  }

  /// Runs something on the control queue and waits for it.
  @discardableResult
  func onQueue<Value: Sendable>(_ body: @escaping @Sendable (CommandBench) -> Value) -> Value {
    let done = DispatchSemaphore(value: 0)
    let result = Mutex<Value?>(nil)
    engine.executor.schedule(after: 0) {
      let value = body(self)
      result.withLock { $0 = value }
      done.signal()
    }
    done.wait()
    return result.withLock { $0! }
  }

  /// The graph as it is now.
  var graph: GraphDescription { onQueue { $0.engine.here { $0.graph } } }

  /// A parameter's value on the control side.
  func value(_ node: String, _ parameter: String) -> Float? {
    onQueue { bench in
      bench.engine.here { engine in
        guard let index = (try? engine.node(node))?.description.parameterIndex(named: parameter) else { return nil }
        return try? engine.value(node, index)
      }
    }
  }

  /// What `/status` says under a key.
  func status(_ key: String) -> OSCArgument? {
    let pairs = onQueue { $0.router.status() }
    for index in stride(from: 0, to: pairs.count, by: 2) where pairs[index] == .string(key) { return pairs[index + 1] }
    return nil
  }

  /// Waits until something holds, for at most ten seconds.
  func wait(_ what: Comment, until condition: () -> Bool) {
    for _ in 0..<5_000 {
      if condition() { return }
      usleep(2_000)
    }
    Issue.record(what)
  }

  /// Ends the host, the sockets and the control queue.
  func end() {
    let stops = EventLog<Bool>()
    onQueue { bench in bench.engine.here { $0.stop { stops.append($0) } } }
    wait("the engine has to stop") { !stops.all.isEmpty }
    onQueue { $0.server.shutdown() }
    engine.executor.shutdown()
  }
}

/// A client that knows when an answer has not come: after each exchange it asks for a token, whose reply comes behind
/// everything that the exchange has caused at once.
final class CommandClient {
  let socket: TestSocket
  private let framing: OSCStreamFraming?
  private var token: Int32 = 1_000_000

  init(_ socket: TestSocket, framing: OSCStreamFraming?) {
    self.socket = socket
    self.framing = framing
  }

  var port: UInt16 { socket.localPort }

  func send(_ bytes: [UInt8]) { socket.send(framing.map { TestSocket.frame(bytes, $0) } ?? bytes) }

  func send(_ packet: OSCPacket) {
    guard let bytes = try? packet.encoded() else {
      Issue.record("\(packet) cannot be sent")
      return
    }
    send(bytes)
  }

  func send(_ address: String, _ arguments: OSCArgument...) { send(.message(OSCMessage(address, arguments))) }

  /// The coming message; `nil` after ten seconds.
  func receive() -> OSCMessage? {
    if let framing { return socket.receiveMessage(in: framing) }
    return socket.receiveMessage()
  }

  /// The coming message that `matches`, others left out.
  func receive(where matches: (OSCMessage) -> Bool) -> OSCMessage? {
    while let message = receive() {
      if matches(message) { return message }
    }
    return nil
  }

  /// All that comes up to the reply to a token asked for now.
  func drain() -> [OSCMessage] {
    token += 1
    let end = OSCMessage("/reply", .string("/ping"), .int32(token))
    send("/ping", .int32(token))
    return rest(until: end)
  }

  private func rest(until end: OSCMessage) -> [OSCMessage] {
    var messages: [OSCMessage] = []
    while let message = receive() {
      if message == end { return messages }
      messages.append(message)
    }
    Issue.record("no reply to /ping; before it: \(messages)")
    return messages
  }

  /// What a message causes at once.
  func exchange(_ address: String, _ arguments: OSCArgument...) -> [OSCMessage] {
    exchange(.message(OSCMessage(address, arguments)))
  }

  func exchange(_ packet: OSCPacket) -> [OSCMessage] {
    send(packet)
    return drain()
  }

  func bundle(_ messages: OSCMessage..., tag: UInt64 = 1) -> [OSCMessage] {
    exchange(.bundle(timeTag: tag, messages: messages))
  }

  /// The one answer to a command; `nil`, and an issue, where there was none or more than one.
  func ask(_ address: String, _ arguments: OSCArgument...) -> OSCMessage? {
    let answers = exchange(.message(OSCMessage(address, arguments)))
    if answers.count != 1 { Issue.record("\(address) \(arguments) was answered by \(answers)") }
    return answers.first
  }

  /// The code that a command is refused with; `nil` where it is not.
  func code(_ address: String, _ arguments: OSCArgument...) -> String? {
    Self.code(exchange(.message(OSCMessage(address, arguments))), address)
  }

  static func code(_ answers: [OSCMessage], _ address: String) -> String? {
    guard answers.count == 1, let answer = answers.first, answer.address == "/error", answer.arguments.count == 3,
      answer.arguments[0] == .string(address), case .string(let code) = answer.arguments[1]
    else { return nil }
    return code
  }
}

extension OSCMessage {
  /// The final answer to a command.
  static func reply(_ address: String, _ values: OSCArgument...) -> OSCMessage {
    OSCMessage("/reply", [.string(address)] + values)
  }
}

extension OSCArgument: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral {
  public init(stringLiteral value: String) { self = .string(value) }
  public init(integerLiteral value: Int32) { self = .int32(value) }
  public init(floatLiteral value: Float) { self = .float(value) }
}

extension TimeTag {
  /// The tag of a time of CLOCK_MONOTONIC in nanoseconds.
  static func tag(of time: Int64) -> UInt64 {
    let (seconds, nanoseconds) = (time + wallOffset()).quotientAndRemainder(dividingBy: 1_000_000_000)
    return UInt64(seconds + epochSeconds) << 32 | (UInt64(nanoseconds) << 32) / 1_000_000_000
  }

  /// The tag of a time `seconds` from now.
  static func tag(in seconds: Double) -> UInt64 { tag(of: backline_now() + Int64(seconds * 1e9)) }
}
