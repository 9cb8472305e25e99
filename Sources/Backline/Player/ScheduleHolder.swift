import Synchronization

/// A player's schedule, there while the player is attached.
final class ScheduleHolder: Sendable {
  private let present = Mutex<PlayerSchedule?>(nil)

  var schedule: PlayerSchedule? {
    get { present.withLock { $0 } }
    set { present.withLock { $0 = newValue } }
  }
}
