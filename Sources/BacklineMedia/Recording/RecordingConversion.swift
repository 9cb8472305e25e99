import Glibc

/// Makes a compressed file of a finished recording, which is a WAV file under its working name until then: so that a kill costs
/// no more than with any other kind of file.
enum RecordingConversion {
  private static let pieceFrames = SampleEncoder.pieceFrames

  /// Writes the file, checks it, gives it its name, or that with a number, and takes the recording away. Returns the path.
  static func convert(
    _ workingPath: String, to path: String, container: SoundContainer, sampleFormat: SampleFormat?
  ) throws(SoundFileWriteError) -> String {
    let reader: SoundFileReader
    do throws(SoundFileError) {
      reader = try SoundFileReader(path: workingPath, channelLimit: RecordingPlan.channelLimit)
    } catch {
      throw .notVerified(path: path, reason: "is no sound file")
    }
    let encoding = try SoundFileEncoding(
      container, sampleFormat: sampleFormat, sampleRate: reader.format.sampleRate,
      channelCount: reader.format.channelCount)
    var metadata = reader.metadata()
    metadata.markers = []
    metadata.unknown = []
    var number = 1
    var target = path
    while true {
      do throws(SoundFileWriteError) {
        let staged = try StagedFile(target, replacing: false)
        let writer = try SoundFileWriter(
          descriptor: staged.descriptor, path: target, encoding: encoding, metadata: metadata,
          expectedFrames: reader.format.frameCount)
        try copy(reader, to: writer)
        try writer.finish()
        try staged.publish { name throws(SoundFileWriteError) in _ = try writer.verify(name) }
        unlink(workingPath)
        return target
      } catch {
        guard case .exists = error else { throw error }
        number += 1
        target = UnfinishedRecording.numbered(path, number)
      }
    }
  }

  private static func copy(_ reader: SoundFileReader, to writer: SoundFileWriter) throws(SoundFileWriteError) {
    let samples = UnsafeMutablePointer<Float>.allocate(capacity: pieceFrames * reader.format.channelCount)
    defer { samples.deallocate() }
    var frame: Int64 = 0
    while frame < reader.format.frameCount {
      let count: Int
      do throws(SoundFileError) {
        count = try reader.read(at: frame, into: samples, count: pieceFrames)
      } catch {
        throw .notVerified(path: reader.path, reason: "cannot be read to its end")
      }
      if count == 0 { throw .notVerified(path: reader.path, reason: "ends too early") }
      try writer.write(samples, frames: count)
      frame += Int64(count)
    }
  }
}
