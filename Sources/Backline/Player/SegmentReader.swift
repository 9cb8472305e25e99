import BacklineEngine
import Synchronization

/// Keeps players' sound read ahead, on a thread of its own, always serving the one that would fall silent first.
final class SegmentReader: @unchecked Sendable {
  // Why unchecked: what changes is under locks; the thread is a thing of its own.

  private struct State {
    var schedules: [PlayerSchedule] = []
    var isRunning = false
  }

  /// How long the reader rests where every player has enough, in seconds.
  private static let rest = 0.01
  private let state = Mutex(State())
  private let thread: SerialThread

  init() throws(AudioError) {
    do throws(EngineError) {
      thread = try SerialThread(name: "library-read")
    } catch {
      throw AudioError(error)
    }
  }

  deinit { thread.end() }

  func add(_ schedule: PlayerSchedule) { state.withLock { $0.schedules.append(schedule) } }

  func remove(_ schedule: PlayerSchedule) { state.withLock { $0.schedules.removeAll { $0 === schedule } } }

  /// Begins or ends reading ahead by itself.
  func setRunning(_ isRunning: Bool) {
    let begins = state.withLock { state in
      defer { state.isRunning = isRunning }
      return isRunning && !state.isRunning
    }
    if begins { thread.run { [weak self] in self?.turn() } }
  }

  /// Reads all that there is room for, on the caller's thread.
  func fillSynchronously() throws(AudioError) {
    for schedule in state.withLock({ $0.schedules }) { try schedule.fillSynchronously() }
  }

  /// Reads one piece and plans the next turn.
  private func turn() {
    let schedules = state.withLock { $0.isRunning ? $0.schedules : nil }
    guard let schedules else { return }
    var isWorking = false
    let waiting = schedules.flatMap { schedule in
      schedule.urgentFeeds.map { (schedule: schedule, feed: $0.feed, ahead: $0.framesAhead) }
    }
    for next in waiting.sorted(by: { $0.ahead < $1.ahead }) {
      do throws(AudioError) {
        if try next.feed.advance() {
          isWorking = true
          break
        }
      } catch {
        next.schedule.fail(next.feed, error)
      }
    }
    if isWorking {
      thread.run { [weak self] in self?.turn() }
    } else {
      thread.run(after: Self.rest) { [weak self] in self?.turn() }
    }
  }
}
