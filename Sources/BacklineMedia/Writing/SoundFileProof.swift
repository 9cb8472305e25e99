/// Reads a file that has been written back (R12).
struct SoundFileProof {
  private let writer: SoundFileWriter
  private let filePath: String
  private let path: String

  /// `filePath` is where the file is, `path` what it is called in errors.
  init(_ writer: SoundFileWriter, _ filePath: String, path: String) {
    self.writer = writer
    self.filePath = filePath
    self.path = path
  }

  func check() throws(SoundFileWriteError) {
    let encoding = writer.encoding
    if writer.frameCount == 0 && encoding.container.needsFrames { throw refused("has no frame to look at") }
    let reader: SoundFileReader
    do throws(SoundFileError) {
      reader = try SoundFileReader(
        path: filePath, channelLimit: max(encoding.channelCount, SoundFileReader.maximumChannelCount))
    } catch {
      throw refused("is no sound file (\(reason(error)))")
    }
    let format = reader.format
    guard format.sampleRate == encoding.sampleRate else {
      throw refused("has \(format.sampleRate) Hz, not \(encoding.sampleRate)")
    }
    guard format.channelCount == encoding.channelCount else {
      throw refused("has \(format.channelCount) channels, not \(encoding.channelCount)")
    }
    guard format.frameCount == writer.frameCount else {
      throw refused("has \(format.frameCount) frames, not \(writer.frameCount)")
    }
    if writer.frameCount == 0 { return }
    let block = min(writer.frameCount, Int64(SoundFileWriter.Proof.frames))
    let proof = writer.proof
    try compare(reader, at: 0, block, encoding.isLossless ? proof.first : nil, "the first block")
    try compare(
      reader, at: writer.frameCount - block, block, encoding.isLossless ? proof.last : nil, "the last block")
  }

  private func compare(
    _ reader: SoundFileReader, at frame: Int64, _ count: Int64, _ expected: [Float]?, _ what: String
  ) throws(SoundFileWriteError) {
    let channels = reader.format.channelCount
    var samples = [Float](repeating: 0, count: Int(count) * channels)
    var done = 0
    while done < Int(count) {
      let result = samples.withUnsafeMutableBufferPointer { buffer -> Result<Int, SoundFileError> in
        guard let base = buffer.baseAddress else { return .success(0) }
        do throws(SoundFileError) {
          return .success(
            try reader.read(at: frame + Int64(done), into: base + done * channels, count: Int(count) - done))
        } catch {
          return .failure(error)
        }
      }
      switch result {
      case .success(let read):
        if read == 0 { throw refused("ends within \(what)") }
        done += read
      case .failure(let error): throw refused("cannot be read in \(what) (\(reason(error)))")
      }
    }
    if let expected, expected != samples { throw refused("differs in \(what)") }
  }

  private func reason(_ error: SoundFileError) -> String {
    switch error {
    case .notFound: "it is gone"
    case .notAFile: "it is no regular file"
    case .notReadable(_, let reason), .unsupported(_, let reason), .broken(_, _, let reason): reason
    }
  }

  private func refused(_ reason: String) -> SoundFileWriteError { .notVerified(path: path, reason: reason) }
}
