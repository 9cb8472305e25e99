import BacklineDSP
import BacklineEngine
import Synchronization

/// Keeps the players' sound read ahead, always serving the one that would fall silent first.
///
/// It holds the players' controls, never the memory of their units; one whose unit has been freed is let go.
final class ReadAhead: Sendable {
  /// How long the reader sleeps where every player has enough, and where one waits for room that rendering will free.
  private static let restNanoseconds: Int64 = 20_000_000
  private static let retryNanoseconds: Int64 = 1_000_000

  private struct Player {
    let control: PlayerControl
    /// The failure that has been reported.
    var failure: PlayerSourceFailure?
    /// Let go after one more turn, in which its source is closed.
    var isLeaving = false
  }

  private let players = Mutex<[Player]>([])
  private let onFailure: @Sendable (PlayerControl, EngineError) -> Void

  init(onFailure: @escaping @Sendable (PlayerControl, EngineError) -> Void) {
    self.onFailure = onFailure
  }

  func add(_ control: PlayerControl) {
    players.withLock { players in
      players.removeAll { $0.control === control }
      players.append(Player(control: control))
    }
  }

  /// Lets a player go at the next turn; its source has been detached.
  func remove(_ control: PlayerControl) {
    players.withLock { players in
      for index in players.indices where players[index].control === control { players[index].isLeaving = true }
    }
  }

  func removeAll() {
    let controls = players.withLock { players in
      defer { players = [] }
      return players.map(\.control)
    }
    for control in controls {
      control.onWork(nil)
      control.detach()
      control.fillSynchronously()
    }
  }

  /// Reads until every player has all it has room for.
  func fill() {
    releaseLeaving()
    for control in players.withLock({ $0.map(\.control) }) {
      control.fillSynchronously()
      reportFailure(of: control)
    }
  }

  /// The reader thread.
  func run(_ thread: WorkerThread) {
    while !thread.isEnding {
      releaseLeaving()
      let controls = players.withLock { $0.map(\.control) }
      let waiting = controls.map { ($0, $0.urgency) }.filter { $0.1 < .max }.sorted { $0.1 < $1.1 }
      // One piece, then a new look: the order may have changed while the disk was waited for.
      let served = waiting.first { $0.0.readAhead() }
      if let served {
        reportFailure(of: served.0)
      } else {
        thread.wait(controls.isEmpty ? -1 : waiting.isEmpty ? Self.restNanoseconds : Self.retryNanoseconds)
      }
    }
  }

  private func releaseLeaving() {
    let leaving = players.withLock { players in
      defer { players.removeAll { $0.isLeaving || $0.control.isAbandoned } }
      return players.filter { $0.isLeaving || $0.control.isAbandoned }.map(\.control)
    }
    for control in leaving {
      control.onWork(nil)
      control.detach()
      control.fillSynchronously()
    }
  }

  private func reportFailure(of control: PlayerControl) {
    guard let failure = control.failure else { return }
    let isNew = players.withLock { players in
      guard let index = players.firstIndex(where: { $0.control === control && $0.failure != failure }) else {
        return false
      }
      players[index].failure = failure
      return true
    }
    if isNew { onFailure(control, EngineError(.ioError, failure.message)) }
  }
}
