import BacklineEngine
import BacklineRealtime
import CBackline
import Glibc
import Synchronization

/// Brings what is in the ring to the disk: a thread that writes, and one that syncs and publishes, so that a disk that takes its
/// time holds up the other thread for no longer than its writes do.
final class RecordingWriter: @unchecked Sendable {
  // Why unchecked: `report` is guarded, the rest belongs to the writing thread.

  /// What runs.
  private struct Take {
    let plan: RecordingPlan
    var part: RecordingPart
    var number = 1
    /// The clock of the recording's frame `startFrame`; `nil` until one has come.
    var start: Int64?
    var startFrame: Int64 = 0
    /// The frames of the parts before.
    var framesBefore: Int64 = 0
    /// The clock at which it ends, and why.
    var end: (clock: Int64, reason: RecordingEnd)?
    var patience = 25
    var silent: Set<Int> = []
    /// Marks of frames that have not been written yet.
    var marks: [(clock: Int64, text: String)] = []
    var onEnd: [@Sendable (RecordingReport) -> Void] = []
  }

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
  private var sampleRate = 0
  /// Kept while nothing is recorded.
  private var preRollFrames = 0
  /// The clock of the ring's next frame.
  private var position: Int64?
  private var take: Take?
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

  /// Has a track be silent from about now on, or sound again.
  func setSilent(_ track: Int, _ isSilent: Bool) {
    thread.run { [self] in
      if isSilent { take?.silent.insert(track) } else { take?.silent.remove(track) }
    }
  }

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
    if take != nil { drain() }
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
      if !part.reserve(sampleRate / 2) {
        for file in part.files { file.discard() }
        throw .failed(path: plan.path, code: ENOSPC)
      }
      if let failingOffset { part.files.last?.failWriting(from: failingOffset) }
      take = Take(plan: plan, part: part, start: clock)
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
    guard take != nil else {
      discardOld()
      return
    }
    drain()
    placeMarks()
    endIfDue()
    if take != nil && backline_now() >= nextSync { sync() }
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

  /// The frames that may be written at once from here on: to the end, or to the next part.
  private func room(_ take: Take, _ wanted: Int64) -> Int {
    var room = min(wanted, Int64(Self.pieceFrames))
    if let end = take.end, let position { room = min(room, max(0, end.clock - position)) }
    if let limit = take.plan.frameLimit { room = min(room, limit - take.framesBefore - take.part.frames) }
    if let limit = partLimit(take) { room = min(room, limit - take.part.frames) }
    return Int(max(0, room))
  }

  private func partLimit(_ take: Take) -> Int64? {
    let bySize = take.plan.splitBytes.map { take.part.frames(forBytes: $0) }
    return [take.plan.splitFrames, bySize].compactMap { $0 }.min()
  }

  private func copy(_ ring: UnsafeMutablePointer<RecordRing>, _ available: Int) throws(SoundFileWriteError) {
    guard let take, let base = scratch.baseAddress else { return }
    if let start = take.start, let position, position < start {
      let early = min(available, Int(start - position))
      ring.pointee.advance(early)
      self.position = position + Int64(early)
      return
    }
    let frames = take.framesBefore + take.part.frames
    if take.start == nil || frames == 0 {
      // With the first that there is, where so much was not kept.
      self.take?.start = position
      self.take?.startFrame = frames
    }
    let count = room(take, Int64(available))
    try write(count, base) { channels, target in
      ring.pointee.read(channels, count: count, into: target)
      for index in take.silent where take.plan.tracks[index].channels.overlaps(channels) {
        for channel in take.plan.tracks[index].channels.clamped(to: channels) {
          var at = channel - channels.lowerBound
          for _ in 0..<count {
            target[at] = 0
            at += channels.count
          }
        }
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
      let place = take.framesBefore + take.part.frames
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
    while left > 0, let take, let base = scratch.baseAddress {
      let count = room(take, left)
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
    let frames = (take?.framesBefore ?? 0) + part.frames
    report.withLock { $0.frames = frames }
  }

  /// Ends the part or the recording where that has its length.
  private func endIfLong() {
    guard let take else { return }
    if let limit = take.plan.frameLimit, take.framesBefore + take.part.frames >= limit {
      end(.duration, nil)
    } else if let limit = partLimit(take), take.part.frames >= limit {
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

  // MARK: Markers

  /// Takes the marks in whose frames have been written.
  private func placeMarks() {
    guard let take, let start = take.start, let position else { return }
    for mark in take.marks where mark.clock <= position {
      addMarker(mark.text, take.startFrame + max(0, mark.clock - start))
    }
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
    syncThread.run { [self] in
      let begin = backline_now()
      let code = part.sync()
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
