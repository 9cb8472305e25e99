import BacklineMedia

/// What a rendering gets its sound from. Read by one thread, from its beginning to its end.
public protocol OfflineSource: AnyObject, Sendable {
  /// How it is called in messages.
  var name: String { get }
  var sampleRate: Int { get }
  /// 1 to 32.
  var channelCount: Int { get }
  /// The length, where it is known before the end.
  var frameCount: Int64? { get }
  /// Writes up to `count` interleaved frames. May wait for a disk, a network or a person for as long as that takes: a source is
  /// waited for, and never stands for silence because it was slow.
  func read(into samples: UnsafeMutablePointer<Float>, count: Int) throws(OfflineError) -> OfflineRead
  /// Ends a `read` that waits, from another thread; it may return anything then.
  func cancel()
}

extension OfflineSource {
  public func cancel() {}
}

/// What came of a read.
public enum OfflineRead: Equatable, Sendable {
  /// So many frames, at least one.
  case frames(Int)
  /// Nothing yet: to be asked again a little later.
  case notYet
  /// Nothing any more.
  case end
}

/// Silence of a given length, for graphs that make their own sound.
public final class SilentSource: OfflineSource {
  public let name = "silence"
  public let sampleRate: Int
  public let channelCount: Int
  public let frameCount: Int64?
  nonisolated(unsafe) private var position: Int64 = 0  // of the thread that reads

  /// `seconds` of silence, to the nearest frame, halves up.
  public init(seconds: Double, sampleRate: Int, channelCount: Int = 2) throws(OfflineError) {
    guard seconds.isFinite, (0...1e6).contains(seconds) else {
      throw OfflineError(.wrongUsage, "a duration of \(seconds) s is not within 0 to 1000000")
    }
    guard (8_000...768_000).contains(sampleRate), (1...32).contains(channelCount) else {
      throw OfflineError(.wrongUsage, "there is no sound of \(sampleRate) Hz and \(channelCount) channels")
    }
    self.sampleRate = sampleRate
    self.channelCount = channelCount
    frameCount = TailPolicy.frames(seconds, sampleRate: sampleRate)
  }

  /// So many frames of silence.
  public init(frames: Int64, sampleRate: Int, channelCount: Int = 2) throws(OfflineError) {
    guard frames >= 0, (8_000...768_000).contains(sampleRate), (1...32).contains(channelCount) else {
      throw OfflineError(
        .wrongUsage, "there is no sound of \(frames) frames, \(sampleRate) Hz and \(channelCount) channels")
    }
    self.sampleRate = sampleRate
    self.channelCount = channelCount
    frameCount = frames
  }

  public func read(into samples: UnsafeMutablePointer<Float>, count: Int) throws(OfflineError) -> OfflineRead {
    let left = Int(min(Int64(count), (frameCount ?? 0) - position))
    if left <= 0 { return .end }
    samples.update(repeating: 0, count: left * channelCount)
    position += Int64(left)
    return .frames(left)
  }
}

/// A sound file, at another rate where that is wanted.
public final class FileSource: OfflineSource, @unchecked Sendable {
  // Why unchecked: the file is used by the thread that reads only.

  public let name: String
  public let sampleRate: Int
  public let channelCount: Int
  public let frameCount: Int64?
  /// How the file keeps its samples; `nil` for lossy ones.
  public let sampleFormat: SampleFormat?
  /// What it says beside its sound, for the rate of this source.
  public let metadata: SoundFileMetadata
  private let file: ConvertedSound<SoundFileReader>
  private var position: Int64 = 0

  /// Opens a file; `sampleRate` of `nil` leaves its rate as it is.
  public init(path: String, sampleRate: Int? = nil) throws(OfflineError) {
    name = path
    let reader: SoundFileReader
    do throws(SoundFileError) {
      reader = try SoundFileReader(path: path)
    } catch {
      throw OfflineError(error)
    }
    let rate = sampleRate ?? reader.format.sampleRate
    guard (8_000...768_000).contains(rate) else {
      throw OfflineError(.badData, "\(path) has \(rate) Hz: graphs run at 8000 to 768000, choose one with --rate")
    }
    do throws(RateConversionError) {
      file = try ConvertedSound(reader, sampleRate: rate)
    } catch {
      throw OfflineError(.badData, "\(path) cannot be converted to \(rate) Hz: \(error.message)")
    }
    self.sampleRate = rate
    channelCount = file.channelCount
    frameCount = file.frameCount
    sampleFormat = reader.sampleFormat
    metadata = reader.metadata().converted(from: reader.format.sampleRate, to: rate)
  }

  /// Samples of the file that were not finite and have been replaced by silence.
  public var nonFiniteCount: Int { file.source.nonFiniteCount }

  /// True where `path` names this very file.
  public func isFile(at path: String) -> Bool { file.source.isFile(at: path) }

  public func read(into samples: UnsafeMutablePointer<Float>, count: Int) throws(OfflineError) -> OfflineRead {
    do throws(SoundFileError) {
      let read = try file.read(at: position, into: samples, count: count)
      position += Int64(read)
      if read > 0 { return .frames(read) }
    } catch {
      throw OfflineError(error)
    }
    if position < file.frameCount {
      throw OfflineError(.badData, "\(name) ends at frame \(position) of \(file.frameCount)")
    }
    return .end
  }
}
