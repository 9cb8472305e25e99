import BacklineRealtime
import CBackline
import Synchronization

/// The commands that wait for their frames.
extension PlayerTransport {
  /// The frame of the next command, or the largest number there is.
  var nextCommandFrame: Int64 {
    @_noLocks get { waitingCount > 0 ? link.pointee.waiting[0].frame : .max }
  }

  /// Takes what control has sent; commands without a frame get `frame`, the first one of the block.
  @_noLocks
  mutating func receive(at frame: Int64) {
    changeFile(at: frame)
    while var command = link.pointee.commands.peek() {
      if command.file > file { changeFile(at: frame) }
      if command.file < file {
        _ = link.pointee.commands.pop()
        retire(1)
        continue
      }
      if Self.isSeek(command.kind) { drop(isUndone: Self.isSeek) }
      if !command.isScheduled {
        switch command.kind {
        case .pause: drop(isUndone: Self.isUndoneByPause)
        case .stop: drop(isUndone: Self.isUndoneByStop)
        default: break
        }
      }
      if waitingCount == PlayerLink.waitingLimit { return }
      _ = link.pointee.commands.pop()
      noteTaken(command.number, at: frame)
      if command.isScheduled && command.frame < frame {
        link.pointee.lateCommands.store(
          link.pointee.lateCommands.load(ordering: .relaxed) &+ 1, ordering: .relaxed)
      }
      command.frame = command.isScheduled ? max(command.frame, frame) : frame
      insert(command)
    }
  }

  /// Does what is due at `frame`.
  @_noLocks
  mutating func executeDue(at frame: Int64) {
    while waitingCount > 0 && link.pointee.waiting[0].frame <= frame {
      let command = link.pointee.waiting[0]
      waitingCount &-= 1
      for index in 0..<waitingCount { link.pointee.waiting[index] = link.pointee.waiting[index &+ 1] }
      execute(command)
      retire(1)
    }
  }

  /// Forgets what waits.
  @_noLocks
  mutating func dropWaiting() { drop(isUndone: Self.isUndoneByStop) }

  /// Forgets what waits and what is on its way.
  @_noLocks
  mutating func dropAllCommands() {
    dropWaiting()
    while let command = link.pointee.commands.pop() {
      if command.isJump { noteExecuted(command.generation) }
      retire(1)
    }
  }

  /// Tells whoever takes the performance down.
  @_noLocks
  func noteTaken(_ number: Int, at frame: Int64) {
    if !link.pointee.isObserved.load(ordering: .relaxed) { return }
    if !link.pointee.taken.push(PlayerTaken(number, at: frame)) { noteChance() }
  }

  /// What is heard now is no longer a matter of commands and frames alone.
  @_noLocks
  func noteChance() {
    link.pointee.chances.store(link.pointee.chances.load(ordering: .relaxed) &+ 1, ordering: .releasing)
  }

  @_noLocks
  private mutating func insert(_ command: PlayerCommand) {
    var at = waitingCount
    while at > 0 && link.pointee.waiting[at &- 1].frame > command.frame {
      link.pointee.waiting[at] = link.pointee.waiting[at &- 1]
      at &-= 1
    }
    link.pointee.waiting[at] = command
    waitingCount &+= 1
  }

  @inline(__always) @_noLocks
  private mutating func drop(isUndone: (PlayerCommand.Kind) -> Bool) {
    var kept = 0
    for index in 0..<waitingCount {
      let command = link.pointee.waiting[index]
      if isUndone(command.kind) {
        if command.isJump { noteExecuted(command.generation) }
      } else {
        link.pointee.waiting[kept] = command
        kept &+= 1
      }
    }
    retire(waitingCount &- kept)
    waitingCount = kept
  }

  @_noLocks
  private static func isSeek(_ kind: PlayerCommand.Kind) -> Bool {
    switch kind {
    case .seek: true
    default: false
    }
  }

  @_noLocks
  private static func isUndoneByPause(_ kind: PlayerCommand.Kind) -> Bool {
    switch kind {
    case .play, .pause: true
    default: false
    }
  }

  @_noLocks
  private static func isUndoneByStop(_ kind: PlayerCommand.Kind) -> Bool { true }

  /// Tells control that no jump up to this generation waits any more.
  @_noLocks
  func noteExecuted(_ generation: Int) {
    let newest = max(generation, link.pointee.executedGeneration.load(ordering: .relaxed))
    link.pointee.executedGeneration.store(newest, ordering: .releasing)
  }

  @_noLocks
  private func retire(_ count: Int) {
    link.pointee.retiredCommands.store(
      link.pointee.retiredCommands.load(ordering: .relaxed) &+ count, ordering: .releasing)
  }
}
