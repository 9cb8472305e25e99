import BacklineRealtime
import CBackline
import CSndFile
import Glibc

/// What a sound file is.
public struct SoundFileFormat: Equatable, Sendable {
  /// Frames a second.
  public let sampleRate: Int
  /// 1 to 32.
  public let channelCount: Int
  /// The length in frames of the file's own rate.
  public let frameCount: Int64
  /// The container and the encoding in words, as libsndfile calls them.
  public let name: String
}

/// Reads sound files through libsndfile: WAV, RF64, W64, AIFF, CAF, AU, FLAC, Ogg Vorbis and Opus, MP3, by frame and exactly.
///
/// Used by one thread at a time. Opening and reading wait for the disk.
public final class SoundFileReader {
  /// The most channels that a file may have.
  public static let maximumChannelCount = 32
  /// The rates that a file may have.
  public static let sampleRates = 1_000...768_000
  /// Frames decoded ahead of a seek's target in lossy formats, whose first packets after a seek depend on earlier ones (the
  /// bit reservoir of MP3, the overlap of Vorbis, the 80 ms that Opus needs): what follows has the same bits as in passing.
  private static let seekLead: Int64 = 16_384
  /// The most frames on one page of an Ogg Vorbis file (255 packets of usual size). Seeks that end on the last page are off
  /// by what that page's end has been cut by (libsndfile 1.2.0), so none goes there.
  private static let vorbisPageFrames: Int64 = 255 * 1024

  public let path: String
  public let format: SoundFileFormat
  /// The samples of floating-point files that were not finite and have been replaced by silence, each counted
  /// once; what a seek has left out does not count.
  public private(set) var nonFiniteCount = 0
  /// How the samples are kept, or the smallest format that holds them; `nil` for lossy files.
  public let sampleFormat: SampleFormat?
  private let file: OpaquePointer
  private let isLossy: Bool
  private let isVorbis: Bool
  private var position: Int64 = 0
  /// The end of what has been looked through for samples that are not finite.
  private var checkedFrames: Int64 = 0

  /// Opens a file of at most `channelLimit` channels.
  public init(path: String, channelLimit: Int = maximumChannelCount) throws(SoundFileError) {
    self.path = path
    let descriptor = try Self.openRegularFile(path)
    var status = stat()
    fstat(descriptor, &status)
    let isTruncated = ContainerLength.isTruncated(descriptor: descriptor, fileSize: Int64(status.st_size))
    var info = SF_INFO()
    // libsndfile owns the descriptor from here on, and closes it where it fails, too.
    guard let file = sf_open_fd(descriptor, Int32(SFM_READ), &info, Int32(SF_TRUE)) else {
      throw Self.openingError(path)
    }
    self.file = file
    let encoding = info.format & Int32(SF_FORMAT_SUBMASK)
    sampleFormat = Self.sampleFormat(encoding)
    isVorbis = encoding == Int32(SF_FORMAT_VORBIS)
    isLossy =
      isVorbis || encoding == Int32(SF_FORMAT_OPUS)
      || info.format & Int32(SF_FORMAT_TYPEMASK) == Int32(SF_FORMAT_MPEG)
    format = SoundFileFormat(
      sampleRate: Int(info.samplerate), channelCount: Int(info.channels), frameCount: info.frames,
      name: Self.name(of: info.format))
    if let error = Self.check(
      format, channelLimit, path: path, isSeekable: info.seekable != 0, isTruncated: isTruncated)
    {
      sf_close(file)
      throw error
    }
  }

  deinit { sf_close(file) }

  /// What the file says beside its sound.
  public func metadata() -> SoundFileMetadata { SoundFileMetadata(file) }

  /// True where `path` names this very file.
  public func isFile(at path: String) -> Bool {
    var first = stat(), second = stat()
    return stat(self.path, &first) == 0 && stat(path, &second) == 0 && first.st_dev == second.st_dev
      && first.st_ino == second.st_ino
  }

  /// Writes up to `count` interleaved frames from `frame` on, all channels, and returns how many: fewer only at the end.
  public func read(
    at frame: Int64, into samples: UnsafeMutablePointer<Float>, count: Int
  ) throws(SoundFileError) -> Int {
    let wanted = Int(min(Int64(count), format.frameCount - frame))
    if frame < 0 || wanted <= 0 { return 0 }
    if frame != position { try seek(to: frame) }
    let read = Int(sf_readf_float(file, samples, sf_count_t(wanted)))
    position = frame + Int64(max(read, 0))
    if read <= 0 { throw broken(at: frame) }
    silenceNonFinite(samples, at: frame, count: read)
    return read
  }

  private func seek(to frame: Int64) throws(SoundFileError) {
    var start = frame
    if isVorbis { start = min(start, format.frameCount - Self.vorbisPageFrames) }
    if isLossy { start = max(0, start - Self.seekLead) }
    position = -1
    guard sf_seek(file, sf_count_t(start), Int32(SEEK_SET)) == start else { throw broken(at: frame) }
    var left = Int(frame - start)
    if left == 0 { return }
    let pieceFrames = 4096
    var dropped = [Float](repeating: 0, count: pieceFrames * format.channelCount)
    while left > 0 {
      let read = Int(sf_readf_float(file, &dropped, sf_count_t(min(left, pieceFrames))))
      if read <= 0 { throw broken(at: frame) }
      left -= read
    }
  }

  private func silenceNonFinite(_ samples: UnsafeMutablePointer<Float>, at frame: Int64, count: Int) {
    let channels = format.channelCount
    if backline_has_non_finite(samples, Int64(count * channels)) {
      for index in 0..<count * channels where !samples[index].isFinite {
        samples[index] = 0
        if frame + Int64(index / channels) >= checkedFrames { nonFiniteCount += 1 }
      }
    }
    checkedFrames = max(checkedFrames, frame + Int64(count))
  }

  private func broken(at frame: Int64) -> SoundFileError {
    let reason = sf_error(file) == SF_ERR_NO_ERROR ? "it ends early" : String(cString: sf_strerror(file))
    return .broken(path: path, frame: frame, reason: reason)
  }

  // MARK: Opening

  /// A descriptor of a regular file. Nothing else is opened for long: a pipe would make its reader wait for ever.
  private static func openRegularFile(_ path: String) throws(SoundFileError) -> Int32 {
    if path.utf8.contains(0) { throw .notFound(path: path) }
    let descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    if descriptor < 0 {
      let code = errno
      if code == ENOENT || code == ENOTDIR { throw .notFound(path: path) }
      if code == ENXIO { throw .notAFile(path: path) }  // a socket
      throw .notReadable(path: path, reason: String(cString: strerror(code)))
    }
    var status = stat()
    if fstat(descriptor, &status) != 0 || status.st_mode & S_IFMT != S_IFREG {
      close(descriptor)
      throw .notAFile(path: path)
    }
    return descriptor
  }

  private static func openingError(_ path: String) -> SoundFileError {
    let reason = String(cString: sf_strerror(nil))
    switch Int(sf_error(nil)) {
    case SF_ERR_SYSTEM: return .notReadable(path: path, reason: reason)
    case SF_ERR_MALFORMED_FILE: return .broken(path: path, frame: 0, reason: reason)
    default: return .unsupported(path: path, reason: reason)
    }
  }

  private static func check(
    _ format: SoundFileFormat, _ channelLimit: Int, path: String, isSeekable: Bool, isTruncated: Bool
  ) -> SoundFileError? {
    if !(1...channelLimit).contains(format.channelCount) {
      return .unsupported(
        path: path, reason: "it has \(format.channelCount) channels, at most \(channelLimit) can be played")
    }
    if !sampleRates.contains(format.sampleRate) {
      return .unsupported(path: path, reason: "its rate of \(format.sampleRate) Hz is not within 1000 to 768000")
    }
    // libsndfile says the largest number where it cannot tell, as for an Ogg stream without its last page.
    if format.frameCount < 0 || format.frameCount == Int64.max || !isSeekable {
      return .broken(path: path, frame: 0, reason: "its length is unknown, it seems to be cut off")
    }
    if isTruncated {
      return .broken(path: path, frame: format.frameCount, reason: "it is shorter than its header says")
    }
    return nil
  }

  private static func sampleFormat(_ encoding: Int32) -> SampleFormat? {
    switch Int(encoding) {
    case SF_FORMAT_PCM_S8, SF_FORMAT_PCM_U8, SF_FORMAT_PCM_16, SF_FORMAT_ALAC_16, SF_FORMAT_ULAW, SF_FORMAT_ALAW:
      .int16
    case SF_FORMAT_PCM_24, SF_FORMAT_ALAC_20, SF_FORMAT_ALAC_24: .int24
    case SF_FORMAT_PCM_32, SF_FORMAT_ALAC_32: .int32
    case SF_FORMAT_FLOAT: .float32
    case SF_FORMAT_DOUBLE: .float64
    default: nil
    }
  }

  private static func name(of format: Int32) -> String {
    let parts = [SF_FORMAT_TYPEMASK, SF_FORMAT_SUBMASK].map { mask in
      var info = SF_FORMAT_INFO()
      info.format = format & Int32(mask)
      let code = sf_command(nil, Int32(SFC_GET_FORMAT_INFO), &info, Int32(MemoryLayout<SF_FORMAT_INFO>.size))
      return code == 0 && info.name != nil ? String(cString: info.name) : "unknown"
    }
    return parts.joined(separator: ", ")
  }
}
