import CBackline
import Glibc
import Synchronization

/// A signal that ends the bench in order, so that no server is left behind.
enum Interruption {
  private static let flag = Atomic<Bool>(false)

  static var isWanted: Bool { flag.load(ordering: .relaxed) }

  static func install() {
    signal(SIGPIPE, SIG_IGN)
    for number in [SIGINT, SIGTERM, SIGHUP] { signal(number, interrupt) }
  }

  static func check() throws(BenchError) {
    if isWanted { throw BenchError("interrupted") }
  }

  /// Waits, unless a signal comes.
  static func sleep(_ seconds: Double) throws(BenchError) {
    let end = backline_now() + Int64(seconds * 1e9)
    while true {
      try check()
      let rest = end - backline_now()
      if rest <= 0 { return }
      usleep(UInt32(min(rest / 1000 + 1, 50_000)))
    }
  }

  fileprivate static func note() { flag.store(true, ordering: .relaxed) }
}

private func interrupt(_ number: Int32) { Interruption.note() }
