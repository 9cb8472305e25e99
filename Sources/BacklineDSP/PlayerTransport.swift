import BacklineRealtime
import CBackline
import Synchronization

/// What a player does at which frame: the render thread's side of the transport.
///
/// The rules:
/// - A start that names its frame, and any start at the beginning of the file, is exact and not faded in: an attack stays
///   what it is, and what the file begins with is the file's affair. A start without a frame in the middle fades in.
/// - Pause fades out over the ramp while the position runs on, and holds it there. Stop fades out and is at the start.
/// - A seek while playing crossfades; where its sound has not been read yet the old one fades out, and the new one fades
///   in when it comes. While not playing it moves the position only.
/// - At its end a player stops by itself and the position stays there; play then begins anew.
/// - Sound that is due and not there is silence: counted once a gap, the position waits, and it fades in again.
/// - Play while playing changes nothing. Pause and stop without a frame also take back what waits (pause: plays and
///   pauses; stop: everything). The latest seek takes the place of one that waits.
struct PlayerTransport {
  let link: UnsafeMutablePointer<PlayerLink>
  let rampFrames: Int32
  /// The intent to play.
  var isRunning = false
  /// The current voice fades out to a pause.
  var isPausing = false
  /// The end has been passed.
  var hasEnded = false
  /// Playing means beginning anew.
  var needsRewind = false
  /// Sound is due and not there.
  var isStarving = false
  /// The lane that plays or would play, or -1.
  var current = -1
  /// The generation that plays as soon as it is offered: 0 none, -1 the rewound start.
  var wanted = 0
  /// The generation of a changed loop that takes over at the present position; 0 none.
  var relinking = 0
  /// The ramp with which the wanted lane starts.
  var entryFade: Int32 = 0
  /// The position while there is no current lane.
  var restingPosition: Int64 = 0
  var waitingCount = 0
  /// The generation of the file that is loaded.
  var file = 0

  init(link: UnsafeMutablePointer<PlayerLink>, rampFrames: Int32) {
    self.link = link
    self.rampFrames = rampFrames
  }

  @inline(__always)
  var voices: UnsafeMutablePointer<PlayerVoice> { @_noLocks get { link.pointee.voices } }

  @inline(__always)
  var lanes: UnsafeMutablePointer<PlayerLane> { @_noLocks get { link.pointee.lanes } }

  /// The file position that plays next.
  var position: Int64 {
    @_noLocks get {
      if current < 0 { return restingPosition }
      return lanes[current].position(after: lanes[current].consumed.load(ordering: .relaxed))
    }
  }

  // MARK: Commands

  @_noLocks
  mutating func execute(_ command: PlayerCommand) {
    switch command.kind {
    case .play: play(isExact: command.isScheduled)
    case .pause: pause()
    case .stop: stop()
    case .seek: seek(command)
    case .relink: relink(command)
    }
    if command.isJump { noteExecuted(command.generation) }
    if isRunning && current < 0 { noteChance() }
  }

  /// Goes over to the file that has been loaded last: stopped, at its start, with nothing waiting.
  @_noLocks
  mutating func changeFile(at frame: Int64) {
    let newest = link.pointee.newestFile.load(ordering: .acquiring)
    if newest >> 1 == file { return }
    file = newest >> 1
    noteTaken(-file, at: frame)
    dropWaiting()
    stop()
    needsRewind = false
    wanted = newest & 1 == 1 ? file : 0
    link.pointee.isRewindWanted.store(false, ordering: .releasing)
    noteExecuted(file)
  }

  @_noLocks
  private mutating func play(isExact: Bool) {
    if isRunning {
      if isPausing {
        isPausing = false
        if current >= 0 { voices[current].gain.move(to: 1, over: rampFrames) }
      }
      return
    }
    if needsRewind {
      rewind()
    }
    hasEnded = false
    isRunning = true
    isStarving = false
    entryFade = isExact || position == 0 ? 0 : rampFrames
    if current < 0 { take() }
    if current >= 0 {
      enter(current)
    } else if isExact {
      starve()
    }
  }

  /// Goes to the start of the file.
  @_noLocks
  private mutating func rewind() {
    needsRewind = false
    restingPosition = 0
    if current >= 0 && lanes[current].isWholeFile {
      lanes[current].consumed.store(0, ordering: .releasing)
      return
    }
    leaveCurrent()
    restingPosition = 0
    wanted = -1
  }

  @_noLocks
  private mutating func pause() {
    guard isRunning else { return }
    if current < 0 || isStarving {
      isRunning = false
      isStarving = false
    } else {
      isPausing = true
      voices[current].gain.move(to: 0, over: rampFrames)
      if voices[current].gain.isSettled { finishPause() }
    }
  }

  @_noLocks
  private mutating func stop() {
    leaveCurrent()
    isRunning = false
    isPausing = false
    isStarving = false
    hasEnded = false
    wanted = 0
    relinking = 0
    restingPosition = 0
    needsRewind = true
    link.pointee.isRewindWanted.store(true, ordering: .releasing)
  }

  @_noLocks
  private mutating func seek(_ command: PlayerCommand) {
    leaveCurrent()
    if isPausing { isRunning = false }
    isPausing = false
    isStarving = false
    hasEnded = false
    needsRewind = false
    relinking = 0
    restingPosition = command.position
    wanted = command.generation
    entryFade = isRunning ? rampFrames : 0
    take()
  }

  @_noLocks
  private mutating func relink(_ command: PlayerCommand) {
    if current >= 0 {
      relinking = command.generation
    } else if wanted > 0 {
      wanted = command.generation
    }
    take()
  }

  // MARK: Lanes

  /// Takes the lane that is wanted, if it is there.
  @_noLocks
  mutating func take() {
    if relinking != 0 { takeRelinked() }
    guard wanted != 0 && current < 0 else { return }
    for index in 0..<PlayerLink.laneCount {
      let word = lanes[index].word.load(ordering: .acquiring)
      guard PlayerLane.isOffered(word) else { continue }
      let isWanted =
        wanted < 0
        ? PlayerLane.isRewind(word) : !PlayerLane.isRewind(word) && PlayerLane.generation(word) == wanted
      guard isWanted && isPrimed(index, 1) && lanes[index].take(word) else { continue }
      current = index
      wanted = 0
      enter(index)
      return
    }
  }

  /// Starts the voice of the lane with the ramp that has been chosen.
  @_noLocks
  private mutating func enter(_ index: Int) {
    voices[index].isLeaving = false
    voices[index].gain = Ramp(0)
    voices[index].gain.move(to: 1, over: entryFade)
  }

  @_noLocks
  private func isPrimed(_ index: Int, _ count: Int) -> Bool {
    lanes[index].isComplete.load(ordering: .acquiring) || lanes[index].written.load(ordering: .acquiring) >= count
  }

  /// Puts the lane of a changed loop in the place of the current one. Both have the same sound at the present position
  /// unless that has crossed an end of either loop meanwhile: then it crossfades to where the change was asked for.
  @_noLocks
  private mutating func takeRelinked() {
    for index in 0..<PlayerLink.laneCount {
      let word = lanes[index].word.load(ordering: .acquiring)
      guard PlayerLane.isOffered(word) && !PlayerLane.isRewind(word) && PlayerLane.generation(word) == relinking
      else { continue }
      let now = position
      let start = lanes[index].start
      let ahead = now &- start
      let crosses = lanes[index].loopTo > start && now >= lanes[index].loopTo
      let isSame = ahead >= 0 && ahead < Int64(PlayerLink.offeredFrames) / 2 && !crosses
      guard isPrimed(index, isSame ? Int(ahead) &+ 1 : 1) && lanes[index].take(word) else { return }
      relinking = 0
      if isSame && lanes[index].written.load(ordering: .acquiring) >= Int(ahead) {
        lanes[index].consumed.store(Int(ahead), ordering: .releasing)
        voices[index] = voices[current]
        lanes[current].release()
      } else {
        noteChance()
        leaveCurrent()
        entryFade = rampFrames
        enter(index)
        if isPausing { voices[index].gain = Ramp(0) }
      }
      current = index
      return
    }
  }

  /// Fades the current lane out, or gives it back at once where it is not heard.
  @_noLocks
  private mutating func leaveCurrent() {
    guard current >= 0 else { return }
    let index = current
    restingPosition = position
    current = -1
    voices[index].isLeaving = true
    if isRunning { voices[index].gain.move(to: 0, over: rampFrames) }
    if !isRunning || voices[index].gain.isSettled { finishLeaving(index) }
  }

  @_noLocks
  func finishLeaving(_ index: Int) {
    voices[index].isLeaving = false
    lanes[index].release()
  }

  @_noLocks
  mutating func finishPause() {
    isPausing = false
    isRunning = false
  }

  @_noLocks
  mutating func starve() {
    if isStarving { return }
    isStarving = true
    noteChance()
    link.pointee.underruns.store(link.pointee.underruns.load(ordering: .relaxed) &+ 1, ordering: .relaxed)
  }

  /// The end of the file has been played. A lane that holds all of it is kept, to be played again.
  @_noLocks
  mutating func end() {
    isRunning = false
    isPausing = false
    isStarving = false
    hasEnded = true
    needsRewind = true
    if !lanes[current].isWholeFile {
      relinking = 0
      leaveCurrent()
    }
  }

  /// Stops at once, at the start of the file, with nothing waiting.
  @_noLocks
  mutating func reset() {
    for index in 0..<PlayerLink.laneCount where index == current || voices[index].isLeaving { finishLeaving(index) }
    current = -1
    stop()
    dropAllCommands()
    link.pointee.underruns.store(0, ordering: .relaxed)
    link.pointee.lateCommands.store(0, ordering: .relaxed)
  }
}
