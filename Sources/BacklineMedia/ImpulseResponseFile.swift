import BacklineDSP
import BacklineEngine
import BacklineRealtime

extension ImpulseResponse {
  /// The frames that are read at once.
  private static var pieceFrames: Int { 65_536 }

  /// Reads an impulse response from a file and brings it to `sampleRate`. Waits for the disk.
  ///
  /// Mono, stereo, or true stereo in four channels (left to left, left to right, right to left, right to right). Converted
  /// responses are scaled by the ratio of the rates, so that what they are convolved with comes out as loud. A file with samples
  /// that are not finite is refused: whatever was meant, it is not in there any more.
  public static func load(
    path: String, sampleRate: Int
  ) throws(EngineError) -> (response: ImpulseResponse, format: SoundFileFormat) {
    let reader: SoundFileReader
    do throws(SoundFileError) {
      reader = try SoundFileReader(path: path)
    } catch {
      throw EngineError(error)
    }
    let format = reader.format
    do throws(ImpulseResponseError) {
      let length = RateConverter.convertedLength(of: format.frameCount, from: format.sampleRate, to: sampleRate)
      if ![1, 2, 4].contains(format.channelCount) { throw .channels(format.channelCount) }
      if length > Int64(longestFrameCount) {
        throw .tooLong(frames: Int(clamping: length), limit: longestFrameCount)
      }
      // All samples together, and once more a channel each.
      guard SampleMemory.isAvailable(bytes: 8 * Int(length) * format.channelCount) else {
        throw .noMemory(frames: Int(length))
      }
    } catch {
      throw EngineError(.ioError, "\(path): \(error.message)")
    }
    let samples: [Float]
    do throws(SoundFileError) {
      samples = try readAll(reader, sampleRate: sampleRate)
    } catch {
      throw EngineError(error)
    }
    do throws(ImpulseResponseError) {
      if reader.nonFiniteCount > 0 { throw .notFinite }
      let count = samples.count / format.channelCount, scale = Float(Double(format.sampleRate) / Double(sampleRate))
      let channels = (0..<format.channelCount).map { channel in
        (0..<count).map { samples[$0 * format.channelCount + channel] * scale }
      }
      return (try ImpulseResponse(channels), format)
    } catch {
      throw EngineError(.ioError, "\(path): \(error.message)")
    }
  }

  /// All frames, interleaved, at `sampleRate`.
  private static func readAll(_ reader: SoundFileReader, sampleRate: Int) throws(SoundFileError) -> [Float] {
    let file: ConvertedSound<SoundFileReader>
    do throws(RateConversionError) {
      file = try ConvertedSound(reader, sampleRate: sampleRate)
    } catch {
      throw .unsupported(path: reader.path, reason: error.message)
    }
    let channels = file.channelCount
    let piece = UnsafeMutablePointer<Float>.allocate(capacity: pieceFrames * channels)
    defer { piece.deallocate() }
    var samples: [Float] = []
    samples.reserveCapacity(Int(file.frameCount) * channels)
    while samples.count < Int(file.frameCount) * channels {
      let read = try file.read(at: Int64(samples.count / channels), into: piece, count: pieceFrames)
      if read == 0 { break }
      samples += UnsafeBufferPointer(start: piece, count: read * channels)
    }
    return samples
  }
}
