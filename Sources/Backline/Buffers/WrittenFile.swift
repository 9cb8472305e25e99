import BacklineMedia

/// A sound file on its way to its name: written beside it, and published once it has been found whole (R12). Used by one thread at
/// a time.
final class WrittenFile {
  private let staged: StagedFile
  private let writer: SoundFileWriter

  /// Begins the file; one that is there already stays until this is published.
  init(path: String, format: AudioFileFormat) throws(AudioError) {
    guard let container = format.container else {
      throw AudioError(.fileFailed, "\(format.name) can be read but not written: name a container")
    }
    do throws(SoundFileWriteError) {
      let encoding = try SoundFileEncoding(
        container, sampleFormat: format.encoding, sampleRate: Int(format.sampleRate), channelCount: format.channelCount)
      staged = try StagedFile(path, replacing: true)
      writer = try SoundFileWriter(descriptor: staged.descriptor, path: path, encoding: encoding)
    } catch {
      throw AudioError(.fileFailed, error.message)
    }
  }

  /// The frames written so far.
  var frameCount: Int64 { writer.frameCount }

  /// Adds interleaved frames.
  func write(_ samples: UnsafePointer<Float>, count: Int) throws(AudioError) {
    do throws(SoundFileWriteError) {
      try writer.write(samples, frames: count)
    } catch {
      throw AudioError(.fileFailed, error.message)
    }
  }

  /// Finishes the file, reads it back, and gives it its name; where that fails nothing is left of it.
  func publish() throws(AudioError) {
    defer { staged.discard() }
    do throws(SoundFileWriteError) {
      try writer.finish()
      try staged.publish { path throws(SoundFileWriteError) in _ = try writer.verify(path) }
    } catch {
      throw AudioError(.fileFailed, error.message)
    }
  }
}
