import BacklineRealtime
import Synchronization

/// The transport of one player: the `control` of its unit instance.
///
/// Every method but the reader's (`readAhead`, `fillSynchronously`) returns at once and may be called on any thread; the
/// commands act in the order in which they were given. Frames of a file are counted at the engine's rate. A command
/// without a frame acts at the start of the next block; one whose frame has passed too, and is counted.
public final class PlayerControl: @unchecked Sendable {
  /// Frames a second, of the engine and of all positions.
  public let sampleRate: Double
  private let memory: PlayerMemory
  private let feeder: Mutex<PlayerFeeder>
  private let requests = Mutex(Requests())

  private struct Requests {
    var feed = PlayerFeeder.Request()
    /// The newest generation given out.
    var generation = 0
    /// The last seek, for as long as it may still wait.
    var seek: PlayerCommand?
    /// The generation of the file.
    var file = 0
    var failure: PlayerSourceFailure?
    /// The commands sent so far.
    var sent = 0
    var onWork: (@Sendable () -> Void)?
    /// What the render thread has told of `taken` and nobody has asked for yet.
    var taken: [Int: Int64] = [:]

    mutating func newGeneration() -> Int {
      generation += 1
      return generation
    }
  }

  init(_ memory: PlayerMemory, sampleRate: Double) {
    self.memory = memory
    self.sampleRate = sampleRate
    feeder = Mutex(PlayerFeeder(memory))
  }

  private var link: UnsafeMutablePointer<PlayerLink> { memory.link }

  // MARK: The file

  /// Takes `source` as the file to play: stopped, at its start, without a loop, whatever was before.
  public func attach(_ source: any PlayerSource) {
    load(source)
  }

  /// Takes the file out. Its source is let go by the reader at its next turn.
  public func detach() {
    load(nil)
  }

  private func load(_ source: (any PlayerSource)?) {
    requests.withLock { requests in
      requests.file = requests.newGeneration()
      requests.failure = nil
      requests.feed.source = source
      requests.feed.loop = nil
      requests.feed.current = .init(generation: requests.file)
      requests.feed.next = nil
      requests.feed.rewindGeneration = requests.file
      requests.feed.serial += 1
      // To a loop that is set before the next block, a fresh file is like a seek that waits.
      requests.seek = PlayerCommand(
        kind: .seek, isScheduled: false, frame: 0, file: requests.file, generation: requests.file)
      link.pointee.isRewindWanted.store(false, ordering: .relaxed)
      link.pointee.newestFile.store(requests.file << 1 | (source == nil ? 0 : 1), ordering: .releasing)
    }
    notifyReader()
  }

  /// The file that has been attached.
  public var source: (any PlayerSource)? { requests.withLock { $0.feed.source } }

  /// The samples of the file that were not finite and have been replaced by silence so far.
  public var nonFiniteCount: Int { source?.nonFiniteCount ?? 0 }

  /// Why the file could not be read on, if that happened; cleared by the next file.
  public var failure: PlayerSourceFailure? { requests.withLock { $0.failure } }

  // MARK: Transport

  /// Begins to play, exactly at the absolute frame `frame` where one is given.
  public func play(at frame: Int64? = nil) throws(PlayerError) {
    try send(.play, at: frame)
  }

  /// Fades out and holds the position.
  public func pause(at frame: Int64? = nil) throws(PlayerError) {
    try send(.pause, at: frame)
  }

  /// Fades out and returns to the start of the file.
  public func stop(at frame: Int64? = nil) throws(PlayerError) {
    try send(.stop, at: frame)
  }

  /// Moves to the file's frame `position`. A loop stays as it is: a position before its end runs into it, one at or
  /// behind its end plays on to the end of the file.
  public func seek(to position: Int64, at frame: Int64? = nil) throws(PlayerError) {
    try change { requests throws(PlayerError) in
      guard let source = requests.feed.source else { throw .nothingLoaded }
      guard (0...source.frameCount).contains(position) else {
        throw .outOfRange("position \(position) is not within 0 to \(source.frameCount) frames")
      }
      let command = PlayerCommand(
        kind: .seek, isScheduled: frame != nil, frame: frame ?? 0, generation: requests.newGeneration(),
        position: position)
      try self.push(command, &requests)
      self.follow(command, &requests)
    }
  }

  /// Sets the frames of the file that are repeated, or none. Heard at the present position, without a break; a seek that
  /// still waits for its frame goes by the new loop.
  public func setLoop(_ loop: Range<Int64>?) throws(PlayerError) {
    try change { requests throws(PlayerError) in
      guard let source = requests.feed.source else { throw .nothingLoaded }
      if let loop {
        guard !loop.isEmpty, loop.lowerBound >= 0, loop.upperBound <= source.frameCount else {
          throw .outOfRange(
            "loop \(loop.lowerBound) to \(loop.upperBound) is empty or not within 0 to \(source.frameCount) frames")
        }
      }
      if requests.feed.loop == loop { return }
      self.settle(&requests)
      let waiting = self.waitingSeek(requests)
      if waiting != nil { try self.checkRoom(for: 2, isScheduled: true, requests) }
      if waiting?.isScheduled ?? true {
        let command = PlayerCommand(
          kind: .relink, isScheduled: false, frame: 0, generation: requests.newGeneration())
        try self.push(command, &requests)
        requests.feed.current = .init(generation: command.generation, isRelink: true)
      }
      requests.feed.loop = loop
      requests.feed.rewindGeneration = requests.newGeneration()
      requests.feed.serial += 1
      if var seek = waiting {
        // It is asked for once more, with the new loop.
        seek.generation = requests.newGeneration()
        try self.push(seek, &requests)
        self.follow(seek, &requests)
      }
    }
  }

  /// The frames that are repeated.
  public var loop: Range<Int64>? { requests.withLock { $0.feed.loop } }

  /// Where the player is.
  public var state: PlayerState {
    PlayerState(
      isPlaying: link.pointee.isPlaying.load(ordering: .relaxed),
      hasEnded: link.pointee.hasEnded.load(ordering: .relaxed),
      position: link.pointee.position.load(ordering: .relaxed),
      underruns: link.pointee.underruns.load(ordering: .relaxed),
      lateCommands: link.pointee.lateCommands.load(ordering: .relaxed))
  }

  /// The frame nearest to a time in seconds, halves up; not below 0.
  public func frame(atSeconds seconds: Double) -> Int64 {
    let frames = (seconds * sampleRate + 0.5).rounded(.down)
    return frames >= 0 && frames < 9e18 ? Int64(frames) : frames >= 9e18 ? .max : 0
  }

  private func send(_ kind: PlayerCommand.Kind, at frame: Int64?) throws(PlayerError) {
    try change { requests throws(PlayerError) in
      if requests.feed.source == nil { throw .nothingLoaded }
      try self.push(PlayerCommand(kind: kind, isScheduled: frame != nil, frame: frame ?? 0), &requests)
      if kind == .stop {
        requests.feed.stops += 1
        requests.feed.serial += 1
        if frame == nil {
          requests.seek = nil
          requests.feed.next = nil
        }
      }
    }
  }

  private func change(_ body: (inout Requests) throws(PlayerError) -> Void) throws(PlayerError) {
    let result = requests.withLock { requests in
      Result { () throws(PlayerError) in try body(&requests) }
    }
    try result.get()
    notifyReader()
  }

  /// Has the place of a seek read.
  private func follow(_ seek: PlayerCommand, _ requests: inout Requests) {
    let place = PlayerFeeder.Request.Place(generation: seek.generation, start: seek.position)
    settle(&requests)
    if seek.isScheduled {
      requests.feed.next = place
    } else {
      requests.feed.current = place
      requests.feed.next = nil
    }
    requests.seek = seek
    requests.feed.serial += 1
  }

  /// The place of a scheduled seek that has been carried out is the current one.
  private func settle(_ requests: inout Requests) {
    guard let next = requests.feed.next, isExecuted(next.generation) else { return }
    requests.feed.current = next
    requests.feed.next = nil
  }

  private func isExecuted(_ generation: Int) -> Bool {
    link.pointee.executedGeneration.load(ordering: .acquiring) >= generation
  }

  private func waitingSeek(_ requests: Requests) -> PlayerCommand? {
    guard let seek = requests.seek, !isExecuted(seek.generation) else { return nil }
    return seek
  }

  private func push(_ command: PlayerCommand, _ requests: inout Requests) throws(PlayerError) {
    var command = command
    command.file = requests.file
    command.number = requests.sent + 1
    try checkRoom(for: 1, isScheduled: command.isScheduled, requests)
    guard link.pointee.commands.push(command) else { throw .tooManyWaiting(limit: PlayerLink.waitingLimit) }
    requests.sent += 1
  }

  /// Half of the room is kept for commands without a frame, so that a player can be stopped whatever waits.
  private func checkRoom(for count: Int, isScheduled: Bool, _ requests: Requests) throws(PlayerError) {
    let waiting = requests.sent - link.pointee.retiredCommands.load(ordering: .acquiring)
    let limit = isScheduled ? PlayerLink.waitingLimit / 2 : PlayerLink.waitingLimit
    if waiting + count > limit { throw .tooManyWaiting(limit: limit) }
  }

  // MARK: Taking down

  /// Begins to remember with which blocks commands and files are taken. False where it does already.
  public func observe() -> Bool {
    !link.pointee.isObserved.exchange(true, ordering: .acquiringAndReleasing)
  }

  /// A number for the last command that was given.
  public var lastCommand: Int { requests.withLock { $0.sent } }

  /// A number for the last file that was attached, or taken out.
  public var lastFile: Int { requests.withLock { -$0.file } }

  /// The first frame of the block with which the command or file of a number was taken, once; `nil` while it has not been. To
  /// be asked for often enough: some 128 may wait.
  public func takenFrame(_ number: Int) -> Int64? {
    requests.withLock { requests in
      while let taken = link.pointee.taken.pop() { requests.taken[taken.number] = taken.frame }
      return requests.taken.removeValue(forKey: number)
    }
  }

  /// True where something of what has been heard went by how fast a disk was, not by commands and their frames alone.
  public var dependsOnDisk: Bool { link.pointee.chances.load(ordering: .acquiring) > 0 }

  // MARK: The reader

  /// Calls `handler` whenever a command gives the reader something to do, on the thread that gave it.
  public func onWork(_ handler: (@Sendable () -> Void)?) {
    requests.withLock { $0.onWork = handler }
  }

  private func notifyReader() {
    requests.withLock { $0.onWork }?()
  }

  /// Reads one piece of the file, where there is room for it; false when there was nothing to do. Reader thread: this may
  /// wait for the disk.
  public func readAhead() -> Bool {
    let request = requests.withLock { requests in
      settle(&requests)
      return requests.feed
    }
    let (isWorking, failure) = feeder.withLock { feeder in
      let isWorking = feeder.advance(request)
      return (isWorking, feeder.takeFailure())
    }
    if let failure {
      requests.withLock { requests in
        if requests.file <= failure.generation && requests.failure == nil { requests.failure = failure.failure }
      }
    }
    return isWorking
  }

  /// Reads all that there is room for: an offline renderer calls this before each block, so that sources are waited for.
  /// Blocks may have up to 8192 frames.
  public func fillSynchronously() {
    while readAhead() {}
  }

  /// The frames that can be played before reading has to go on: what the reader serves first. 0 where sound is waited for.
  public var urgency: Int {
    let serial = requests.withLock { $0.feed.serial }
    return PlayerFeeder.urgency(memory, isServed: link.pointee.servedSerial.load(ordering: .acquiring) == serial)
  }

  /// True once the unit has been freed: nothing is played any more.
  public var isAbandoned: Bool { link.pointee.isAbandoned.load(ordering: .acquiring) }
}
