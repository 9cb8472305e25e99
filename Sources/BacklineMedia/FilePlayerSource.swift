import BacklineDSP
import BacklineEngine
import Synchronization

/// A sound file as a player plays it: at the engine's rate and in stereo.
///
/// A mono file sounds on both sides at its level (R8); of more than two channels the first two are played.
public final class FilePlayerSource: PlayerSource, @unchecked Sendable {
  public let frameCount: Int64
  public let format: SoundFileFormat
  private let file: ConvertedSound<SoundFileReader>
  private let nonFinite = Atomic<Int>(0)

  /// Opens a file; may wait for the disk.
  public init(path: String, sampleRate: Int) throws(SoundFileError) {
    let reader = try SoundFileReader(path: path)
    do throws(RateConversionError) {
      file = try ConvertedSound(reader, sampleRate: sampleRate, channelLimit: 2)
    } catch {
      throw .unsupported(path: path, reason: error.message)
    }
    format = reader.format
    frameCount = file.frameCount
  }

  public var nonFiniteCount: Int { nonFinite.load(ordering: .relaxed) }

  public func read(
    at frame: Int64, into frames: UnsafeMutablePointer<Float>, count: Int
  ) throws(PlayerSourceFailure) -> Int {
    let read: Int
    do throws(SoundFileError) {
      read = try file.read(at: frame, into: frames, count: count)
    } catch {
      throw PlayerSourceFailure(frame: frame, message: EngineError(error).message)
    }
    nonFinite.store(file.source.nonFiniteCount, ordering: .relaxed)
    if file.channelCount == 1 {
      // From the end, so that no frame is overwritten before it has been doubled.
      for index in stride(from: read - 1, through: 0, by: -1) {
        frames[2 * index + 1] = frames[index]
        frames[2 * index] = frames[index]
      }
    }
    return read
  }
}
