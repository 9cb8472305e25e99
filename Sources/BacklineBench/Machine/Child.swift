import CBackline
import Glibc

/// A program that runs beside the bench, ended by its process id.
final class Child {
  let id: pid_t
  let log: String
  /// CLOCK_MONOTONIC in nanoseconds just before the program was started.
  let begin: Int64
  private var isEnded = false

  /// Starts a program found by `PATH`, with more variables in its environment; what it writes goes to `log`.
  init(_ words: [String], environment: [String] = [], log: String) throws(BenchError) {
    self.log = log
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, log, O_WRONLY | O_CREAT | O_TRUNC, 0o644)
    posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO)
    var variables: [UnsafeMutablePointer<CChar>?] = environment.map { strdup($0) }
    var inherited = environ
    let names = environment.map { $0.prefix { $0 != "=" } + "=" }
    while let variable = inherited.pointee {
      let text = String(cString: variable)
      if !names.contains(where: { text.hasPrefix($0) }) { variables.append(strdup(text)) }
      inherited += 1
    }
    variables.append(nil)
    var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
    defer { for pointer in variables + arguments { free(pointer) } }
    var child = pid_t()
    begin = backline_now()
    let code = posix_spawnp(&child, words[0], &actions, nil, &arguments, &variables)
    id = child
    if code != 0 { throw BenchError.system(words[0], code) }
  }

  deinit { end() }

  var isRunning: Bool {
    if isEnded { return false }
    var status: Int32 = 0
    if waitpid(id, &status, WNOHANG) != 0 { isEnded = true }
    return !isEnded
  }

  /// Asks the program to end, and ends it where it does not within three seconds.
  func end() {
    for signal in [SIGTERM, SIGKILL] where isRunning {
      kill(id, signal)
      let limit = backline_now() + 3_000_000_000
      while isRunning && backline_now() < limit { usleep(2_000) }
    }
  }

  /// The last lines that it wrote.
  var lastWords: String { TextFile.lines(log).suffix(3).joined(separator: " / ") }

  /// Seconds of processor time so far.
  var processorTime: Double {
    let text = String(decoding: TextFile.read("/proc/\(id)/stat"), as: UTF8.self)
    guard let close = text.lastIndex(of: ")") else { return 0 }
    let fields = text[close...].split(separator: " ")
    guard fields.count > 13, let user = Double(fields[12]), let system = Double(fields[13]) else { return 0 }
    return (user + system) / Double(sysconf(Int32(_SC_CLK_TCK)))
  }

  /// MiB of memory that is its own and has been written to.
  var privateDirty: Double {
    for line in TextFile.lines("/proc/\(id)/smaps_rollup") where line.hasPrefix("Private_Dirty:") {
      let fields = line.split(separator: " ")
      if fields.count > 1, let kibibytes = Double(fields[1]) { return kibibytes / 1024 }
    }
    return 0
  }
}
