import BacklineEngine
import BacklineRealtime
import CBackline
import Glibc
import Synchronization

/// Brings what is in the ring to the disk: a thread that writes, and one that syncs and publishes, so that a disk that takes its
/// time holds up the other thread for no longer than its writes do.
final class RecordingWriter: @unchecked Sendable {
  // Why unchecked: `report` is guarded, the rest belongs to the writing thread.

  private static let interval = 0.02
  private static let syncInterval: Int64 = 500_000_000
  private static let pieceFrames = SampleEncoder.pieceFrames
  /// Seconds of room left from which on it is told.
  private static let spaceWarning = 60.0

  private let thread: SerialThread
  private let syncThread: SerialThread
  private let tell: @Sendable (RecordingEvent) -> Void
  private let report = Mutex(RecordingReport())
  private let isSyncing = Atomic<Bool>(false)

  private var memory: RecordMemory?
  /// What is rendered into from some frame on, which is not known yet, in place of `memory`.
  private var successors: [RecordMemory] = []
  private var sampleRate = 0
  /// Kept while nothing is recorded.
  private var preRollFrames = 0
  /// The clock of the ring's next frame.
  private var position: Int64?
  private var take: RecordingTake?
  private var scratch: UnsafeMutableBufferPointer<Float> = .allocate(capacity: 0)
  private var nextSync: Int64 = 0
  private var isStepping = false
  private var lastWarning: Double?
  /// A stall for tests: nothing is written until this time.
  private var stalledUntil: Int64 = 0
  private var failingOffset: Int64?

  init(tell: @escaping @Sendable (RecordingEvent) -> Void) throws(EngineError) {
    thread = try SerialThread(name: "record")
    syncThread = try SerialThread(name: "record-sync")
    self.tell = tell
  }

  deinit {
    thread.end()
    syncThread.end()
    scratch.deallocate()
  }

  var state: RecordingReport { report.withLock { $0 } }

  // MARK: Commands, from any thread

  /// Reads from another ring from now on: what the present one still holds is written down first. Nothing is rendered into it
  /// any more.
  func read(_ memory: RecordMemory?, sampleRate: Int, preRoll: Int) {
    thread.run { [self] in change(to: memory, sampleRate, preRoll) }
  }

  /// Begins a recording with the frame `clock`, or with the first that comes; `completion` is told once its files are there.
  func start(
    _ plan: RecordingPlan, from clock: Int64?,
    _ completion: @escaping @Sendable (Result<Void, SoundFileWriteError>) -> Void
  ) {
    thread.run { [self] in begin(plan, clock, completion) }
  }

  /// Ends the recording before the frame `clock`; `completion` is told once its files have their names.
  func stop(before clock: Int64, _ reason: RecordingEnd, _ completion: @escaping @Sendable (RecordingReport) -> Void) {
    thread.run { [self] in
      if take == nil {
        // What is being published is told of by the thread that publishes, after this.
        syncThread.run { [self] in completion(state) }
        return
      }
      take?.onEnd.append(completion)
      if take?.end == nil { take?.end = (clock, reason) }
      step()
    }
  }

  /// Marks the frame `clock`.
  func mark(_ clock: Int64, _ text: String) {
    thread.run { [self] in
      take?.marks.append((clock, text))
      placeMarks()
    }
  }

  /// Has what was done at the frame `clock` written down beside the recording, by a line for its frame.
  func note(_ clock: Int64, _ line: @escaping @Sendable (Int64) -> String) {
    thread.run { [self] in take?.events.append((clock, line)) }
  }

  /// Has the track of these channels be silent from the frame `clock` on, or sound again.
  func setSilent(_ channels: Range<Int>, _ isSilent: Bool, from clock: Int64) {
    thread.run { [self] in take?.plan(RecordingTake.Switch(clock: clock, channels: channels, isSilent: isSilent)) }
  }

  /// Adds a track with a file of its own, silent until a ring has its channels; see `follow`.
  func add(
    _ track: RecordingPlan.Track, _ completion: @escaping @Sendable (Result<Void, SoundFileWriteError>) -> Void
  ) {
    thread.run { [self] in
      do throws(SoundFileWriteError) {
        guard take != nil else { throw .unsupported("the recording has ended meanwhile") }
        try take?.add(track)
        if track.channels.upperBound <= memory?.ring.pointee.channelCount ?? 0 { take?.arriving.append(track) }
        completion(.success(()))
      } catch {
        completion(.failure(error))
      }
    }
  }

  /// Reads from another ring, with more tracks, from where it begins on; the present one is rendered into until then.
  func follow(_ memory: RecordMemory) { thread.run { [self] in successors.append(memory) } }

  /// Calls `body` on the writing thread after what it was told before.
  func meet(_ body: @escaping @Sendable () -> Void) { thread.run(body) }

  /// Writes nothing for some time, as with a disk that hangs; for tests.
  func stall(seconds: Double) {
    thread.run { [self] in stalledUntil = backline_now() + Int64(seconds * 1e9) }
  }

  /// Has writing to the last file fail from an offset on; for tests.
  func failWriting(from offset: Int64) {
    thread.run { [self] in
      failingOffset = offset
      take?.part.files.last?.failWriting(from: offset)
    }
  }

  // MARK: The writing thread

  private func change(to memory: RecordMemory?, _ rate: Int, _ preRoll: Int) {
    if take != nil {
      drain()
      for _ in successors { changeToSuccessor() }
      tellSwitches(upTo: nil)
    }
    successors = []
    self.memory = memory
    preRollFrames = preRoll
    position = nil
    let isNewRate = rate != sampleRate
    sampleRate = rate
    resizeScratch()
    if take != nil {
      // A file has one rate: the recording goes on in another.
      if isNewRate { startPart() }
      take?.start = nil
    }
    plan()
  }

  private func resizeScratch() {
    let needed = Self.pieceFrames * max(1, memory?.ring.pointee.channelCount ?? 1)
    if scratch.count < needed {
      scratch.deallocate()
      scratch = .allocate(capacity: needed)
      scratch.initialize(repeating: 0)
    }
  }

  private func begin(
    _ plan: RecordingPlan, _ clock: Int64?,
    _ completion: @escaping @Sendable (Result<Void, SoundFileWriteError>) -> Void
  ) {
    do throws(SoundFileWriteError) {
      if plan.isFolder && mkdir(plan.path, 0o777) != 0 && errno != EEXIST {
        throw .cannotCreate(path: plan.path, reason: String(cString: strerror(errno)))
      }
      let part = try RecordingPart(plan, number: 1, sampleRate: sampleRate)
      let journal: EventJournal?
      do throws(SoundFileWriteError) {
        journal = plan.keepsEvents ? try EventJournal(path: plan.eventsPath) : nil
        if !part.reserve(sampleRate / 2) {
          journal?.discard()
          throw .failed(path: plan.path, code: ENOSPC)
        }
      } catch {
        for file in part.files { file.discard() }
        throw error
      }
      if let failingOffset { part.files.last?.failWriting(from: failingOffset) }
      take = RecordingTake(plan: plan, part: part, journal: journal, start: clock)
      report.withLock { report in
        report = RecordingReport()
        report.state = .recording
        report.path = plan.path
        report.sampleRate = sampleRate
      }
      nextSync = backline_now() + Self.syncInterval
      lastWarning = nil
      tell(.started(path: plan.path))
      completion(.success(()))
      self.plan()
    } catch {
      completion(.failure(error))
    }
  }

  /// Looks again soon.
  private func plan() {
    if isStepping || memory == nil { return }
    isStepping = true
    thread.run(after: Self.interval) { [weak self] in
      self?.isStepping = false
      self?.step()
      self?.plan()
    }
  }

  private func step() {
    if backline_now() < stalledUntil { return }
    if let last = successors.lastIndex(where: { $0.ring.pointee.hasBegun }) {
      for _ in 0...last { changeToSuccessor() }
    }
    guard take != nil else {
      discardOld()
      return
    }
    drain()
    placeMarks()
    endIfDue()
    if take != nil && backline_now() >= nextSync { sync() }
  }

  /// Writes down what is left in the ring, and goes over to the next one, which goes on at the frame where this one ends.
  private func changeToSuccessor() {
    drain()
    let before = memory?.ring.pointee.channelCount ?? 0
    memory = successors.removeFirst()
    resizeScratch()
    let after = memory?.ring.pointee.channelCount ?? 0
    let tracks = take?.plan.tracks ?? []
    take?.arriving += tracks.filter { $0.channels.upperBound > before && $0.channels.upperBound <= after }
  }

  /// Before a recording, what is older than it could begin with is forgotten.
  private func discardOld() {
    guard let ring = memory?.ring else { return }
    let kept = preRollFrames + sampleRate / 2
    while ring.pointee.waitingFrames > kept {
      switch ring.pointee.next() {
      case .nothing: return
      case .jump(let clock, _): position = clock
      case .frames(let count):
        let old = min(count, ring.pointee.waitingFrames - kept)
        ring.pointee.advance(old)
        position = position.map { $0 + Int64(old) }
      }
    }
  }

  /// Writes down what is in the ring.
  private func drain() {
    guard let ring = memory?.ring else { return }
    while let take {
      if let end = take.end, let position, position >= end.clock { return }
      do throws(SoundFileWriteError) {
        switch ring.pointee.next() {
        case .nothing: return
        case .jump(let clock, let serverFrames): try jump(to: clock, serverFrames)
        case .frames(let count): try copy(ring, count)
        }
      } catch {
        fail(error)
      }
    }
  }

  /// The frames that may be written at once; tracks change here where that is due.
  private func room(_ wanted: Int64) -> Int {
    tellSwitches(upTo: position ?? .min)
    return take?.room(min(wanted, Int64(Self.pieceFrames)), at: position) ?? 0
  }

  private func copy(_ ring: UnsafeMutablePointer<RecordRing>, _ available: Int) throws(SoundFileWriteError) {
    guard let take, let base = scratch.baseAddress else { return }
    if let start = take.start, let position, position < start {
      let early = min(available, Int(start - position))
      ring.pointee.advance(early)
      self.position = position + Int64(early)
      return
    }
    if take.start == nil || take.frames == 0 {
      // With the first that there is, where so much was not kept.
      self.take?.start = position
      self.take?.startFrame = take.frames
    }
    tellArrivals()
    let count = room(Int64(available))
    guard let take = self.take else { return }
    try write(count, base) { channels, target in
      if channels.upperBound <= ring.pointee.channelCount {
        ring.pointee.read(channels, count: count, into: target)
        take.silence(target, channels, count)
      } else {
        target.update(repeating: 0, count: count * channels.count)
      }
    }
    ring.pointee.advance(count)
    position = position.map { $0 + Int64(count) }
    endIfLong()
  }

  /// The clock goes on elsewhere: silence for what is missing.
  private func jump(to clock: Int64, _ serverFrames: Int64) throws(SoundFileWriteError) {
    guard let take, let before = position else {
      position = clock
      return
    }
    let first = max(before, take.start ?? clock)
    let last = min(clock, take.end?.clock ?? clock)
    if last > first {
      let place = take.frames
      let missing = last - first
      let server = min(max(0, serverFrames), missing)
      if missing > server { note(RecordingGap(frame: place, count: missing - server, cause: .disk)) }
      if server > 0 { note(RecordingGap(frame: place + missing - server, count: server, cause: .server)) }
      position = first
      try fill(missing)
    }
    position = clock
  }

  private func note(_ gap: RecordingGap) {
    placeMarks()
    report.withLock { $0.note(gap) }
    addMarker(
      gap.cause == .disk ? "gap: disk too slow, \(gap.count) frames" : "gap: xrun, \(gap.count) frames", gap.frame)
    tell(.gap(gap))
  }

  /// Writes silence.
  private func fill(_ frames: Int64) throws(SoundFileWriteError) {
    var left = frames
    while left > 0, take != nil, let base = scratch.baseAddress {
      let count = room(left)
      if count == 0 { return }
      try write(count, base) { channels, target in
        target.update(repeating: 0, count: count * channels.count)
      }
      position = position.map { $0 + Int64(count) }
      left -= Int64(count)
      endIfLong()
    }
  }

  private func write(
    _ count: Int, _ base: UnsafeMutablePointer<Float>, _ fill: (Range<Int>, UnsafeMutablePointer<Float>) -> Void
  ) throws(SoundFileWriteError) {
    guard count > 0, let part = take?.part else { return }
    if !part.reserve(count) {
      end(.diskFull, nil)
      return
    }
    try part.write(count, base, fill: fill)
    let frames = take?.frames ?? 0
    report.withLock { $0.frames = frames }
  }

  /// Ends the part or the recording where that has its length.
  private func endIfLong() {
    guard let take else { return }
    if let limit = take.plan.frameLimit, take.frames >= limit {
      end(.duration, nil)
    } else if let limit = take.partLimit, take.part.frames >= limit {
      startPart()
    }
  }

  private func startPart() {
    placeMarks()
    guard let old = take else { return }
    let next: RecordingPart
    do throws(SoundFileWriteError) {
      next = try RecordingPart(old.plan, number: old.number + 1, sampleRate: sampleRate)
    } catch {
      fail(error)
      return
    }
    finish(old.part)
    take?.part = next
    take?.number += 1
    take?.framesBefore += old.part.frames
    if let failingOffset { next.files.last?.failWriting(from: failingOffset) }
    report.withLock { $0.sampleRate = sampleRate }
  }

  // MARK: Ends

  private func endIfDue() {
    guard let take, let end = take.end, let ring = memory?.ring else { return }
    if let position, position < end.clock {
      // Frames that are rendered come within a moment; those that were left out for want of room never do.
      if take.patience > 0 && !ring.pointee.isBehind {
        self.take?.patience -= 1
        return
      }
      do throws(SoundFileWriteError) {
        try jump(to: end.clock, 0)
      } catch {
        fail(error)
        return
      }
    }
    self.end(end.reason, nil)
  }

  private func fail(_ error: SoundFileWriteError) {
    if case .failed(_, let code) = error, code == ENOSPC || code == EDQUOT {
      end(.diskFull, nil)
    } else {
      end(.failed, error.message)
    }
  }

  private func end(_ reason: RecordingEnd, _ failure: String?) {
    placeMarks()
    guard let take else { return }
    self.take = nil
    report.withLock { report in
      report.state = .finishing
      report.end = reason
      report.failure = failure
    }
    finish(take.part)
    let callbacks = take.onEnd
    if let journal = take.journal { finish(journal) }
    syncThread.run { [self] in
      let report = report.withLock { report in
        // Another one may run by now.
        if report.state == .finishing { report.state = .idle }
        return report
      }
      tell(.ended(report))
      for callback in callbacks { callback(report) }
    }
  }

  /// Ends a part's files here, and has the other thread publish them.
  private func finish(_ part: RecordingPart) {
    let failure = part.finish()
    syncThread.run { [self] in
      let (paths, refusal) = part.publish()
      report.withLock { report in
        report.files += paths
        if report.failure == nil { report.failure = (failure ?? refusal)?.message }
      }
      for path in paths { tell(.published(path: path, frames: part.frames)) }
    }
  }

  private func finish(_ journal: EventJournal) {
    syncThread.run { [self] in
      do throws(SoundFileWriteError) {
        let path = try journal.publish()
        report.withLock { $0.files.append(path) }
      } catch {
        report.withLock { if $0.failure == nil { $0.failure = error.message } }
      }
    }
  }

  // MARK: Tracks

  /// Has tracks change that are to up to `position`, or all of them.
  private func tellSwitches(upTo position: Int64?) {
    for change in take?.takeSwitches(upTo: position) ?? [] {
      guard let take else { return }
      guard let track = take.plan.tracks.first(where: { $0.channels == change.channels }) else { continue }
      tellTrack(track.label, isArmed: !change.isSilent, take.frame(at: change.clock))
    }
  }

  /// Says which tracks sound from here on for the first time.
  private func tellArrivals() {
    guard let take, !take.arriving.isEmpty else { return }
    self.take?.arriving = []
    for track in take.arriving { tellTrack(track.label, isArmed: true, take.frames) }
  }

  private func tellTrack(_ label: String, isArmed: Bool, _ frame: Int64) {
    addMarker(isArmed ? "armed: \(label)" : "disarmed: \(label)", frame)
    tell(isArmed ? .armed(track: label, frame: frame) : .disarmed(track: label, frame: frame))
  }

  // MARK: Markers

  /// Takes the marks in whose frames have been written.
  private func placeMarks() {
    guard let take, take.start != nil, let position else { return }
    self.take?.noteEvents(upTo: position)
    for mark in take.marks where mark.clock <= position { addMarker(mark.text, take.frame(at: mark.clock)) }
    self.take?.marks.removeAll { $0.clock <= position }
  }

  /// `frame` counts from the recording's start.
  private func addMarker(_ text: String, _ frame: Int64) {
    guard let take else { return }
    take.part.mark(.init(frame: max(0, frame - take.framesBefore), name: text))
  }

  // MARK: Syncing

  private func sync() {
    guard let part = take?.part else { return }
    nextSync = backline_now() + Self.syncInterval
    do throws(SoundFileWriteError) {
      try part.updateHeaders()
    } catch {
      fail(error)
      return
    }
    lookAtSpace(part)
    // One that is late is not asked again: it is told of when it is through.
    if isSyncing.exchange(true, ordering: .acquiringAndReleasing) { return }
    let files = part.files
    let journal = take?.journal
    syncThread.run { [self] in
      let begin = backline_now()
      let code = files.reduce(journal?.sync() ?? 0) { code, file in code != 0 ? code : file.sync() }
      let seconds = Double(backline_now() - begin) / 1e9
      isSyncing.store(false, ordering: .releasing)
      if code != 0 { tell(.warning("the disk cannot be synced: \(String(cString: strerror(code)))")) }
      if seconds > 0.5 {
        tell(.warning("the disk needed \(Int(seconds * 1_000)) ms to sync: after a power cut so much would be missing"))
      }
    }
  }

  private func lookAtSpace(_ part: RecordingPart) {
    guard let path = part.files.first?.path else { return }
    let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "./"
    var status = statvfs()
    guard statvfs(folder, &status) == 0 else { return }
    let free = Int64(clamping: UInt64(status.f_bavail) &* UInt64(status.f_frsize)) + part.unusedBytes
    let seconds = Double(free) / Double(max(1, part.bytesPerFrame * Int64(part.sampleRate)))
    report.withLock { $0.secondsLeft = seconds }
    if seconds < Self.spaceWarning && seconds < (lastWarning ?? .infinity) / 2 {
      lastWarning = seconds
      tell(.space(seconds: seconds))
    }
  }
}
