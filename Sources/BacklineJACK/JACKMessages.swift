import CJACK
import Glibc
import Synchronization

/// The last messages of the JACK library, which would otherwise flood standard error at each retry.
///
/// The library may call from any of its threads and while it holds its own locks, so taking a message down never waits:
/// when another thread is writing, the message is left out.
public final class JACKMessages: @unchecked Sendable {
  /// The one collection of this process, since the library knows one pair of functions.
  public static let shared = JACKMessages()

  private static let capacity = 32
  private static let length = 256
  private let isBusy = Atomic<Bool>(false)
  private let total = Atomic<Int>(0)
  private let text: UnsafeMutablePointer<CChar>

  private init() {
    text = .allocate(capacity: Self.capacity * Self.length)
    text.initialize(repeating: 0, count: Self.capacity * Self.length)
  }

  /// Has the library's messages come here.
  func install() {
    jack_set_error_function(takeMessage)
    jack_set_info_function(takeMessage)
  }

  /// How many messages there have been.
  public var count: Int { total.load(ordering: .relaxed) }

  /// The last messages, oldest first.
  public var recent: [String] {
    // A writer holds the flag for the time of one copy.
    while isBusy.exchange(true, ordering: .acquiring) { sched_yield() }
    defer { isBusy.store(false, ordering: .releasing) }
    let end = total.load(ordering: .relaxed)
    return (max(0, end - Self.capacity)..<end).compactMap { index in
      let line = String(cString: text + index % Self.capacity * Self.length)
      return line.isEmpty ? nil : line
    }
  }

  fileprivate func take(_ message: UnsafePointer<CChar>) {
    if isBusy.exchange(true, ordering: .acquiring) {
      return
    }
    let index = total.load(ordering: .relaxed)
    let line = text + index % Self.capacity * Self.length
    let count = min(strlen(message), Self.length - 1)
    memcpy(line, message, count)
    line[count] = 0
    total.store(index + 1, ordering: .relaxed)
    isBusy.store(false, ordering: .releasing)
  }
}

private func takeMessage(_ message: UnsafePointer<CChar>?) {
  if let message { JACKMessages.shared.take(message) }
}
