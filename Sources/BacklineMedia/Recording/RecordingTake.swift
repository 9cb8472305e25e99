/// A recording that runs, as the writing thread knows it.
struct RecordingTake {
  /// A track that falls silent, or sounds again, at a frame of the clock.
  struct Switch {
    let clock: Int64
    /// The track's, which tell it from all others.
    let channels: Range<Int>
    let isSilent: Bool
  }

  private(set) var plan: RecordingPlan
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
  /// The channels of each track that is silent now.
  private var silent: Set<Range<Int>> = []
  /// What the tracks will do, earliest first.
  private var switches: [Switch] = []
  /// The tracks that sound from the next frame of the ring on for the first time.
  var arriving: [RecordingPlan.Track] = []
  /// Marks of frames that have not been written yet.
  var marks: [(clock: Int64, text: String)] = []
  let journal: EventJournal?
  /// What was done at frames that have not been written yet; a line is made for its frame.
  var events: [(clock: Int64, line: @Sendable (Int64) -> String)] = []
  var onEnd: [@Sendable (RecordingReport) -> Void] = []

  init(plan: RecordingPlan, part: RecordingPart, journal: EventJournal?, start: Int64?) {
    self.plan = plan
    self.journal = journal
    self.part = part
    self.start = start
  }

  /// The frames written so far, of all parts together.
  var frames: Int64 { framesBefore + part.frames }

  /// The recording's frame of a clock.
  func frame(at clock: Int64) -> Int64 { startFrame + max(0, clock - (start ?? clock)) }

  /// The frames after which another part begins.
  var partLimit: Int64? {
    let bySize = plan.splitBytes.map { part.frames(forBytes: $0) }
    return [plan.splitFrames, bySize].compactMap { $0 }.min()
  }

  /// The frames that may be written at once from `position` on: to the end, to the next part, or to where a track changes.
  func room(_ wanted: Int64, at position: Int64?) -> Int {
    var room = wanted
    if let position {
      if let end { room = min(room, end.clock - position) }
      if let next = switches.first { room = min(room, next.clock - position) }
    }
    if let limit = plan.frameLimit { room = min(room, limit - frames) }
    if let limit = partLimit { room = min(room, limit - part.frames) }
    return Int(max(0, room))
  }

  /// Adds a track, which is silent as far as the recording has come.
  mutating func add(_ track: RecordingPlan.Track) throws(SoundFileWriteError) {
    var longer = plan
    try longer.add(track)
    try part.addLastTrack(of: longer)
    plan = longer
  }

  /// Writes down what was done up to `position`.
  mutating func noteEvents(upTo position: Int64) {
    guard let journal, start != nil else { return }
    for event in events where event.clock <= position { journal.note(event.line(frame(at: event.clock))) }
    events.removeAll { $0.clock <= position }
  }

  mutating func plan(_ change: Switch) { switches.append(change) }

  /// What changes up to `position`; everything where it is `nil`.
  mutating func takeSwitches(upTo position: Int64?) -> [Switch] {
    let due = switches.prefix { position == nil || $0.clock <= position ?? 0 }
    switches.removeFirst(due.count)
    for change in due {
      if change.isSilent { silent.insert(change.channels) } else { silent.remove(change.channels) }
    }
    return Array(due)
  }

  /// Silences the tracks that have to be in interleaved samples of `channels`.
  func silence(_ samples: UnsafeMutablePointer<Float>, _ channels: Range<Int>, _ count: Int) {
    for track in silent {
      for channel in track.clamped(to: channels) {
        var at = channel - channels.lowerBound
        for _ in 0..<count {
          samples[at] = 0
          at += channels.count
        }
      }
    }
  }
}
