import BacklineRealtime
import CBackline
import Synchronization

/// The render thread's side of a segment player: the queue, the voices that fade out, and what happens at which frame.
struct SegmentTransport {
  typealias Segment = UnsafeMutablePointer<SoundSegment>

  /// A piece that has been cut off and fades out.
  private struct Voice {
    var segment: Segment?
    var gain = Ramp(0)
    var end = SegmentReport.End.stopped
  }

  private static var voiceCount: Int { @_noLocks get { 4 } }

  let link: UnsafeMutablePointer<SegmentLink>
  var rampFrames: Int32
  var isRunning = false
  /// Frames of the player's own time.
  var playerFrame: Int64 = 0
  /// Frames of sound that have been played since the last stop.
  var position: Int64 = 0

  private var first: Segment?
  private var last: Segment?
  /// True when the first piece has begun.
  private var hasBegun = false
  /// The absolute frame of a start that waits; the largest number where none does.
  private var startFrame = Int64.max
  /// The level of the present piece: pause and play move it.
  private var gain = Ramp(1)
  private var isPausing = false
  /// Sound is due and not there.
  private var isStarving = false
  private let voices: UnsafeMutablePointer<Voice>

  init(link: UnsafeMutablePointer<SegmentLink>, rampFrames: Int32) {
    self.link = link
    self.rampFrames = rampFrames
    voices = .allocate(capacity: Self.voiceCount)
    voices.initialize(repeating: Voice(), count: Self.voiceCount)
  }

  /// Frees the memory, but no segment.
  func deallocate() { voices.deallocate() }

  // MARK: Commands

  /// Takes what control has sent. `frame` is the first one of the block.
  @_noLocks
  mutating func receive(at frame: Int64) {
    while let command = link.pointee.commands.pop() {
      switch command.kind {
      case .schedule:
        if let segment = Segment(bitPattern: command.segment) { schedule(segment, at: frame) }
      case .play: play(command.frame, now: frame)
      case .pause: pause()
      case .stop: stop(at: frame)
      }
    }
  }

  @_noLocks
  private mutating func schedule(_ segment: Segment, at frame: Int64) {
    segment.pointee.next = nil
    let interrupts = isInterrupting(segment) && segment.pointee.startFrame == Int64.min
    if interrupts && !waitsForLoop(segment) {
      drop(.interrupted, at: frame)
    } else if interrupts {
      // All but the loop that is being finished goes.
      dropAfterFirst(.interrupted, at: frame)
    }
    if let last { last.pointee.next = segment } else { first = segment }
    last = segment
  }

  @_noLocks
  private func isInterrupting(_ segment: Segment) -> Bool { segment.pointee.entry.cuts }

  /// True where a piece has to wait for the end of a loop's pass.
  @_noLocks
  private func waitsForLoop(_ segment: Segment) -> Bool {
    guard segment.pointee.entry.waitsForLoop, hasBegun, let first else { return false }
    return first.pointee.isLooping && first != segment
  }

  @_noLocks
  private mutating func play(_ wanted: Int64, now: Int64) {
    if isRunning {
      if isPausing {
        isPausing = false
        gain.move(to: 1, over: rampFrames)
      }
      return
    }
    if wanted > now {
      startFrame = wanted
      return
    }
    if wanted != Int64.min && wanted < now { countLate() }
    start(isExact: wanted == now)
  }

  @_noLocks
  private mutating func start(isExact: Bool) {
    startFrame = Int64.max
    isRunning = true
    isStarving = false
    // A piece that goes on where it was paused comes in without a step; one that begins is left as it is.
    gain = Ramp(hasBegun && !isExact ? 0 : 1)
    gain.move(to: 1, over: rampFrames)
  }

  @_noLocks
  private mutating func pause() {
    startFrame = Int64.max
    if !isRunning { return }
    if hasBegun && !isStarving && rampFrames > 0 {
      isPausing = true
      gain.move(to: 0, over: rampFrames)
    } else {
      isRunning = false
    }
  }

  @_noLocks
  private mutating func stop(at frame: Int64) {
    drop(.stopped, at: frame)
    isRunning = false
    isPausing = false
    isStarving = false
    startFrame = Int64.max
    playerFrame = 0
    position = 0
    gain = Ramp(1)
  }

  // MARK: The queue

  /// Empties the queue; what sounds fades out.
  @_noLocks
  private mutating func drop(_ end: SegmentReport.End, at frame: Int64) {
    dropAfterFirst(end, at: frame)
    guard let segment = first else { return }
    first = nil
    last = nil
    if isRunning && hasBegun && !isStarving && rampFrames > 0 {
      leave(segment, end, at: frame)
    } else {
      report(segment, end, at: frame)
    }
    hasBegun = false
    gain = Ramp(1)
    isPausing = false
  }

  @_noLocks
  private mutating func dropAfterFirst(_ end: SegmentReport.End, at frame: Int64) {
    guard let first else { return }
    var next = first.pointee.next
    while let segment = next {
      next = segment.pointee.next
      report(segment, end, at: frame)
    }
    first.pointee.next = nil
    last = first
  }

  /// Takes the first piece out, which is done.
  @_noLocks
  private mutating func finish(_ end: SegmentReport.End, at frame: Int64) {
    guard let segment = first else { return }
    first = segment.pointee.next
    if first == nil { last = nil }
    hasBegun = false
    report(segment, end, at: frame)
  }

  @_noLocks
  private func report(_ segment: Segment, _ end: SegmentReport.End, at frame: Int64) {
    _ = link.pointee.reports.push(SegmentReport(end, id: segment.pointee.id, frame: frame))
    let descriptor = link.pointee.wakeDescriptor.load(ordering: .relaxed)
    if descriptor >= 0 { backline_wake(descriptor) }
  }

  @_noLocks
  private func countLate() {
    link.pointee.lateStarts.store(link.pointee.lateStarts.load(ordering: .relaxed) &+ 1, ordering: .relaxed)
  }

  // MARK: Sound

  /// Adds `count` frames to channels that are zero; false when nothing sounded.
  @_noLocks
  mutating func render(
    _ channels: UnsafePointer<UnsafeMutablePointer<Float>>, _ channelCount: Int, frame: Int64, count: Int
  ) -> Bool {
    var hasSounded = renderVoices(channels, channelCount, frame: frame, count: count)
    var at = 0
    while at < count {
      let now = frame &+ Int64(at)
      if !isRunning {
        if startFrame >= frame &+ Int64(count) { break }
        at = Int(startFrame &- frame)
        start(isExact: true)
        continue
      }
      cutWhereDue(at: now)
      guard let segment = first else {
        skip(count &- at)
        break
      }
      if !hasBegun {
        let wait = segment.pointee.startFrame == Int64.min ? 0 : segment.pointee.startFrame &- playerFrame
        if wait > 0 {
          let length = Int(min(wait, Int64(count &- at)))
          skip(length)
          at &+= length
          continue
        }
        if wait < 0 { countLate() }
        hasBegun = true
      }
      let length = play(segment, channels, channelCount, at: at, limit: limit(count &- at, now))
      if length == 0 {
        if isBrokenOff(segment) {
          finish(segment.pointee.earlyEnd, at: frame &+ Int64(at))
          continue
        }
        // Nothing there: the rest of the block is silent.
        skip(count &- at)
        break
      }
      hasSounded = true
      at &+= length
      playerFrame &+= Int64(length)
      position &+= Int64(length)
      afterPlaying(segment, at: frame &+ Int64(at))
    }
    return hasSounded
  }

  /// Lets the player's time go by in silence.
  @_noLocks
  private mutating func skip(_ count: Int) {
    playerFrame &+= Int64(count)
    if isPausing { endPause() }
  }

  /// The frames until a later piece cuts in.
  @_noLocks
  private func limit(_ count: Int, _ now: Int64) -> Int {
    var next = first?.pointee.next
    while let segment = next {
      if isInterrupting(segment) && segment.pointee.startFrame > playerFrame {
        return Int(min(Int64(count), segment.pointee.startFrame &- playerFrame))
      }
      next = segment.pointee.next
    }
    return count
  }

  /// Lets a piece that interrupts at this frame take the place of those before it.
  @_noLocks
  private mutating func cutWhereDue(at now: Int64) {
    guard let present = first else { return }
    var next = present.pointee.next
    while let segment = next {
      next = segment.pointee.next
      if !isInterrupting(segment) || segment.pointee.startFrame == Int64.min { continue }
      if segment.pointee.startFrame > playerFrame || waitsForLoop(segment) { continue }
      var before: Segment? = present
      while let gone = before, gone != segment {
        before = gone.pointee.next
        if gone == present && hasBegun && !isStarving && rampFrames > 0 {
          leave(gone, .interrupted, at: now)
        } else {
          report(gone, .interrupted, at: now)
        }
      }
      first = segment
      hasBegun = false
      isStarving = false
      gain = Ramp(1)
      return
    }
  }

  /// Plays up to `limit` frames of the first piece; 0 when none are there, or it has ended.
  @_noLocks
  private mutating func play(
    _ segment: Segment, _ channels: UnsafePointer<UnsafeMutablePointer<Float>>, _ channelCount: Int, at: Int, limit: Int
  ) -> Int {
    let consumed = segment.pointee.consumed.load(ordering: .relaxed)
    // The last frames are written before a piece is called complete, so it is asked in the other order.
    let isComplete = segment.pointee.isComplete.load(ordering: .acquiring)
    let available = segment.pointee.available(consumed)
    if available <= 0 {
      if isComplete { return 0 }
      if !isStarving {
        isStarving = true
        link.pointee.underruns.store(link.pointee.underruns.load(ordering: .relaxed) &+ 1, ordering: .relaxed)
      }
      return 0
    }
    if isStarving {
      isStarving = false
      if consumed > 0 && !isPausing {
        gain = Ramp(0)
        gain.move(to: 1, over: rampFrames)
      }
    }
    let place = segment.pointee.place(consumed)
    var length = min(available, min(limit, segment.pointee.capacity &- place))
    if segment.pointee.isLooping { length = min(length, segment.pointee.leftOfPass(consumed)) }
    if !gain.isSettled { length = min(length, Int(gain.remaining)) }
    add(segment, place, channels, channelCount, at: at, length)
    segment.pointee.consumed.store(consumed &+ length, ordering: .releasing)
    return length
  }

  @_noLocks
  private mutating func add(
    _ segment: Segment, _ place: Int, _ channels: UnsafePointer<UnsafeMutablePointer<Float>>, _ channelCount: Int,
    at: Int, _ length: Int
  ) {
    let before = gain
    for channel in 0..<min(channelCount, segment.pointee.channelCount) {
      let from = segment.pointee.samples + (channel &* segment.pointee.capacity &+ place)
      let to = channels[channel] + at
      gain = before
      if gain.isSettled && gain.value == 1 {
        for i in 0..<length { to[i] += from[i] }
      } else {
        for i in 0..<length { to[i] += from[i] * gain.next() }
      }
    }
  }

  /// Ends what has come to its end: a piece, a pass of a loop that something waits for, a pause.
  @_noLocks
  private mutating func afterPlaying(_ segment: Segment, at frame: Int64) {
    if isPausing && gain.isSettled { endPause() }
    let consumed = segment.pointee.consumed.load(ordering: .relaxed)
    if segment.pointee.hasEnded(consumed) { return finish(.played, at: frame) }
    if segment.pointee.isLooping && consumed % segment.pointee.frameCount == 0, let next = segment.pointee.next,
      next.pointee.entry.waitsForLoop,
      next.pointee.startFrame == Int64.min || next.pointee.startFrame <= playerFrame
    {
      return finish(.interrupted, at: frame)
    }
    if isBrokenOff(segment) { finish(segment.pointee.earlyEnd, at: frame) }
  }

  /// True when no more sound will come.
  @_noLocks
  private func isBrokenOff(_ segment: Segment) -> Bool {
    if !segment.pointee.isComplete.load(ordering: .acquiring) { return false }
    return segment.pointee.available(segment.pointee.consumed.load(ordering: .relaxed)) <= 0
  }

  @_noLocks
  private mutating func endPause() {
    isPausing = false
    isRunning = false
  }

  // MARK: Voices that fade out

  @_noLocks
  private mutating func leave(_ segment: Segment, _ end: SegmentReport.End, at frame: Int64) {
    var voice = Voice(segment: segment, gain: gain, end: end)
    voice.gain.move(to: 0, over: rampFrames)
    var free = 0
    while free < Self.voiceCount &- 1 && voices[free].segment != nil { free &+= 1 }
    if let old = voices[free].segment { report(old, voices[free].end, at: frame) }
    voices[free] = voice
  }

  /// Ends what fades out, unheard.
  @_noLocks
  func endVoices(at frame: Int64) {
    for index in 0..<Self.voiceCount {
      guard let segment = voices[index].segment else { continue }
      report(segment, voices[index].end, at: frame)
      voices[index].segment = nil
    }
  }

  @_noLocks
  private mutating func renderVoices(
    _ channels: UnsafePointer<UnsafeMutablePointer<Float>>, _ channelCount: Int, frame: Int64, count: Int
  ) -> Bool {
    var hasSounded = false
    let present = gain
    for index in 0..<Self.voiceCount {
      guard let segment = voices[index].segment else { continue }
      hasSounded = true
      var at = 0
      var isDone = false
      while at < count && !isDone {
        let consumed = segment.pointee.consumed.load(ordering: .relaxed)
        let available = segment.pointee.available(consumed)
        if available <= 0 || segment.pointee.hasEnded(consumed) {
          isDone = true
          break
        }
        let place = segment.pointee.place(consumed)
        var length = min(available, min(count &- at, segment.pointee.capacity &- place))
        length = min(length, Int(voices[index].gain.remaining))
        if segment.pointee.isLooping { length = min(length, segment.pointee.leftOfPass(consumed)) }
        gain = voices[index].gain
        add(segment, place, channels, channelCount, at: at, length)
        voices[index].gain = gain
        segment.pointee.consumed.store(consumed &+ length, ordering: .releasing)
        at &+= length
        isDone = voices[index].gain.isSettled
      }
      if isDone {
        report(segment, voices[index].end, at: frame &+ Int64(at))
        voices[index].segment = nil
      }
    }
    gain = present
    return hasSounded
  }

  // MARK: News

  @_noLocks
  func publish(at frame: Int64) {
    link.pointee.isRunning.store(isRunning, ordering: .relaxed)
    link.pointee.hasSound.store(first != nil, ordering: .relaxed)
    link.pointee.position.store(position, ordering: .relaxed)
    link.pointee.publish(playerFrame: playerFrame, absoluteFrame: frame)
  }
}
