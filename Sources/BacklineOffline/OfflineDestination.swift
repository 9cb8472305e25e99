import BacklineMedia

/// Where a rendering goes. Used by one thread at a time.
public protocol OfflineDestination: AnyObject, Sendable {
  /// Refuses what cannot be, and makes ready for writing. `expectedFrames` is the length, where it is known.
  func begin(sampleRate: Int, channelCount: Int, expectedFrames: Int64?) throws(OfflineError)
  /// Takes `frames` interleaved frames.
  func write(_ samples: UnsafePointer<Float>, frames: Int) throws(OfflineError)
  /// Ends it: when this returns, all of it is where it belongs.
  func finish() throws(OfflineError) -> DestinationReport
  /// Takes away whatever has been made and not finished. Any number of times.
  func discard()
  /// Ends a `write` that waits, from another thread.
  func cancel()
}

extension OfflineDestination {
  public func cancel() {}
}

/// What a destination has to say about itself.
public struct DestinationReport: Sendable, Equatable {
  /// Samples that were too loud for whole numbers.
  public var clippedSamples: Int64 = 0
  /// Metadata of the source that the format does not hold, by name.
  public var droppedMetadata: [String] = []
  /// The gain of a normalisation in dB.
  public var gain: Double?

  public init() {}
}

/// A sound file: staged, verified, published (R12).
public final class FileDestination: OfflineDestination, @unchecked Sendable {
  // Why unchecked: used by one thread at a time, as the protocol says.

  public let path: String
  private let container: SoundContainer
  private let sampleFormat: SampleFormat?
  private let preferred: SampleFormat?
  private let metadata: SoundFileMetadata
  private let replaces: Bool
  private var staged: StagedFile?
  private var writer: SoundFileWriter?

  /// `preferred` is what samples are kept as where `sampleFormat` says nothing and the container allows it.
  public init(
    path: String, container: SoundContainer, sampleFormat: SampleFormat? = nil,
    preferring preferred: SampleFormat? = nil,
    metadata: SoundFileMetadata = SoundFileMetadata(), replacing replaces: Bool = false
  ) {
    self.path = path
    self.container = container
    self.sampleFormat = sampleFormat
    self.preferred = preferred
    self.metadata = metadata
    self.replaces = replaces
  }

  public func begin(sampleRate: Int, channelCount: Int, expectedFrames: Int64?) throws(OfflineError) {
    if expectedFrames == 0 && container.needsFrames { throw emptyRefused }
    do throws(SoundFileWriteError) {
      let encoding = try SoundFileEncoding(
        container, sampleFormat: sampleFormat, preferring: preferred, sampleRate: sampleRate, channelCount: channelCount
      )
      let staged = try StagedFile(path, replacing: replaces)
      self.staged = staged
      writer = try SoundFileWriter(
        descriptor: staged.descriptor, path: path, encoding: encoding, metadata: metadata,
        expectedFrames: expectedFrames)
    } catch {
      throw OfflineError(error)
    }
  }

  public func write(_ samples: UnsafePointer<Float>, frames: Int) throws(OfflineError) {
    do throws(SoundFileWriteError) {
      try writer?.write(samples, frames: frames)
    } catch {
      throw OfflineError(error)
    }
  }

  public func finish() throws(OfflineError) -> DestinationReport {
    guard let writer, let staged else { throw OfflineError(.internalError, "\(path) was not begun") }
    if writer.frameCount == 0 && container.needsFrames { throw emptyRefused }
    var report = DestinationReport()
    do throws(SoundFileWriteError) {
      try writer.finish()
      try staged.publish { path throws(SoundFileWriteError) in report.droppedMetadata = try writer.verify(path) }
    } catch {
      throw OfflineError(error)
    }
    report.clippedSamples = writer.clippedCount
    return report
  }

  public func discard() {
    writer = nil
    staged?.discard()
  }

  private var emptyRefused: OfflineError {
    OfflineError(.badData, "\(path): nobody reads \(container.title) files without a frame, write a WAV file")
  }
}
