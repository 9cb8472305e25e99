import BacklineMedia
import Synchronization

/// A sound file, read or written frame by frame. What it is on disk (`fileFormat`) and what its frames are for a program
/// (`processingFormat`) are two things; reading and writing convert the samples, never the rate.
///
/// May be used on any thread; calls wait for each other and for the disk. A player reads a file that is scheduled with it by
/// positions of its own and leaves `framePosition` alone.
public final class AudioFile: @unchecked Sendable {
  // Why unchecked: the state is used under the lock only.

  private struct State {
    var reader: SoundFileReader?
    var writer: WrittenFile?
    var position: Int64 = 0
    var interleaved: [Float] = []
  }

  /// Where the file is, or will be.
  public let path: String
  /// What the file is on disk.
  public let fileFormat: AudioFileFormat
  /// What frames are read into or written from: the rate and channels of the file, in the form that was asked for.
  public let processingFormat: AudioFormat
  private let lock = Mutex(())
  private var state = State()

  /// Opens a file to be read: WAV, RF64, W64, AIFF, CAF, AU, FLAC, Ogg Vorbis and Opus, MP3.
  public init(
    forReading path: String, sampleType: AudioFormat.SampleType = .float32, isInterleaved: Bool = false
  ) throws(AudioError) {
    let reader: SoundFileReader
    do throws(SoundFileError) {
      reader = try SoundFileReader(path: path)
    } catch {
      throw AudioError(error)
    }
    self.path = path
    fileFormat = AudioFileFormat(reader.format)
    processingFormat = AudioFormat(
      sampleRate: Double(reader.format.sampleRate), channelCount: reader.format.channelCount, sampleType: sampleType,
      isInterleaved: isInterleaved)
    state.reader = reader
  }

  /// Begins a file. Its sound lies under a temporary name beside `path` until `close()` has found it whole; a file that is
  /// there already stays until then. A WAV file that grows beyond 4 GiB becomes an RF64 file.
  ///
  /// Frames are written from buffers of `sampleType` and `isInterleaved`, of the file's rate and channels. Samples of 16 and 24 bits
  /// are dithered; whole numbers are limited at full scale.
  public init(
    forWriting path: String, format: AudioFileFormat, sampleType: AudioFormat.SampleType = .float32,
    isInterleaved: Bool = false
  ) throws(AudioError) {
    let processing = AudioFormat(
      sampleRate: format.sampleRate, channelCount: format.channelCount, sampleType: sampleType,
      isInterleaved: isInterleaved)
    try processing.check()
    let writer = try WrittenFile(path: path, format: format)
    self.path = path
    fileFormat = format
    processingFormat = processing
    state.writer = writer
  }

  deinit { try? close() }

  /// The frames of the file: all where it is read, those written so far where it is written.
  public var length: Int64 {
    lock.withLock { _ in state.reader?.format.frameCount ?? state.writer?.frameCount ?? state.position }
  }

  /// The frame that the next read begins with, 0 to `length`; where a file is written, its end.
  public var framePosition: Int64 {
    get { lock.withLock { _ in state.writer?.frameCount ?? state.position } }
    set { lock.withLock { _ in state.position = min(max(0, newValue), state.reader?.format.frameCount ?? 0) } }
  }

  /// Reads into a buffer from its beginning: `frameCount` frames or as many as fit, fewer at the end of the file. The buffer's
  /// `frameLength` says how many; none at the end.
  public func read(into buffer: PCMBuffer, frameCount: Int? = nil) throws(AudioError) {
    if buffer.format != processingFormat {
      throw .mismatch(
        buffer.format, processingFormat, "a buffer has the processing format of the file that it is read from")
    }
    let wanted = min(buffer.frameCapacity, max(0, frameCount ?? buffer.frameCapacity))
    let result: Result<Int, AudioError> = lock.withLock { _ in
      guard let reader = state.reader else { return .failure(closedError) }
      buffer.frameLength = 0
      let channels = processingFormat.channelCount
      var done = 0
      while done < wanted {
        let count = min(8_192, wanted - done)
        if state.interleaved.count < count * channels {
          state.interleaved = [Float](repeating: 0, count: 8_192 * channels)
        }
        do throws(SoundFileError) {
          let at = state.position
          let read = try state.interleaved.withUnsafeMutableBufferPointer { samples throws(SoundFileError) in
            guard let base = samples.baseAddress else { return 0 }
            let read = try reader.read(at: at, into: base, count: count)
            buffer.writeInterleaved(at: done, count: read, from: base)
            return read
          }
          if read == 0 { break }
          state.position += Int64(read)
          done += read
        } catch {
          return .failure(AudioError(error))
        }
      }
      return .success(done)
    }
    buffer.frameLength = try result.get()
  }

  /// Adds the sound of a buffer at the end.
  public func write(from buffer: PCMBuffer) throws(AudioError) {
    if buffer.format.sampleRate != processingFormat.sampleRate
      || buffer.format.channelCount != processingFormat.channelCount
    {
      throw .mismatch(buffer.format, processingFormat, "a file takes its own rate and channels only")
    }
    let result: Result<Void, AudioError> = lock.withLock { _ in
      guard let writer = state.writer else { return .failure(closedError) }
      let channels = processingFormat.channelCount
      var done = 0
      while done < buffer.frameLength {
        let count = min(8_192, buffer.frameLength - done)
        if state.interleaved.count < count * channels {
          state.interleaved = [Float](repeating: 0, count: 8_192 * channels)
        }
        do throws(AudioError) {
          try state.interleaved.withUnsafeMutableBufferPointer { samples throws(AudioError) in
            guard let base = samples.baseAddress else { return }
            buffer.readInterleaved(from: done, count: count, into: base)
            try writer.write(base, count: count)
          }
        } catch {
          return .failure(error)
        }
        done += count
      }
      return .success(())
    }
    try result.get()
  }

  /// Closes the file. One that was written is finished, synced, read back (header, length, first and last block) and only then given
  /// its name; where that fails the name stays as it was and nothing is left behind. A second call does nothing.
  public func close() throws(AudioError) {
    let result: Result<Void, AudioError> = lock.withLock { _ in
      state.position = state.writer?.frameCount ?? state.reader?.format.frameCount ?? state.position
      state.reader = nil
      guard let writer = state.writer else { return .success(()) }
      state.writer = nil
      do throws(AudioError) {
        try writer.publish()
        return .success(())
      } catch {
        return .failure(error)
      }
    }
    try result.get()
  }

  private var closedError: AudioError {
    AudioError(.fileFailed, "\(path) has been closed, or was opened for the other way")
  }

  /// Reads interleaved frames from a place of the file, for a player.
  func read<Value>(
    with body: (SoundFileReader) throws(SoundFileError) -> Value
  ) throws(AudioError) -> Value {
    let result: Result<Value, AudioError> = lock.withLock { _ in
      guard let reader = state.reader else { return .failure(closedError) }
      do throws(SoundFileError) {
        return .success(try body(reader))
      } catch {
        return .failure(AudioError(error))
      }
    }
    return try result.get()
  }
}

extension AudioError {
  init(_ error: SoundFileError) {
    switch error {
    case .notFound(let path): self.init(.notFound, "there is no file \(path)")
    case .notReadable(let path, let reason): self.init(.fileFailed, "\(path) cannot be read: \(reason)")
    case .notAFile(let path): self.init(.fileFailed, "\(path) is no regular file")
    case .unsupported(let path, let reason): self.init(.fileFailed, "\(path) is no sound file to be read: \(reason)")
    case .broken(let path, let frame, let reason):
      self.init(.fileFailed, "\(path) is broken at frame \(frame): \(reason)")
    }
  }
}
