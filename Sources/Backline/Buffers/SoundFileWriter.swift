import BacklineMedia
import CSndFile
import Glibc

/// Writes a sound file through libsndfile, beside its final name until it is whole (R12). Used by one thread at a time.
final class SoundFileWriter {
  private let path: String
  private let temporaryPath: String
  private let format: AudioFileFormat
  private var file: OpaquePointer?
  /// The same open file, for syncing after libsndfile has closed its own.
  private var descriptor: Int32
  private(set) var frameCount: Int64 = 0

  init(path: String, format: AudioFileFormat) throws(AudioError) {
    var info = SF_INFO()
    info.samplerate = Int32(format.sampleRate)
    info.channels = Int32(format.channelCount)
    info.format = try Self.code(of: format)
    guard sf_format_check(&info) != 0 else {
      throw AudioError(
        .fileFailed,
        "\(path) cannot be written: \(format.name) does not go with \(format.channelCount) channels at \(format.sampleRate) Hz"
      )
    }
    if path.isEmpty || path.utf8.contains(0) {
      throw AudioError(.fileFailed, "a file needs a name without a zero byte")
    }
    self.path = path
    self.format = format
    let (temporaryPath, descriptor) = try Self.makeTemporary(beside: path)
    self.temporaryPath = temporaryPath
    self.descriptor = descriptor
    file = sf_open_fd(dup(descriptor), Int32(SFM_WRITE), &info, Int32(SF_TRUE))
    guard file != nil else {
      let reason = String(cString: sf_strerror(nil))
      discard()
      throw AudioError(.fileFailed, "\(path) cannot be written: \(reason)")
    }
    // Whole numbers are limited at full scale; libsndfile would let them wrap.
    sf_command(file, Int32(SFC_SET_CLIPPING), nil, Int32(SF_TRUE))
  }

  deinit { discard() }

  private static func code(of format: AudioFileFormat) throws(AudioError) -> Int32 {
    guard let container = format.container, let encoding = format.encoding else {
      throw AudioError(.fileFailed, "\(format.name) can be read but not written: name a container and an encoding")
    }
    let major =
      switch container {
      case .wav: format.channelCount > 2 ? SF_FORMAT_WAVEX : SF_FORMAT_WAV
      case .rf64: SF_FORMAT_RF64
      case .w64: SF_FORMAT_W64
      case .aiff: SF_FORMAT_AIFF
      case .caf: SF_FORMAT_CAF
      case .flac: SF_FORMAT_FLAC
      case .ogg: SF_FORMAT_OGG
      }
    let minor =
      switch encoding {
      case .int16: SF_FORMAT_PCM_16
      case .int24: SF_FORMAT_PCM_24
      case .int32: SF_FORMAT_PCM_32
      case .float32: SF_FORMAT_FLOAT
      case .float64: SF_FORMAT_DOUBLE
      case .vorbis: SF_FORMAT_VORBIS
      }
    return Int32(major) | Int32(minor)
  }

  /// A new file in the folder of `path`, so that it can be renamed to it.
  private static func makeTemporary(beside path: String) throws(AudioError) -> (path: String, descriptor: Int32) {
    let slash = path.utf8.lastIndex(of: UInt8(ascii: "/"))
    let folder = slash.map { String(path[...$0]) } ?? ""
    let name = slash.map { String(path[path.index(after: $0)...]) } ?? path
    if name.isEmpty { throw AudioError(.fileFailed, "\(path) names a folder, not a file") }
    var status = stat()
    if stat(path, &status) == 0 && status.st_mode & S_IFMT != S_IFREG {
      throw AudioError(.fileFailed, "\(path) is there and is no regular file")
    }
    var template = Array("\(folder).\(name.prefix(64)).XXXXXX".utf8CString)
    let descriptor = template.withUnsafeMutableBufferPointer { $0.baseAddress.map { mkstemp($0) } ?? -1 }
    if descriptor < 0 {
      throw AudioError(.fileFailed, "\(path) cannot be written: \(String(cString: strerror(errno)))")
    }
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    let mask = umask(0)
    umask(mask)
    fchmod(descriptor, 0o666 & ~mask)
    return (String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self), descriptor)
  }

  /// Adds interleaved frames.
  func write(_ samples: UnsafePointer<Float>, count: Int) throws(AudioError) {
    guard let file else { throw AudioError(.fileFailed, "\(path) has been closed") }
    let written = sf_writef_float(file, samples, sf_count_t(count))
    frameCount += max(0, written)
    if written != count {
      throw AudioError(.fileFailed, "\(path) cannot be written on: \(String(cString: sf_strerror(file)))")
    }
  }

  /// Finishes the file, looks whether all is there, and gives it its name.
  func publish() throws(AudioError) {
    defer { discard() }
    guard let file else { return }
    sf_write_sync(file)
    self.file = nil
    let code = sf_close(file)
    if code != 0 {
      throw AudioError(.fileFailed, "\(path) cannot be finished: \(String(cString: sf_error_number(code)))")
    }
    if fsync(descriptor) != 0 { throw systemError("cannot be written to the disk") }
    try verify()
    if rename(temporaryPath, path) != 0 { throw systemError("cannot be given its name") }
    close(descriptor)
    descriptor = -1
  }

  /// Reads the header back. libsndfile reads no empty file of some kinds, of which there is nothing to be read.
  private func verify() throws(AudioError) {
    let isLossy = format.encoding == .vorbis
    do throws(SoundFileError) {
      let reader = try SoundFileReader(path: temporaryPath)
      let found = reader.format
      if Double(found.sampleRate) == format.sampleRate && found.channelCount == format.channelCount
        && (found.frameCount == frameCount || isLossy)
      {
        return
      }
      throw .broken(path: path, frame: found.frameCount, reason: "\(frameCount) frames were written")
    } catch {
      if frameCount == 0 && (isLossy || format.container == .flac) { return }
      throw AudioError(.fileFailed, "\(path) did not pass its check: \(AudioError(error).message)")
    }
  }

  private func systemError(_ what: String) -> AudioError {
    AudioError(.fileFailed, "\(path) \(what): \(String(cString: strerror(errno)))")
  }

  private func discard() {
    if let file { sf_close(file) }
    file = nil
    if descriptor < 0 { return }
    unlink(temporaryPath)
    close(descriptor)
    descriptor = -1
  }
}
