import Glibc

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

  /// The next signal, or `nil` when `seconds` have passed or `interrupt` was called. On the thread that made this.
  func next(within seconds: Double) -> Int32? {
    var set = Self.signals
    var time = timespec(tv_sec: Int(seconds), tv_nsec: Int(seconds.truncatingRemainder(dividingBy: 1) * 1e9))
    let signal = sigtimedwait(&set, nil, &time)
    return signal > 0 && signal != SIGUSR1 ? signal : nil
  }

  /// Ends the wait, from any thread.
  func interrupt() { pthread_kill(thread, SIGUSR1) }
}
