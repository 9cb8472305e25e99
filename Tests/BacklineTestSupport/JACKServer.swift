import CJACK
import Foundation

/// What can go wrong with the means of a JACK test.
public enum JACKTestError: Error {
  case serverDidNotStart
  case serverDidNotStop
  case clientDidNotOpen(String)
  case notConnected(String, String)
  case timedOut(String)
  case busy
}

/// A private JACK server without a sound card: jackd, or PipeWire where BACKLINE_TEST_JACK says so.
///
/// There is one at a time on a machine, under one fixed name, because jackd2 has few slots for servers and a killed one
/// keeps its slot until one of the same name starts. `with` takes turns with other test processes. Every client of this
/// process has to be closed before the server ends, or the library goes on using the dead server's memory.
public final class JACKServer: @unchecked Sendable {
  /// The name to pass to clients.
  public static let name = "backline-test"

  /// True where PipeWire is the server: BACKLINE_TEST_JACK is `pipewire`.
  public static var isPipeWire: Bool { PipeWire.isUsed }

  public private(set) var sampleRate = 0
  private let lock: MachineLock
  private var process: Process?
  /// PipeWire has no ports of its own.
  private var card: SilentCard?

  private init(lock: MachineLock) { self.lock = lock }

  /// Runs `body` while a server runs, alone among the tests of this machine.
  public static func with(
    sampleRate: Int = 48_000, period: Int = 256, _ body: (JACKServer) async throws -> Void
  ) async throws {
    let lock = try await MachineLock(name)
    defer { lock.release() }
    await endOrphan(lock.note)
    let server = JACKServer(lock: lock)
    try await server.start(sampleRate: sampleRate, period: period)
    do {
      try await body(server)
    } catch {
      try? await server.stop()
      throw error
    }
    try await server.stop()
  }

  /// True while the server's process lives.
  public var isRunning: Bool { process?.isRunning ?? false }

  /// The server's process id.
  public var processIdentifier: Int32 { process?.processIdentifier ?? 0 }

  /// Starts the server, with real-time scheduling where the system allows it.
  public func start(sampleRate: Int, period: Int) async throws {
    self.sampleRate = sampleRate
    if PipeWire.isUsed {
      let file = try PipeWire.writeConfiguration(name: Self.name, sampleRate: sampleRate, period: period)
      try launch(["pipewire", "-c", file])
      guard await Eventually.holds(within: 10, { Self.answers() }) else { throw JACKTestError.serverDidNotStart }
      card = try SilentCard(server: Self.name)
      return
    }
    for realtime in [["-R", "-P70"], ["-r"]] {
      try launch(["jackd", "-n", Self.name] + realtime + ["-d", "dummy", "-r", "\(sampleRate)", "-p", "\(period)"])
      let isUp = await Eventually.holds(within: 10) { !isRunning || Self.answers() }
      if isUp && isRunning { return }
      try await stop()
    }
    throw JACKTestError.serverDidNotStart
  }

  /// Ends the server as a user would.
  public func stop() async throws { try await end(SIGTERM) }

  /// Ends the server as a crash would.
  public func kill() async throws { try await end(SIGKILL) }

  /// Stops the server's process for a while, or lets it go on: a server that hangs.
  public func freeze(_ isFrozen: Bool) {
    if isRunning { Foundation.kill(processIdentifier, isFrozen ? SIGSTOP : SIGCONT) }
  }

  /// Changes the period of the running server.
  public func setPeriod(_ frames: Int) throws {
    if PipeWire.isUsed { return try PipeWire.setPeriod(frames, server: Self.name) }
    let client = try JACKTestClient("period-setter")
    defer { client.close() }
    client.setPeriod(frames)
  }

  private func launch(_ arguments: [String]) throws {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = arguments
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    try process.run()
    self.process = process
    lock.note = process.processIdentifier
  }

  /// Ends the server that a test process left behind when it crashed.
  private static func endOrphan(_ identifier: Int32?) async {
    guard let identifier,
      let command = try? String(contentsOfFile: "/proc/\(identifier)/cmdline", encoding: .utf8),
      command.hasPrefix("jackd\0-n\0\(name)\0") || command.hasPrefix("pipewire\0-c\0")
    else { return }
    for signal in [SIGTERM, SIGKILL] {
      Foundation.kill(identifier, signal)
      if await Eventually.holds(within: 5, { Foundation.kill(identifier, 0) != 0 }) { return }
    }
  }

  private func end(_ signal: Int32) async throws {
    guard let process, process.isRunning else { return }
    Foundation.kill(process.processIdentifier, signal)
    defer {
      card?.close()
      card = nil
    }
    if await Eventually.holds(within: 5, { !process.isRunning }) { return }
    Foundation.kill(process.processIdentifier, SIGKILL)
    guard await Eventually.holds(within: 5, { !process.isRunning }) else { throw JACKTestError.serverDidNotStop }
  }

  /// The ports on the server, each with what it is connected to; `nil` where no server answers.
  ///
  /// Asked by another process: jackd2's library frees the clients that a process has on a server that has gone when the process
  /// opens another one.
  public static var ports: [String: Set<String>]? {
    guard let lister = try? ProcessRunner("/usr/bin/env", ["jack_lsp", "-s", name, "-c"]),
      let ending = try? lister.wait(10), ending.status == 0
    else { return nil }
    var ports: [String: Set<String>] = [:]
    var port = ""
    for line in ending.output.split(separator: "\n") {
      if line.first == " " {
        ports[port]?.insert(line.trimmingCharacters(in: .whitespaces))
      } else {
        port = String(line)
        ports[port] = []
      }
    }
    return ports
  }

  private static func answers() -> Bool { ports != nil }
}

/// A lock among processes, for what there is only one of on a machine.
private final class MachineLock {
  private let descriptor: Int32

  init(_ name: String) async throws {
    // A server's name is the machine's, whatever folder a process takes for its temporary files.
    let path = "/tmp/\(name).lock"
    descriptor = open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0o666)
    let descriptor = descriptor
    guard await Eventually.holds(within: 600, { flock(descriptor, LOCK_EX | LOCK_NB) == 0 }) else {
      throw JACKTestError.busy
    }
  }

  /// A process id that outlives the holder of the lock.
  var note: Int32? {
    get {
      var value: Int32 = 0
      return pread(descriptor, &value, 4, 0) == 4 ? value : nil
    }
    set {
      var value = newValue ?? 0
      _ = pwrite(descriptor, &value, 4, 0)
    }
  }

  func release() { close(descriptor) }
}
