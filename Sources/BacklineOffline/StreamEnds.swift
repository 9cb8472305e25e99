import BacklineMedia

/// A WAV stream, such as standard input.
public final class StreamSource: OfflineSource, @unchecked Sendable {
  // Why unchecked: used by the thread that reads only; `cancel` is made for others.

  public let name: String
  public let sampleRate: Int
  public let channelCount: Int
  public let frameCount: Int64?
  public let sampleFormat: SampleFormat?
  private let reader: WaveStreamReader

  /// Reads the header, and waits for it. The descriptor is not closed.
  public init(descriptor: Int32, name: String = "standard input") throws(OfflineError) {
    self.name = name
    do throws(SoundFileError) {
      reader = try WaveStreamReader(descriptor: descriptor, name: name)
    } catch {
      throw OfflineError(error)
    }
    sampleRate = reader.sampleRate
    channelCount = reader.channelCount
    frameCount = reader.frameCount
    sampleFormat = reader.sampleFormat
    guard (8_000...768_000).contains(sampleRate) else {
      throw OfflineError(.badData, "\(name) has \(sampleRate) Hz: graphs run at 8000 to 768000")
    }
  }

  public func read(into samples: UnsafeMutablePointer<Float>, count: Int) throws(OfflineError) -> OfflineRead {
    do throws(SoundFileError) {
      let read = try reader.read(into: samples, count: count)
      return read > 0 ? .frames(read) : .end
    } catch {
      throw OfflineError(error)
    }
  }

  public func cancel() { reader.cancel() }
}

/// A WAV stream, such as standard output.
public final class StreamDestination: OfflineDestination, @unchecked Sendable {
  // Why unchecked: used by one thread at a time, as the protocol says; `cancel` is made for others.

  private let writer: WaveStreamWriter
  private let sampleFormat: SampleFormat

  /// The descriptor is not closed.
  public init(descriptor: Int32, sampleFormat: SampleFormat, name: String = "standard output") {
    self.sampleFormat = sampleFormat
    writer = WaveStreamWriter(descriptor: descriptor, name: name)
  }

  public func begin(sampleRate: Int, channelCount: Int, expectedFrames: Int64?) throws(OfflineError) {
    do throws(SoundFileWriteError) {
      try writer.begin(
        SoundFileEncoding(
          .wav, sampleFormat: sampleFormat, sampleRate: sampleRate, channelCount: channelCount),
        expectedFrames: expectedFrames)
    } catch {
      throw OfflineError(error)
    }
  }

  public func write(_ samples: UnsafePointer<Float>, frames: Int) throws(OfflineError) {
    do throws(SoundFileWriteError) {
      try writer.write(samples, frames: frames)
    } catch {
      throw OfflineError(error)
    }
  }

  public func finish() throws(OfflineError) -> DestinationReport {
    var report = DestinationReport()
    report.clippedSamples = writer.clippedCount
    return report
  }

  public func discard() {}
  public func cancel() { writer.cancel() }
}
