import BacklineEngine
import CMovie
import Synchronization

/// Writes one movie or sound file from samples of one or several tracks, coded ones as they are, sound encoded; single use.
///
/// Everything is written under a temporary name; the file has its own when `finishWriting()` has completed: then it has been
/// read back, too. Samples are interleaved by their times. Each track takes a bounded number of bytes that have not been written,
/// and whoever appends is suspended until its sample has been taken; a track that does not come holds up nobody, and one that
/// runs further ahead than `maximumImbalance` fails the writer, so that it is noticed.
///
/// What becomes of gaps and late starts, `Container` says. All methods may be called from any thread or task.
public final class MediaWriter: Sendable {
  /// How far a writer is.
  public enum Status: Sendable, Equatable {
    /// Not started, under way, whole under its name, broken off by an error, given up.
    case unknown, writing, completed, failed, cancelled
  }

  private struct State {
    var status = Status.unknown
    var error: MediaError?
    var inputs: [Input] = []
    var pendingBytes: [Int] = []
    var finished: Set<Int> = []
    var waitingTracks: [Int] = []
    var fragmentInterval: MediaTime?
    var nextID = 0
    var suspended: [Int: CheckedContinuation<Void, any Error>] = [:]
  }

  /// The file to be.
  public let path: String
  /// The kind of movie.
  public let container: Container
  /// The bytes of a track that may wait.
  public static let pendingLimit = 4 << 20
  private let maximumImbalance: MediaTime
  private let thread: SerialThread
  private let state = Mutex(State())
  /// The writing thread's.
  private nonisolated(unsafe) var sink: (any MediaSink)?

  /// A writer for a file that is not there yet.
  public init(
    path: String, container: Container, maximumImbalance: MediaTime = MediaTime(value: 60, timescale: 1)
  ) throws(MediaError) {
    self.path = path
    self.container = container
    self.maximumImbalance = maximumImbalance
    do throws(EngineError) {
      thread = try SerialThread(name: "media writer")
    } catch {
      throw MediaError(.failed, error.message)
    }
  }

  deinit { thread.end() }

  /// How far the writer is.
  public var status: Status { state.withLock { $0.status } }
  /// The first error, once the writer has failed.
  public var error: MediaError? { state.withLock { $0.error } }
  /// The tracks that have no samples while others wait for them.
  public var waitingTracks: [Int] { state.withLock { $0.waitingTracks } }

  // MARK: Before writing

  /// Has what there is be readable after each such time, where nothing follows because the program was killed. Set before `start()`.
  ///
  /// The file is called by its name with `.recording` behind it meanwhile, as a live recording is, and `backline recover` brings back
  /// what was written. MP4 and MOV are made of movie fragments then, and stay so; Matroska of clusters of that length; WAV,
  /// RF64, W64 and CAF have their headers refreshed. FLAC and Ogg refuse it.
  public var fragmentInterval: MediaTime? {
    get { state.withLock { $0.fragmentInterval } }
    set { state.withLock { if $0.status == .unknown { $0.fragmentInterval = newValue } } }
  }

  /// Why sound cannot be encoded as settings say in this container, codec and container tried together; `nil` where it can.
  public func refusal(of settings: AudioSettings, for mediaType: MediaType) -> MediaError? {
    if mediaType != .audio {
      return MediaError(.unsupported, "a track of \(mediaType) is stored as it is: give no settings to encode it by")
    }
    if let problem = settings.problem { return MediaError(.unsupported, problem) }
    if !container.isMovie { return container.refusal(of: settings).map { MediaError(.unsupported, $0) } }
    do throws(MediaError) {
      let encoder = try MediaEncoder(settings, path: path)
      guard let reason = encoder.refusal(by: container.formatName) else { return nil }
      let name = settings.keptFormat.map { "\(settings.codec.rawValue) of \($0.rawValue)" } ?? settings.codec.rawValue
      return MediaError(
        .unsupported, "\(container.rawValue) does not hold \(name): choose another codec or container (\(reason))")
    } catch {
      return error
    }
  }

  /// Whether sound can be encoded so; `refusal(of:for:)` says why not.
  public func canApply(_ settings: AudioSettings, for mediaType: MediaType) -> Bool {
    refusal(of: settings, for: mediaType) == nil
  }

  /// Why a track cannot be added; `nil` where it can.
  public func refusal(of input: Input) -> MediaError? {
    if status != .unknown { return MediaError(.wrongState, "\(path): tracks are added before start()") }
    if !container.isMovie, state.withLock({ !$0.inputs.isEmpty }) {
      return MediaError(.unsupported, "\(container.rawValue) holds one track: choose matroska, mp4 or mov for more")
    }
    switch input.content {
    case .sound(let settings): return refusal(of: settings, for: .audio)
    case .text:
      if container.isMovie { return nil }
      return MediaError(.unsupported, "\(container.rawValue) holds no texts with times: choose matroska, mp4 or mov")
    case .coded(let format):
      guard container.isMovie, case .file(let file, let track) = format.origin else {
        return MediaError(.unsupported, "\(container.rawValue) takes sound that is encoded: give settings to do so by")
      }
      if !movie_format_holds(container.formatName, file.reader, track) {
        return MediaError(
          .unsupported, "\(container.rawValue) does not hold \(format.codec): choose another container")
      }
      return nil
    }
  }

  /// True where a track can be added.
  public func canAdd(_ input: Input) -> Bool { refusal(of: input) == nil }

  /// Adds a track, and returns where its samples go.
  public func receiver(for input: Input) throws(MediaError) -> Receiver {
    if let refusal = refusal(of: input) { throw refusal }
    let index = state.withLock { state in
      state.inputs.append(input)
      state.pendingBytes.append(0)
      return state.inputs.count - 1
    }
    return Receiver(writer: self, index: index)
  }

  /// Makes the file. Throws, and fails for good, where that cannot be.
  public func start() throws(MediaError) {
    let inputs = try state.withLock { state throws(MediaError) in
      if state.status != .unknown { throw state.error ?? MediaError(.wrongState, "\(path): a writer starts once") }
      if state.inputs.isEmpty { throw MediaError(.wrongState, "\(path): add a track before start()") }
      state.status = .writing
      return state.inputs
    }
    let meeting = Semaphore()
    let outcome = StartOutcome()
    thread.run { [self] in
      do throws(MediaError) {
        sink = try makeSink(inputs)
      } catch {
        outcome.error.withLock { $0 = error }
      }
      meeting.signal()
    }
    meeting.wait()
    if let error = outcome.error.withLock({ $0 }) {
      fail(error)
      throw error
    }
  }

  private func makeSink(_ inputs: [Input]) throws(MediaError) -> any MediaSink {
    let interval = fragmentInterval
    if container.isMovie {
      return try MediaMuxer(
        path: path, container: container, inputs: inputs, limitBytes: Self.pendingLimit,
        maximumImbalance: maximumImbalance, fragmentInterval: interval)
    }
    guard case .sound(let settings)? = inputs.first?.content else {
      throw MediaError(.unsupported, "\(path): a sound file has a track of sound")
    }
    if interval != nil && (container == .flac || container == .ogg) {
      throw MediaError(
        .unsupported, "\(path): \(container.rawValue) cannot be mended after a kill: leave fragmentInterval out")
    }
    return try SoundFileSink(path: path, container: container, settings: settings, refreshInterval: interval)
  }

  // MARK: Writing

  /// Begins the session: the source time `time` is the movie's zero. Samples that end before it are refused.
  public func startSession(at time: MediaTime) {
    thread.run { [self] in perform { sink throws(MediaError) in try sink.startSession(at: time) } }
  }

  /// Ends the session: samples that begin at `time` or later are refused.
  public func endSession(at time: MediaTime) {
    thread.run { [self] in perform { sink throws(MediaError) in try sink.endSession(at: time) } }
  }

  /// Finishes all tracks, checks the file and gives it its name. What became of it is in `status` and `error`.
  public func finishWriting() async {
    await withCheckedContinuation { continuation in
      thread.run { [self] in
        if status == .writing {
          perform { sink throws(MediaError) in try sink.publish() }
          state.withLock { if $0.status == .writing { $0.status = .completed } }
        }
        sink = nil
        continuation.resume()
      }
    }
  }

  /// Gives up: what has been written is taken away, and whoever is suspended goes on with an error. Any number of times.
  public func cancelWriting() {
    let waiting = state.withLock { state in
      if state.status == .unknown || state.status == .writing { state.status = .cancelled }
      defer { state.suspended = [:] }
      return state.suspended.values
    }
    for continuation in waiting { continuation.resume(throwing: cancellation) }
    thread.run { [self] in
      if status == .cancelled { sink?.discard() }
      if status == .cancelled { sink = nil }
    }
  }

  /// Holds the writing thread up for as long as `body` takes, as a disk does that is stuck; for tests.
  func holdUp(_ body: @escaping @Sendable () -> Void) { thread.run(body) }

  private var cancellation: MediaError { MediaError(.cancelled, "\(path): writing was cancelled") }

  /// On the writing thread: an error ends the writer.
  private func perform(_ body: (any MediaSink) throws(MediaError) -> Void) {
    guard status == .writing, let sink else { return }
    do throws(MediaError) {
      try body(sink)
    } catch {
      fail(error)
    }
  }

  private func fail(_ error: MediaError) {
    let waiting = state.withLock { state in
      if state.status == .writing || state.status == .unknown {
        state.status = .failed
        state.error = error
      }
      defer { state.suspended = [:] }
      return state.suspended.values
    }
    for continuation in waiting { continuation.resume(throwing: error) }
    thread.run { [self] in
      sink?.discard()
      sink = nil
    }
  }

  // MARK: Receivers

  /// Where the samples of one track go.
  public struct Receiver: Sendable {
    let writer: MediaWriter
    let index: Int

    /// Takes a sample; suspends until it has been taken in. An error about this sample (its time, its track, the session)
    /// leaves the writer as it was; any other has failed it.
    public func append(_ sample: MediaSample) async throws { try await writer.append(sample, index) }

    /// Takes a sample where there is room for it now; false, and not taken, where there is not.
    public func appendImmediately(_ sample: MediaSample) throws(MediaError) -> Bool {
      try writer.appendImmediately(sample, index)
    }

    /// The track's last sample has been appended.
    public func finish() { writer.finish(index) }
  }

  private func check(_ index: Int) throws(MediaError) {
    try state.withLock { state throws(MediaError) in
      switch state.status {
      case .writing: break
      case .unknown: throw MediaError(.wrongState, "\(path): call start() before the first sample")
      case .failed: throw state.error ?? MediaError(.failed, "\(path): writing has failed")
      case .cancelled: throw cancellation
      case .completed: throw MediaError(.finished, "\(path): the file is finished")
      }
      if state.finished.contains(index) { throw MediaError(.finished, "\(path): track \(index) was finished before") }
    }
  }

  private func append(_ sample: MediaSample, _ index: Int) async throws {
    try check(index)
    try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
      let id = state.withLock { state in
        state.nextID += 1
        state.suspended[state.nextID] = continuation
        return state.nextID
      }
      thread.run { [self] in
        let result = take(sample, index)
        let waiting = state.withLock { $0.suspended.removeValue(forKey: id) }
        waiting?.resume(with: result)
      }
      // Cancelled or failed between the check and here: nobody else would end the wait.
      if status != .writing {
        let waiting = state.withLock { $0.suspended.removeValue(forKey: id) }
        waiting?.resume(throwing: error ?? cancellation)
      }
    }
  }

  private func appendImmediately(_ sample: MediaSample, _ index: Int) throws(MediaError) -> Bool {
    try check(index)
    let hasRoom = state.withLock { state in
      if state.pendingBytes[index] + sample.bytes.count > Self.pendingLimit { return false }
      state.pendingBytes[index] += sample.bytes.count
      return true
    }
    if !hasRoom { return false }
    thread.run { [self] in
      if case .failure(let error) = take(sample, index), let error = error as? MediaError { fail(error) }
      state.withLock { $0.pendingBytes[index] -= sample.bytes.count }
    }
    return true
  }

  /// On the writing thread.
  private func take(_ sample: MediaSample, _ index: Int) -> Result<Void, any Error> {
    guard status == .writing, let sink else { return .failure(error ?? cancellation) }
    do throws(MediaError) {
      try sink.append(sample, to: index)
      state.withLock { $0.waitingTracks = sink.waitingTracks }
      return .success(())
    } catch {
      switch error.code {
      case .failed, .imbalance: fail(error)
      default: break
      }
      return .failure(error)
    }
  }

  private func finish(_ index: Int) {
    state.withLock { _ = $0.finished.insert(index) }
    thread.run { [self] in perform { sink throws(MediaError) in try sink.finish(index) } }
  }
}

/// What came of a start, on its way from the writing thread.
private final class StartOutcome: Sendable {
  let error = Mutex<MediaError?>(nil)
}
