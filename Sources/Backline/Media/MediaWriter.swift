import BacklineEngine
import CMovie
import Synchronization

/// Writes one movie from coded samples of several tracks; single use.
///
/// Everything is written under a temporary name; the file has its own when `finishWriting()` has completed: then it has been
/// read back, too. Samples are interleaved by their times. Each track takes a bounded number of bytes that have not been written,
/// and whoever appends is suspended until its sample has been taken; a track that does not come holds up nobody, and one that
/// runs further ahead than `maximumImbalance` fails the writer, so that it is noticed.
///
/// Gaps and late starts stay what they are: MP4 and MOV keep them as edit lists, Matroska as times, which count in whole
/// milliseconds there. All methods may be called from any thread or task.
public final class MediaWriter: Sendable {
  /// How far a writer is.
  public enum Status: Sendable, Equatable {
    /// Not started, under way, whole under its name, broken off by an error, given up.
    case unknown, writing, completed, failed, cancelled
  }

  /// The kinds of movie.
  public enum Container: String, Sendable, CaseIterable {
    /// Matroska, MPEG-4, QuickTime.
    case matroska, mp4, mov
  }

  /// A track to be: coded samples, stored as they are.
  public struct Input: Sendable, Equatable {
    /// How the samples are coded.
    public let format: MediaFormat

    /// For samples such as those of a reader's track.
    public init(_ format: MediaFormat) { self.format = format }
  }

  private struct State {
    var status = Status.unknown
    var error: MediaError?
    var inputs: [Input] = []
    var pendingBytes: [Int] = []
    var finished: Set<Int> = []
    var waitingTracks: [Int] = []
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
  private nonisolated(unsafe) var muxer: MediaMuxer?

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

  /// Why a track cannot be added; `nil` where it can.
  public func refusal(of input: Input) -> MediaError? {
    if status != .unknown { return MediaError(.wrongState, "\(path): tracks are added before start()") }
    let format = input.format
    if !movie_format_holds(container.rawValue, format.file.reader, format.track) {
      return MediaError(.unsupported, "\(container.rawValue) does not hold \(format.codec): choose another container")
    }
    return nil
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
        muxer = try MediaMuxer(
          path: path, formatName: container.rawValue, formats: inputs.map(\.format), limitBytes: Self.pendingLimit,
          maximumImbalance: maximumImbalance)
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

  // MARK: Writing

  /// Begins the session: the source time `time` is the movie's zero. Samples that end before it are refused.
  public func startSession(at time: MediaTime) {
    thread.run { [self] in perform { muxer throws(MediaError) in try muxer.startSession(at: time) } }
  }

  /// Ends the session: samples that begin at `time` or later are refused.
  public func endSession(at time: MediaTime) {
    thread.run { [self] in perform { muxer throws(MediaError) in try muxer.endSession(at: time) } }
  }

  /// Finishes all tracks, checks the file and gives it its name. What became of it is in `status` and `error`.
  public func finishWriting() async {
    await withCheckedContinuation { continuation in
      thread.run { [self] in
        if status == .writing {
          perform { muxer throws(MediaError) in try muxer.publish() }
          state.withLock { if $0.status == .writing { $0.status = .completed } }
        }
        muxer = nil
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
      if status == .cancelled { muxer?.discard() }
      if status == .cancelled { muxer = nil }
    }
  }

  private var cancellation: MediaError { MediaError(.cancelled, "\(path): writing was cancelled") }

  /// On the writing thread: an error ends the writer.
  private func perform(_ body: (MediaMuxer) throws(MediaError) -> Void) {
    guard status == .writing, let muxer else { return }
    do throws(MediaError) {
      try body(muxer)
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
      muxer?.discard()
      muxer = nil
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
    guard status == .writing, let muxer else { return .failure(error ?? cancellation) }
    do throws(MediaError) {
      try muxer.append(sample, to: index)
      state.withLock { $0.waitingTracks = muxer.waitingTracks }
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
    thread.run { [self] in perform { muxer throws(MediaError) in try muxer.finish(index) } }
  }
}

/// What came of a start, on its way from the writing thread.
private final class StartOutcome: Sendable {
  let error = Mutex<MediaError?>(nil)
}
