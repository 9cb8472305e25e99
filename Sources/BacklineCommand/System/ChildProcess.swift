import CBackline
import Glibc

/// Another program, run to its end.
enum ChildProcess {
  struct Result: Equatable {
    /// As a shell tells it: 128 and the signal's number where a signal ended it.
    let status: Int32
    let output: String
    let errors: String
  }

  /// Why a program did not run to its end.
  enum Failure: Error, Equatable {
    case notFound
    case timedOut
    case failed(String)
  }

  /// The most that a program may write, in bytes.
  static let outputLimit = 64 << 20

  /// Runs a program found by `PATH`, gives it `input` and collects what it writes; ends it after `timeLimit` seconds.
  static func run(
    _ name: String, _ arguments: [String], input: String, timeLimit: Double = 30
  ) throws(Failure) -> Result {
    guard let stdin = Channel(isSocket: true), let stdout = Channel(), let stderr = Channel() else {
      throw .failed(SystemError.text(errno))
    }
    let id = try spawn([name] + arguments, stdin.reader.number, stdout.writer.number, stderr.writer.number)
    stdin.reader.end()
    stdout.writer.end()
    stderr.writer.end()
    var exchange = Exchange(input: stdin.writer, output: stdout.reader, errors: stderr.reader, text: Array(input.utf8))
    let isComplete = exchange.run(until: backline_now() + Int64(timeLimit * 1e9))
    if !isComplete { kill(id, SIGKILL) }
    var status: Int32 = 0
    while waitpid(id, &status, 0) < 0 && errno == EINTR {}
    if !isComplete { throw .timedOut }
    let signal = status & 0x7F
    return Result(
      status: signal == 0 ? (status >> 8) & 0xFF : 128 + signal,
      output: String(decoding: exchange.outputText, as: UTF8.self),
      errors: String(decoding: exchange.errorText, as: UTF8.self))
  }

  private static func spawn(
    _ words: [String], _ stdin: Int32, _ stdout: Int32, _ stderr: Int32
  ) throws(Failure) -> pid_t {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, stdin, STDIN_FILENO)
    posix_spawn_file_actions_adddup2(&actions, stdout, STDOUT_FILENO)
    posix_spawn_file_actions_adddup2(&actions, stderr, STDERR_FILENO)
    // SIGPIPE is ignored here, and a child would inherit that.
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var signals = sigset_t()
    sigemptyset(&signals)
    sigaddset(&signals, SIGPIPE)
    posix_spawnattr_setsigdefault(&attributes, &signals)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF))
    var pointers: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
    defer { for pointer in pointers { free(pointer) } }
    var id = pid_t()
    let code = posix_spawnp(&id, words[0], &actions, &attributes, &pointers, environ)
    if code == ENOENT { throw .notFound }
    if code != 0 { throw .failed(SystemError.text(code)) }
    return id
  }
}

/// An open descriptor, closed once.
private final class Descriptor {
  private(set) var number: Int32

  init(_ number: Int32) { self.number = number }

  deinit { end() }

  func end() {
    if number >= 0 { close(number) }
    number = -1
  }
}

/// A pipe; or a pair of sockets, which can be written to without SIGPIPE where the reader has gone.
private struct Channel {
  let reader: Descriptor
  let writer: Descriptor

  init?(isSocket: Bool = false) {
    var ends: [Int32] = [-1, -1]
    let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
    if (isSocket ? socketpair(AF_UNIX, type, 0, &ends) : backline_pipe(&ends)) != 0 { return nil }
    reader = Descriptor(ends[0])
    writer = Descriptor(ends[1])
  }
}

/// Writes and reads by turns as the child is ready, so that neither waits for the other for ever.
private struct Exchange {
  let input: Descriptor
  let output: Descriptor
  let errors: Descriptor
  let text: [UInt8]
  var written = 0
  var outputText: [UInt8] = []
  var errorText: [UInt8] = []

  init(input: Descriptor, output: Descriptor, errors: Descriptor, text: [UInt8]) {
    self.input = input
    self.output = output
    self.errors = errors
    self.text = text
    if text.isEmpty { input.end() }
  }

  /// True once the child has closed both of its outputs, false where it has not by `end` or writes without limit.
  mutating func run(until end: Int64) -> Bool {
    while output.number >= 0 || errors.number >= 0 {
      let rest = end - backline_now()
      if rest <= 0 || outputText.count + errorText.count > ChildProcess.outputLimit { return false }
      var ready = [
        pollfd(fd: input.number, events: Int16(POLLOUT), revents: 0),
        pollfd(fd: output.number, events: Int16(POLLIN), revents: 0),
        pollfd(fd: errors.number, events: Int16(POLLIN), revents: 0),
      ]
      if poll(&ready, nfds_t(ready.count), Int32(min(rest / 1_000_000 + 1, 60_000))) <= 0 { continue }
      if ready[0].revents != 0 { write() }
      if ready[1].revents != 0 { Self.read(output, &outputText) }
      if ready[2].revents != 0 { Self.read(errors, &errorText) }
    }
    return true
  }

  private mutating func write() {
    let flags = Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT)
    let count = text.withUnsafeBytes { send(input.number, $0.baseAddress! + written, $0.count - written, flags) }
    if count > 0 { written += count }
    if written == text.count || (count < 0 && errno != EINTR && errno != EAGAIN) { input.end() }
  }

  private static func read(_ from: Descriptor, _ to: inout [UInt8]) {
    var part = [UInt8](repeating: 0, count: 65_536)
    let count = Glibc.read(from.number, &part, part.count)
    if count > 0 { to += part[..<count] }
    if count == 0 || (count < 0 && errno != EINTR) { from.end() }
  }
}
