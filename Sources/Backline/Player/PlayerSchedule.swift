import BacklineDSP
import BacklineRealtime
import Synchronization

/// What has been scheduled with one player, and what has become of it: the control side of a player's unit.
///
/// It outlives the unit, which is made anew for another rate or other channels: what has not been played yet goes on in the
/// new one where it was. Commands come on the control queue; sound is read on a reader's thread or by whoever renders
/// offline; ends are told on the courier's thread.
final class PlayerSchedule: @unchecked Sendable {
  // Why unchecked: all that changes is in `state`.

  /// The frames of sound of one player that are read ahead, however many pieces they are: more than the longest request.
  private static let readAhead = 40_000

  private struct State {
    var sounds: [ScheduledSound] = []
    var memory: PlayerUnitMemory?
    var nextID = 1
    /// The player has been started and not been stopped or paused.
    var isStarted = false
    /// Ends that are told when so many frames have been rendered, in order.
    var leaving: [(frame: Int64, sound: ScheduledSound, end: PlaybackEnd)] = []
    /// Told on the courier's thread, in order.
    var ended: [(sound: ScheduledSound, end: PlaybackEnd)] = []
    var failure: AudioError?
    /// The speed and pitch behind the player.
    var stretch: PlaybackStretch?
    /// A look at what is leaving has been planned.
    var isLooking = false
  }

  private let state = Mutex(State())
  private let courier: Courier
  /// The frames rendered so far, `nil` while nothing renders, and those that sound takes from here to where it is heard.
  private let progress: @Sendable () -> (rendered: Int64?, latency: Int)

  /// Seconds between two looks at whether sound has left the engine.
  private static let look = 0.005

  init(courier: Courier, progress: @escaping @Sendable () -> (rendered: Int64?, latency: Int)) {
    self.courier = courier
    self.progress = progress
    courier.add(self) { [weak self] in
      self?.collect()
      return false
    }
  }

  // MARK: The unit

  /// Makes a unit in place of the present one, which goes on where that was. Control queue.
  func makeUnit(_ format: UnitFormat, channelCount: Int) -> UnitInstance {
    collect()
    let memory = PlayerUnitMemory(
      sampleRate: format.sampleRate, channelCount: channelCount, courier: courier)
    var time = (playerFrame: Int64(0), position: Int64(0), isRunning: false)
    state.withLock { state in
      if let old = state.memory {
        let ratio = format.sampleRate / old.sampleRate
        time.playerFrame = Int64((Double(old.link.pointee.time.playerFrame) * ratio).rounded())
        time.position = Int64((Double(old.link.pointee.position.load(ordering: .relaxed)) * ratio).rounded())
        time.isRunning = state.isStarted
        for sound in state.sounds {
          if let feed = sound.feed, sound.isSent {
            sound.playedBefore = feed.played(of: sound, sampleRate: old.sampleRate)
          }
          sound.feed = nil
          sound.isSent = false
        }
        old.unit = nil
      }
      state.memory = memory
    }
    let unit = SegmentPlayer(
      format, channelCount: channelCount, link: memory.link, playerFrame: time.playerFrame, position: time.position,
      isRunning: time.isRunning, owner: memory)
    let instance = UnitInstance(initializing: unit)
    state.withLock { state in
      memory.unit = instance.state
      send(&state)
    }
    return instance
  }

  /// Runs the unit by hand while nothing renders; `frame` is the coming one. Control queue.
  func takeInWhileIdle(at frame: Int64) {
    state.withLock { state in
      if let unit = state.memory?.unit { SegmentPlayer.takeInWhileIdle(unit, at: frame) }
    }
    collect()
  }

  /// Lets go of the unit, which has left the graph, and of all sounds.
  func end(_ end: PlaybackEnd) {
    state.withLock { state in
      for sound in state.sounds { finish(sound, end, &state) }
      for (_, sound, end) in state.leaving { state.ended.append((sound, end)) }
      state.sounds = []
      state.leaving = []
      state.memory?.unit = nil
      state.memory = nil
      state.isStarted = false
    }
    collect()
  }

  /// Has nothing more called back.
  func disconnect() { courier.remove(self) }

  // MARK: Commands

  func schedule(
    _ content: ScheduledSound.Content, options: PlaybackOptions, at startFrame: Int64?, stage: PlaybackStage,
    completion: (@Sendable (PlaybackEnd) -> Void)?
  ) {
    state.withLock { state in
      let sound = ScheduledSound(
        id: state.nextID, content: content, options: options, startFrame: startFrame, stage: stage,
        completion: completion)
      state.nextID += 1
      state.sounds.append(sound)
      send(&state)
    }
    collect()
  }

  func play(at frame: Int64?) {
    state.withLock { state in
      state.isStarted = true
      command(SegmentCommand(.play, frame: frame ?? .min), &state)
    }
  }

  func pause() {
    state.withLock { state in
      state.isStarted = false
      command(SegmentCommand(.pause), &state)
    }
  }

  func stop() {
    state.withLock { state in
      state.isStarted = false
      let unsent = state.sounds.filter { !$0.isSent }
      state.sounds.removeAll { !$0.isSent }
      command(SegmentCommand(.stop), &state)
      for sound in unsent { finish(sound, .stopped, &state) }
    }
    collect()
  }

  /// Plays at another speed or pitch from what is read next on; `nil` for as it is. What has been sent before a first one is
  /// played as it is.
  func setStretch(_ stretch: PlaybackStretch?) {
    state.withLock { state in
      state.stretch = stretch
      for sound in state.sounds { sound.feed?.setStretch(stretch ?? PlaybackStretch()) }
    }
  }

  private func command(_ command: SegmentCommand, _ state: inout State) {
    _ = state.memory?.link.pointee.commands.push(command)
  }

  /// Sends what the unit has room for, in order.
  private func send(_ state: inout State) {
    guard let memory = state.memory else { return }
    for sound in state.sounds where !sound.isSent {
      if memory.sounds.count >= SegmentLink.mostSegments { return }
      do throws(AudioError) {
        let feed = try SegmentFeed(
          sound, sampleRate: memory.sampleRate, channelCount: memory.channelCount, stretch: state.stretch)
        guard memory.link.pointee.commands.push(SegmentCommand(.schedule, segment: feed.segment)) else { return }
        sound.feed = feed
        sound.isSent = true
        memory.sounds[sound.id] = feed
      } catch {
        state.sounds.removeAll { $0 === sound }
        state.failure = state.failure ?? error
        finish(sound, .failed(error), &state)
      }
    }
  }

  // MARK: Reading

  /// The feeds that have to be read next, the most urgent first, with the frames that are left of them.
  var urgentFeeds: [(feed: SegmentFeed, framesAhead: Int)] {
    state.withLock { state in
      var feeds: [(feed: SegmentFeed, framesAhead: Int)] = []
      var frames = 0
      for sound in state.sounds {
        guard sound.isSent, let feed = sound.feed else { break }
        // What interrupts may come at any time.
        if frames >= Self.readAhead && sound.entry == .waits { continue }
        if !feed.isComplete { feeds.append((feed, frames + feed.framesAhead)) }
        frames += min(Self.readAhead, feed.framesLeft)
      }
      return feeds
    }
  }

  /// Notes that a feed's sound cannot be read on.
  func fail(_ feed: SegmentFeed, _ error: AudioError) {
    state.withLock { state in
      state.failure = state.failure ?? error
      state.sounds.first { $0.feed === feed }?.failure = error
    }
  }

  /// Reads all that there is room for; throws where a source breaks. For rendering that waits for its sources.
  func fillSynchronously() throws(AudioError) {
    while true {
      var isWorking = false
      for (feed, _) in urgentFeeds {
        do throws(AudioError) {
          if try feed.advance() { isWorking = true }
        } catch {
          fail(feed, error)
          throw error
        }
      }
      if !isWorking { return }
    }
  }

  // MARK: Ends

  /// Takes in what the render thread has reported. Any thread but that.
  func collect() {
    state.withLock { state in
      if let memory = state.memory {
        while let report = memory.link.pointee.reports.pop() { take(report, memory, &state) }
        send(&state)
      }
      tellHeard(&state)
      if state.ended.isEmpty { return }
      // Handed over under the lock, so that the order stays.
      let ended = state.ended
      state.ended = []
      courier.run { for (sound, end) in ended { sound.completion?(end) } }
    }
  }

  private func take(_ report: SegmentReport, _ memory: PlayerUnitMemory, _ state: inout State) {
    memory.sounds[report.id] = nil
    guard let index = state.sounds.firstIndex(where: { $0.id == report.id }) else { return }
    let sound = state.sounds.remove(at: index)
    switch report.end {
    case .played:
      let latency = sound.stage == .playedBack ? progress().latency : 0
      finish(sound, .played, &state, at: sound.stage == .consumed ? .min : report.frame + Int64(latency))
    case .brokenOff:
      finish(sound, .failed(sound.failure ?? AudioError(.fileFailed, "the sound ended early")), &state)
    case .interrupted: finish(sound, .interrupted, &state)
    case .stopped: finish(sound, .stopped, &state)
    }
  }

  private func finish(
    _ sound: ScheduledSound, _ end: PlaybackEnd, _ state: inout State, at frame: Int64 = .min
  ) {
    sound.feed = nil
    state.leaving.append((frame, sound, end))
  }

  /// Ends what has left the engine; looks again later where something has not.
  private func tellHeard(_ state: inout State) {
    if state.leaving.isEmpty { return }
    // Where rendering has stopped, what was rendered is as good as heard.
    let rendered = progress().rendered ?? .max
    let count = state.leaving.prefix { $0.frame <= rendered }.count
    for (_, sound, end) in state.leaving.prefix(count) { state.ended.append((sound, end)) }
    state.leaving.removeFirst(count)
    if !state.leaving.isEmpty && !state.isLooking {
      state.isLooking = true
      courier.run(after: Self.look) { [weak self] in
        self?.state.withLock { $0.isLooking = false }
        self?.collect()
      }
    }
  }

  // MARK: Questions

  /// Why something could not be played, once.
  func takeFailure() -> AudioError? {
    state.withLock { state in
      defer { state.failure = nil }
      return state.failure
    }
  }

  var link: (isRunning: Bool, hasSound: Bool, position: Int64, underruns: Int, lateStarts: Int) {
    state.withLock { state in
      guard let link = state.memory?.link else { return (false, false, 0, 0, 0) }
      return (
        link.pointee.isRunning.load(ordering: .relaxed), link.pointee.hasSound.load(ordering: .relaxed),
        link.pointee.position.load(ordering: .relaxed), link.pointee.underruns.load(ordering: .relaxed),
        link.pointee.lateStarts.load(ordering: .relaxed)
      )
    }
  }

  /// The player's frame and the absolute frame at which it comes; `nil` while no unit is there.
  var time: (playerFrame: Int64, absoluteFrame: Int64)? { state.withLock { $0.memory?.link.pointee.time } }

  /// True from a play to the next pause or stop, and while something is left to be played.
  var isStarted: Bool { state.withLock { $0.isStarted } }
  var hasScheduled: Bool { state.withLock { !$0.sounds.isEmpty } }
  var hasPlayed: Bool { state.withLock { $0.nextID > 1 } }
}
