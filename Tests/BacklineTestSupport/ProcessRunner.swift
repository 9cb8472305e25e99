import CBackline
import Glibc

/// A program started by a test: its outputs are read with a time limit, signals go to its id alone.
///
/// One that still runs when the last reference is gone is killed.
public final class ProcessRunner {
  /// How a program ended.
  public struct Ending: Equatable, Sendable {
    /// The exit code, or 128 and the signal's number where a signal ended it.
    public let status: Int32
    public let output: String
    public let errors: String

    public init(status: Int32, output: String, errors: String) {
      self.status = status
      self.output = output
      self.errors = errors
    }
  }

  /// Why a program could not be started.
  public struct StartFailure: Error {
    public let code: Int32
  }

  public let id: pid_t
  private var output: Stream
  private var errors: Stream
  private var input: Int32
  private var status: Int32?

  /// Starts a program. `environment` is added to the test's own; `nil` takes a variable away.
  public init(
    _ path: String, _ arguments: [String] = [], environment: [String: String?] = [:]
  ) throws {
    // Writing to a program that has ended is an error, not the end of the test run.
    signal(SIGPIPE, SIG_IGN)
    let pipes = try (0..<3).map { _ in try Self.pipe() }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, pipes[0].reader, STDIN_FILENO)
    posix_spawn_file_actions_adddup2(&actions, pipes[1].writer, STDOUT_FILENO)
    posix_spawn_file_actions_adddup2(&actions, pipes[2].writer, STDERR_FILENO)
    // What a test runner ignores or blocks must not be inherited: a program under test sets that itself.
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var signals = sigset_t()
    sigemptyset(&signals)
    posix_spawnattr_setsigmask(&attributes, &signals)
    for signal in [SIGPIPE, SIGINT, SIGTERM, SIGHUP] { sigaddset(&signals, signal) }
    posix_spawnattr_setsigdefault(&attributes, &signals)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK))

    var words: [UnsafeMutablePointer<CChar>?] = ([path] + arguments).map { strdup($0) } + [nil]
    var variables: [UnsafeMutablePointer<CChar>?] = Self.variables(environment).map { strdup($0) } + [nil]
    defer { for pointer in words + variables { free(pointer) } }
    var id = pid_t()
    let code = posix_spawn(&id, path, &actions, &attributes, &words, &variables)
    close(pipes[0].reader)
    close(pipes[1].writer)
    close(pipes[2].writer)
    input = pipes[0].writer
    output = Stream(pipes[1].reader)
    errors = Stream(pipes[2].reader)
    self.id = id
    if code != 0 {
      status = code
      throw StartFailure(code: code)
    }
  }

  deinit {
    if status == nil {
      kill(id, SIGKILL)
      waitpid(id, nil, 0)
    }
    if input >= 0 { close(input) }
    output.end()
    errors.end()
  }

  /// Runs a program to its end.
  public static func run(
    _ path: String, _ arguments: [String] = [], environment: [String: String?] = [:], limit: Double = 20
  ) throws -> Ending {
    let runner = try ProcessRunner(path, arguments, environment: environment)
    runner.closeInput()
    return try runner.wait(limit)
  }

  /// Sends a signal to this process alone, unless it has ended.
  public func send(_ signal: Int32) {
    if status == nil { kill(id, signal) }
  }

  /// Writes to its standard input, as far as it reads.
  public func write(_ text: String) { write(bytes: Array(text.utf8)) }

  /// Writes bytes to its standard input, as far as it reads.
  public func write(bytes: [UInt8]) {
    bytes.withUnsafeBufferPointer { bytes in
      var written = 0
      while written < bytes.count {
        let count = Glibc.write(input, bytes.baseAddress! + written, bytes.count - written)
        if count <= 0 && errno != EINTR { return }
        written += max(0, count)
      }
    }
  }

  public func closeInput() {
    if input >= 0 { close(input) }
    input = -1
  }

  /// Closes our end of its standard output, as a reader does who has seen enough.
  public func closeOutput() { output.end() }

  /// The next line of standard output without its line break; `nil` at the end. Throws `TimedOut`.
  public func readLine(_ limit: Double = 10) throws -> String? { try line(\.output, limit) }

  /// The next line of standard error.
  public func readErrorLine(_ limit: Double = 10) throws -> String? { try line(\.errors, limit) }

  /// Waits for the end and returns what had not been read. Throws `TimedOut`; the process then still runs.
  public func wait(_ limit: Double = 10) throws -> Ending {
    let end = backline_now() + Int64(limit * 1e9)
    while output.isOpen || errors.isOpen { try fill(end) }
    while status == nil {
      var code: Int32 = 0
      if waitpid(id, &code, WNOHANG) == id {
        let signal = code & 0x7F
        status = signal == 0 ? (code >> 8) & 0xFF : 128 + signal
      } else {
        if backline_now() > end { throw TimedOut() }
        usleep(500)
      }
    }
    return Ending(status: status ?? -1, output: output.rest(), errors: errors.rest())
  }

  private func line(_ stream: ReferenceWritableKeyPath<ProcessRunner, Stream>, _ limit: Double) throws -> String? {
    let end = backline_now() + Int64(limit * 1e9)
    while true {
      if let line = self[keyPath: stream].line() { return line }
      if !self[keyPath: stream].isOpen { return nil }
      try fill(end)
    }
  }

  /// Reads from whichever output has something.
  private func fill(_ end: Int64) throws {
    let rest = end - backline_now()
    if rest <= 0 { throw TimedOut() }
    var ready = [output.waiting, errors.waiting]
    poll(&ready, 2, Int32(rest / 1_000_000 + 1))
    if ready[0].revents != 0 { output.fill() }
    if ready[1].revents != 0 { errors.fill() }
  }

  private static func variables(_ changes: [String: String?]) -> [String] {
    var variables: [String] = []
    var pointer = environ
    while let text = pointer.pointee {
      let entry = String(cString: text)
      let name = String(entry.prefix { $0 != "=" })
      if changes[name] == nil { variables.append(entry) }
      pointer += 1
    }
    return variables + changes.compactMap { name, value in value.map { "\(name)=\($0)" } }
  }

  private static func pipe() throws -> (reader: Int32, writer: Int32) {
    var ends: [Int32] = [-1, -1]
    if backline_pipe(&ends) != 0 { throw StartFailure(code: errno) }
    return (ends[0], ends[1])
  }
}

/// One output of a process.
private struct Stream {
  private var descriptor: Int32
  private var bytes: [UInt8] = []

  init(_ descriptor: Int32) { self.descriptor = descriptor }

  var isOpen: Bool { descriptor >= 0 }

  var waiting: pollfd { pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0) }

  mutating func fill() {
    var part = [UInt8](repeating: 0, count: 65_536)
    let count = read(descriptor, &part, part.count)
    if count > 0 { bytes += part[..<count] }
    if count == 0 || (count < 0 && errno != EINTR) { end() }
  }

  /// A line that is complete, or the last one.
  mutating func line() -> String? {
    if let end = bytes.firstIndex(of: 0x0A) {
      defer { bytes.removeSubrange(...end) }
      return String(decoding: bytes[..<end], as: UTF8.self)
    }
    return isOpen || bytes.isEmpty ? nil : rest()
  }

  mutating func rest() -> String {
    defer { bytes = [] }
    return String(decoding: bytes, as: UTF8.self)
  }

  mutating func end() {
    if descriptor >= 0 { close(descriptor) }
    descriptor = -1
  }
}
