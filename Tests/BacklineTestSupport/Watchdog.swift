import CBackline
import Foundation
import Synchronization

/// Ends the test run when something stops that has to go on: a thread that waits for ever cannot be told to fail.
public final class Watchdog: Sendable {
  private let lastSign: Atomic<Int64>
  private let isOver = Atomic<Bool>(false)

  /// A watch over something that gives a sign at least every `seconds`, once it has given the first.
  public init(seconds: Double = 60, _ what: String) {
    lastSign = Atomic(.max)
    let thread = Thread { [weak self] in
      while let watchdog = self, !watchdog.isOver.load(ordering: .acquiring) {
        let silence = backline_now() - watchdog.lastSign.load(ordering: .relaxed)
        if Double(silence) > seconds * 1e9 { fatalError("\(what): no sign of life for \(seconds) s") }
        Thread.sleep(forTimeInterval: 0.2)
      }
    }
    thread.start()
  }

  /// A sign of life.
  public func feed() { lastSign.store(backline_now(), ordering: .relaxed) }

  /// No sign is due until the next one: what follows waits for others.
  public func rest() { lastSign.store(.max, ordering: .relaxed) }

  /// Ends the watch.
  public func end() { isOver.store(true, ordering: .releasing) }
}
