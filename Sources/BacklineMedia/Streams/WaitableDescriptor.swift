import CBackline
import Glibc
import Synchronization

/// A descriptor that may make its user wait, and a way to end that wait from another thread.
final class WaitableDescriptor: Sendable {
  let number: Int32
  private let event: Int32
  private let isCancelledFlag = Atomic<Bool>(false)

  /// The descriptor is not closed.
  init(_ number: Int32) {
    self.number = number
    event = backline_event_create()
  }

  deinit { if event >= 0 { close(event) } }

  /// Ends all waits, now and later.
  func cancel() {
    isCancelledFlag.store(true, ordering: .releasing)
    backline_wake(event)
  }

  var isCancelled: Bool { isCancelledFlag.load(ordering: .acquiring) }

  /// Waits until there is something to read, or room to write; false when it was cancelled.
  func wait(forWriting: Bool) -> Bool {
    while true {
      var ready = [
        pollfd(fd: number, events: Int16(forWriting ? POLLOUT : POLLIN), revents: 0),
        pollfd(fd: event, events: Int16(POLLIN), revents: 0),
      ]
      if poll(&ready, 2, -1) < 0 && errno == EINTR { continue }
      return ready[1].revents == 0
    }
  }
}
