import BacklineMedia
import CMovie
import Glibc
import Synchronization

/// A movie that is another one with other sound: everything but the tracks that are rendered is copied packet by packet, with
/// its times.
///
/// Each rendered track is encoded into a file of its own beside the output, since tracks are rendered one after the other and
/// interleaved at the end, so that memory does not grow with the length.
public final class MovieOutput: Sendable {
  fileprivate struct State: Sendable {
    /// What has been rendered, with the places of the tracks.
    var sounds: [(track: Int32, file: StagedSound)] = []
    var isCancelled = false
  }

  fileprivate let path: String
  fileprivate let container: MovieContainer
  private let source: String
  private let replaces: Bool
  /// How many tracks are to come.
  private let trackCount: Int
  fileprivate let state = Mutex(State())

  /// `source` with `trackCount` of its tracks rendered, as `path`.
  public init(
    source: String, path: String, container: MovieContainer, trackCount: Int, replacing replaces: Bool
  ) {
    self.source = source
    self.path = path
    self.container = container
    self.trackCount = trackCount
    self.replaces = replaces
  }

  /// Where the sound of a track goes. When the last of them is finished, so is the movie.
  public func destination(for source: MovieSource) -> MovieTrackDestination {
    MovieTrackDestination(self, source)
  }

  fileprivate var isCancelled: Bool { state.withLock { $0.isCancelled } }

  fileprivate func check() throws(OfflineError) {
    do throws(SoundFileWriteError) {
      try StagedFile.check(path, replacing: replaces)
    } catch {
      throw OfflineError(error)
    }
  }

  /// Takes a finished track in, and makes the movie of them when it was the last. Returns the names of what the movie does not hold
  /// of its source.
  fileprivate func take(_ track: Int32, _ file: StagedSound) throws(OfflineError) -> [String] {
    let sounds = state.withLock { state in
      state.sounds.append((track, file))
      return state.sounds
    }
    if sounds.count < trackCount { return [] }
    let dropped: [String]
    do throws(SoundFileWriteError) {
      let staged = try StagedFile(path, replacing: replaces)
      dropped = try merge(sounds, into: staged.temporaryPath)
      try staged.publish { path throws(SoundFileWriteError) in try verify(path) }
    } catch {
      throw OfflineError(error)
    }
    state.withLock { $0.sounds = [] }
    return dropped
  }

  private func merge(
    _ sounds: [(track: Int32, file: StagedSound)], into target: String
  ) throws(SoundFileWriteError) -> [String] {
    let error = MovieMessage()
    let dropped = UnsafeMutablePointer<CChar>.allocate(capacity: Int(MOVIE_DROPPED_BYTES))
    dropped.initialize(repeating: 0, count: Int(MOVIE_DROPPED_BYTES))
    defer { dropped.deallocate() }
    let names = sounds.compactMap { strdup($0.file.path) }
    defer { for name in names { free(name) } }
    let tracks = sounds.map(\.track)
    let isDone = names.map { UnsafePointer($0) }.withUnsafeBufferPointer { names in
      guard let base = names.baseAddress, names.count == tracks.count else { return false }
      return movie_merge(
        source, target, container.formatName, tracks, base, Int32(tracks.count),
        { context in
          guard let context else { return false }
          return Unmanaged<MovieOutput>.fromOpaque(context).takeUnretainedValue().isCancelled
        }, Unmanaged.passUnretained(self).toOpaque(), dropped, error.text)
    }
    if !isDone { throw .encoder(path: path, reason: error.string) }
    return String(cString: dropped).split(separator: "\n").map(String.init)
  }

  /// Reads the movie back: its tracks are there, and each with sound begins with something that can be decoded.
  private func verify(_ target: String) throws(SoundFileWriteError) {
    do throws(OfflineError) {
      let movie = try Movie(path: target)
      let original = try Movie(path: source)
      // Chapters and time codes may be tracks of their own, of data.
      let (found, kept) = (movie.shownTracks, original.shownTracks)
      guard found == kept, movie.soundTracks.count == original.soundTracks.count else {
        throw OfflineError(.inputOutput, "has \(found) tracks, not \(kept)")
      }
      for number in 1...movie.soundTracks.count { _ = try MovieSource(path: target, soundTrack: number) }
    } catch {
      throw .notVerified(path: path, reason: error.message)
    }
  }

  fileprivate func discard() { state.withLock { $0.sounds = [] } }
}

/// Encoded sound on its way into a movie; its file goes with it.
private final class StagedSound: @unchecked Sendable {
  // Why unchecked: handed on, never shared.

  let staged: StagedFile
  var path: String { staged.temporaryPath }

  init(beside path: String) throws(SoundFileWriteError) { staged = try StagedFile(path + ".sound", replacing: true) }
}

/// Where the sound of one track goes.
public final class MovieTrackDestination: OfflineDestination, @unchecked Sendable {
  // Why unchecked: used by one thread at a time, as the protocol says.

  private let output: MovieOutput
  private let source: MovieSource
  private var file: StagedSound?
  private var encoder: OpaquePointer?

  fileprivate init(_ output: MovieOutput, _ source: MovieSource) {
    self.output = output
    self.source = source
  }

  deinit { if let encoder { movie_encoder_free(encoder) } }

  public func begin(sampleRate: Int, channelCount: Int, expectedFrames: Int64?) throws(OfflineError) {
    try output.check()
    let movie = try Movie(path: source.name)
    let file: StagedSound
    do throws(SoundFileWriteError) {
      file = try StagedSound(beside: output.path)
    } catch {
      throw OfflineError(error)
    }
    // To the nearest frame of the new rate.
    let (old, new) = (Int64(source.sampleRate), Int64(sampleRate))
    let scaled = source.firstFrame.multipliedReportingOverflow(by: 2 * new)
    if scaled.overflow { throw OfflineError(.badData, "\(source.name): its sound begins beyond all times") }
    let first = old == new ? source.firstFrame : (scaled.partialValue + old) / (2 * old)
    let error = MovieMessage()
    guard
      let encoder = movie_encoder_create(
        file.path, output.container.formatName, movie.reader, Int32(source.track), Int32(sampleRate),
        Int32(channelCount), first, error.text)
    else { throw OfflineError(.wrongUsage, "\(output.path): \(error.string)") }
    self.file = file
    self.encoder = encoder
  }

  public func write(_ samples: UnsafePointer<Float>, frames: Int) throws(OfflineError) {
    guard let encoder else { throw OfflineError(.internalError, "\(output.path) was not begun") }
    let error = MovieMessage()
    if !movie_encode(encoder, samples, Int64(frames), error.text) { throw failure(error.string) }
  }

  public func finish() throws(OfflineError) -> DestinationReport {
    guard let encoder, let file else { throw OfflineError(.internalError, "\(output.path) was not begun") }
    let error = MovieMessage()
    if !movie_encoder_finish(encoder, error.text) { throw failure(error.string) }
    movie_encoder_free(encoder)
    self.encoder = nil
    self.file = nil
    var report = DestinationReport()
    report.droppedMetadata = try output.take(Int32(source.track), file)
    return report
  }

  public func discard() {
    file = nil
    output.discard()
  }

  public func cancel() { output.state.withLock { $0.isCancelled = true } }

  private func failure(_ reason: String) -> OfflineError { OfflineError(.inputOutput, "\(output.path): \(reason)") }
}
