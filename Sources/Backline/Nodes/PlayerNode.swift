import BacklineDSP
import BacklineEngine

/// Plays buffers and files in the order in which they are scheduled, one right after the other to the frame, or at times of
/// their own.
///
/// The player's time counts frames of the engine's rate from its last stop, and runs while it plays: it stands still while it is
/// paused. Files of any rate are converted as they are read. One channel plays on both sides of a player of two, two are
/// halved into one; anything else is refused.
///
/// Completions come on a thread of the engine's, each exactly once, in the order of the ends. Whatever a completion does, such
/// as stopping the player, is safe.
public final class PlayerNode: AudioNode, @unchecked Sendable {
  /// Told how something that was scheduled has ended.
  public typealias Completion = @Sendable (PlaybackEnd) -> Void

  private let holder = ScheduleHolder()

  /// A player; attach it to an engine.
  public override init() {}

  public override var outputCount: Int { 1 }
  override var kindName: String { "player" }
  override var hasFreeChannels: Bool { true }
  override var isSource: Bool { true }

  override func realization(kind: String, channelCount: Int) -> NodeRealization? {
    guard let schedule = holder.schedule else { return nil }
    return .own(
      SegmentPlayer.description(kind: kind, channelCount: channelCount) {
        schedule.makeUnit($0, channelCount: channelCount)
      })
  }

  // MARK: Scheduling

  /// Schedules a copy of a buffer's sound: after what was scheduled before, or at a time (a frame of the player's own
  /// timeline, or a time of the clock).
  ///
  /// The buffer needs the rate and channels of the player's output where that is connected; an empty one is refused.
  public func schedule(
    _ buffer: PCMBuffer, at time: AudioTime? = nil, options: PlaybackOptions = [], stage: PlaybackStage = .consumed,
    completion: Completion? = nil
  ) throws(AudioError) {
    guard buffer.frameLength > 0 else { throw AudioError(.outOfRange, "the buffer is empty: set its frameLength") }
    try check(buffer.format, isRateFixed: true)
    guard let copy = buffer.copy() else {
      throw AudioError(.limitReached, "there is no memory for a copy of the buffer")
    }
    try schedule(.buffer(copy), time, options, stage, completion)
  }

  /// Schedules a file from its first frame to its last. It has to stay open until it has been played.
  public func schedule(
    _ file: AudioFile, at time: AudioTime? = nil, options: PlaybackOptions = [], stage: PlaybackStage = .consumed,
    completion: Completion? = nil
  ) throws(AudioError) {
    try schedule(
      file, from: 0, frameCount: file.length, at: time, options: options, stage: stage, completion: completion)
  }

  /// Schedules frames of a file, counted at its own rate.
  public func schedule(
    _ file: AudioFile, from start: Int64, frameCount: Int64, at time: AudioTime? = nil, options: PlaybackOptions = [],
    stage: PlaybackStage = .consumed, completion: Completion? = nil
  ) throws(AudioError) {
    guard start >= 0, frameCount > 0, start <= file.length, frameCount <= file.length - start else {
      throw AudioError(
        .outOfRange,
        "frames \(start) to \(start &+ frameCount) are none, or not within the \(file.length) of \(file.path)")
    }
    try check(file.processingFormat, isRateFixed: false)
    try schedule(.file(file, start: start, count: frameCount), time, options, stage, completion)
  }

  /// Schedules a buffer and waits until it has come to a stage or to another end.
  @discardableResult
  public func play(
    _ buffer: PCMBuffer, at time: AudioTime? = nil, options: PlaybackOptions = [], stage: PlaybackStage = .playedBack
  ) async throws -> PlaybackEnd {
    try await withCheckedThrowingContinuation { continuation in
      do throws(AudioError) {
        try schedule(buffer, at: time, options: options, stage: stage) { continuation.resume(returning: $0) }
      } catch {
        continuation.resume(throwing: error)
      }
    }
  }

  /// Schedules a file and waits until it has come to a stage or to another end.
  @discardableResult
  public func play(
    _ file: AudioFile, at time: AudioTime? = nil, options: PlaybackOptions = [], stage: PlaybackStage = .playedBack
  ) async throws -> PlaybackEnd {
    try await withCheckedThrowingContinuation { continuation in
      do throws(AudioError) {
        try schedule(file, at: time, options: options, stage: stage) { continuation.resume(returning: $0) }
      } catch {
        continuation.resume(throwing: error)
      }
    }
  }

  private func check(_ given: AudioFormat, isRateFixed: Bool) throws(AudioError) {
    try given.check()
    guard let engine, let wanted = engine.connectedFormat(of: self) else { return }
    if isRateFixed && given.sampleRate != wanted.sampleRate {
      throw .mismatch(given, wanted, "a buffer has the rate of the player's output; connect the player with its format")
    }
    if !SegmentFeed.canMix(given.channelCount, wanted.channelCount) {
      throw .mismatch(given, wanted, "a player takes its own number of channels, or one for two")
    }
  }

  private func schedule(
    _ content: ScheduledSound.Content, _ time: AudioTime?, _ options: PlaybackOptions, _ stage: PlaybackStage,
    _ completion: Completion?
  ) throws(AudioError) {
    let schedule = try attachedSchedule()
    var frame: Int64?
    if let time { frame = try playerFrame(of: time, schedule) }
    schedule.schedule(content, options: options, at: frame, stage: stage, completion: completion)
  }

  /// The player's frame that a time means.
  private func playerFrame(of time: AudioTime, _ schedule: PlayerSchedule) throws(AudioError) -> Int64 {
    let engine = try attachedEngine()
    if let frame = time.frame(at: engine.sampleRate) { return frame }
    guard let hostTime = time.hostTime, let frame = engine.kernelFrame(at: hostTime), let now = schedule.time else {
      throw AudioError(.notRunning, "a time of the clock means a frame only while the engine runs on a clock")
    }
    return now.playerFrame + (frame - now.absoluteFrame)
  }

  private func attachedSchedule() throws(AudioError) -> PlayerSchedule {
    if let schedule = holder.schedule { return schedule }
    throw AudioError(.notAttached, "the player belongs to no engine: attach it before sound is scheduled")
  }

  // MARK: Transport

  /// Begins to play, or goes on after a pause: at once, or exactly at a frame of the engine's timeline or a time of the clock.
  ///
  /// Throws where the engine does not run.
  public func play(at time: AudioTime? = nil) throws(AudioError) {
    let schedule = try attachedSchedule()
    try attachedEngine().play(schedule, at: time)
  }

  /// Fades out and holds what plays where it is.
  public func pause() {
    guard let engine, let schedule = holder.schedule else { return }
    engine.transport(schedule) { $0.pause() }
  }

  /// Fades out, forgets all that was scheduled, and begins the player's time anew.
  public func stop() {
    guard let engine, let schedule = holder.schedule else { return }
    engine.transport(schedule) { $0.stop() }
  }

  public override func reset() { stop() }

  /// Reads what is scheduled first, so that it is there when it is wanted. Waits for the disk.
  public func prepare() throws(AudioError) { try holder.schedule?.fillSynchronously() }

  /// True while the player plays: from `play` to a pause, a stop, or the end of the last thing that was scheduled. What is
  /// scheduled after that end plays at once.
  public var isPlaying: Bool {
    guard let engine, engine.isRunning, let schedule = holder.schedule, schedule.isStarted else { return false }
    return schedule.hasScheduled || !schedule.hasPlayed
  }

  /// Frames of sound, at the engine's rate, that have been played since the last stop. Stands still where nothing is left.
  public var position: Int64 { holder.schedule?.link.position ?? 0 }

  /// The times that sound was due and had not been read from its file yet.
  public var underruns: Int { holder.schedule?.link.underruns ?? 0 }

  /// The starts that came after their time.
  public var lateStarts: Int { holder.schedule?.link.lateStarts ?? 0 }

  // MARK: Time

  /// A time of the engine's timeline as the player's; `nil` while the player does not play.
  public func playerTime(forNodeTime nodeTime: AudioTime) -> AudioTime? {
    guard let engine, let frame = engine.kernelFrame(of: nodeTime), let now = runningTime else { return nil }
    return AudioTime(
      sampleTime: now.playerFrame + (frame - now.absoluteFrame), sampleRate: engine.sampleRate,
      hostTime: nodeTime.hostTime)
  }

  /// A time of the player's as the engine's; `nil` while the player does not play.
  public func nodeTime(forPlayerTime playerTime: AudioTime) -> AudioTime? {
    guard let engine, let playerFrame = playerTime.frame(at: engine.sampleRate), let now = runningTime else {
      return nil
    }
    let frame = now.absoluteFrame + (playerFrame - now.playerFrame)
    return AudioTime(sampleTime: frame - engine.timelineBase, sampleRate: engine.sampleRate)
  }

  private var runningTime: (playerFrame: Int64, absoluteFrame: Int64)? {
    guard let engine, engine.isRunning, let schedule = holder.schedule, schedule.link.isRunning else { return nil }
    return schedule.time
  }

  // MARK: The engine's side

  var schedule: PlayerSchedule? { holder.schedule }

  /// Takes the schedule that the engine made at attaching.
  func take(_ schedule: PlayerSchedule) { holder.schedule = schedule }

  override func willDetach() {
    guard let schedule = holder.schedule else { return }
    holder.schedule = nil
    schedule.end(.stopped)
    schedule.disconnect()
  }
}
