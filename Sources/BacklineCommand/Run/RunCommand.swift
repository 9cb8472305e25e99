import BacklineDSP
import BacklineEngine
import BacklinePresets
import CBackline
import Glibc
import Synchronization

/// `backline run [PRESET]`.
enum RunCommand {
  /// A shutdown takes no longer than this (R18), whatever hangs.
  private static let longestShutdown = 1.9

  static func command() -> ProgramCommand {
    ProgramCommand(.run) { arguments, context throws(CommandError) in
      // Blocked before any thread is made, so that all threads leave these signals to the wait below.
      let signals = SignalWait()
      let options = try RackOptions(arguments)
      let preset = try firstPreset(options)
      let announcer = RackAnnouncer(context, json: options.json)
      let outcome = Mutex<(code: ExitCode, message: String?)?>(nil)
      let rack = try Rack(options, announcer: announcer) { code, message in
        outcome.withLock { if $0 == nil { $0 = (code, message) } }
        signals.interrupt()
      }
      try start(rack, preset)
      signals.wait()
      stop(rack)
      if let (code, message) = outcome.withLock({ $0 }), let message { throw CommandError(code, message) }
      return .done
    }
  }

  private static func firstPreset(
    _ options: RackOptions
  ) throws(CommandError) -> (graph: GraphDescription, name: String)? {
    guard let place = options.preset else { return nil }
    let preset = try PresetLoading.load(place)
    return (preset.graph(catalog: .standard), place)
  }

  /// Runs `start` on the control queue and waits for it.
  private static func start(
    _ rack: Rack, _ preset: (graph: GraphDescription, name: String)?
  ) throws(CommandError) {
    let done = Semaphore()
    let failure = Mutex<CommandError?>(nil)
    rack.engine.executor.schedule(after: 0) {
      do throws(CommandError) {
        try rack.start(preset)
      } catch {
        failure.withLock { $0 = error }
      }
      done.signal()
    }
    done.wait()
    if let error = failure.withLock({ $0 }) { throw error }
  }

  private static func stop(_ rack: Rack) {
    let done = Semaphore()
    rack.engine.executor.schedule(after: 0) { rack.stop { _ in done.signal() } }
    done.wait(seconds: longestShutdown)
  }
}

/// Waits for the signals that end a program.
final class SignalWait: Sendable {
  private let thread = pthread_self()

  /// Blocks the signals in this thread and all that it starts from now on.
  init() {
    var set = Self.signals
    pthread_sigmask(SIG_BLOCK, &set, nil)
  }

  private static var signals: sigset_t {
    var set = sigset_t()
    sigemptyset(&set)
    for signal in [SIGINT, SIGTERM, SIGHUP, SIGUSR1] { sigaddset(&set, signal) }
    return set
  }

  /// Returns when a signal has come, or `interrupt` was called. On the thread that made this.
  func wait() {
    var set = Self.signals
    var signal: Int32 = 0
    while sigwait(&set, &signal) != 0 {}
  }

  /// True when a signal has come that nothing has waited for yet.
  var hasCome: Bool {
    var pending = sigset_t()
    sigpending(&pending)
    return [SIGINT, SIGTERM, SIGHUP].contains { sigismember(&pending, $0) == 1 }
  }

  /// Ends the wait, from any thread.
  func interrupt() { pthread_kill(thread, SIGUSR1) }
}

/// A counting semaphore of the C library, in memory of its own.
final class Semaphore: @unchecked Sendable {
  private let semaphore = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)

  init() { sem_init(semaphore, 0, 0) }

  deinit {
    sem_destroy(semaphore)
    semaphore.deallocate()
  }

  func signal() { sem_post(semaphore) }

  func wait() { while sem_wait(semaphore) != 0 {} }

  /// Waits no longer than `seconds`.
  func wait(seconds: Double) {
    let end = backline_wall_time() + Int64(seconds * 1e9)
    var time = timespec(tv_sec: Int(end / 1_000_000_000), tv_nsec: Int(end % 1_000_000_000))
    while sem_timedwait(semaphore, &time) != 0 && errno == EINTR {}
  }
}
