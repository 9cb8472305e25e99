import Synchronization

/// Takes down events from any thread, for a test to wait for.
public final class EventLog<Event: Sendable>: Sendable {
  private let events = Mutex<[Event]>([])

  public init() {}

  public func append(_ event: Event) { events.withLock { $0.append(event) } }

  public var all: [Event] { events.withLock { $0 } }

  /// Forgets what has been taken down.
  public func clear() { events.withLock { $0 = [] } }

  /// The first event that `matches`, as soon as there is one; `nil` when there was none within `seconds`.
  public func first(within seconds: Double = 10, where matches: (Event) -> Bool) async -> Event? {
    _ = await Eventually.holds(within: seconds) { all.contains(where: matches) }
    return all.first(where: matches)
  }
}
