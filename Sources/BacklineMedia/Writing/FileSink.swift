import CBackline
import CSndFile
import Glibc

/// The bytes of a file as libsndfile writes them, through calls of ours: so that no error of the system gets lost, not even
/// one that comes while a file is closed, which libsndfile itself does not tell.
final class FileSink {
  let descriptor: Int32
  /// The first error of the system; 0 where none came.
  private(set) var errorCode: Int32 = 0
  private var position: Int64 = 0
  private var length: Int64 = 0
  /// Up to where the kernel has been told to begin writing to the disk.
  private var begun: Int64 = 0
  /// libsndfile is never told of a longer file.
  var reportedLimit = Int64.max
  /// While this is set nothing but zeros is written, and the file gets a hole in their place.
  var isSkipping = false
  /// What is written from this offset on fails, for tests.
  var failingOffset = Int64.max

  /// So much is left to the kernel before it is told to begin with it: what is on its way to the disk by the end need not be
  /// waited for then.
  private static let writebackStep: Int64 = 4 << 20

  /// `descriptor` is open for reading and writing, at the start of an empty file; it is not closed.
  init(_ descriptor: Int32) { self.descriptor = descriptor }

  /// Forgets what has been written: a header that is written again, and is shorter, must not leave a rest behind it.
  func startAgain() {
    if ftruncate(descriptor, 0) != 0 { note(errno) }
    length = 0
  }

  /// The calls for `sf_open_virtual`, with an unretained sink as their user data.
  static let calls = SF_VIRTUAL_IO(
    get_filelen: { context in FileSink.sink(context).map { min($0.length, $0.reportedLimit) } ?? 0 },
    seek: { offset, whence, context in FileSink.sink(context)?.seek(offset, whence) ?? -1 },
    read: { bytes, count, context in FileSink.sink(context)?.read(bytes, count) ?? 0 },
    write: { bytes, count, context in FileSink.sink(context)?.write(bytes, count) ?? 0 },
    tell: { context in FileSink.sink(context)?.position ?? 0 })

  private static func sink(_ context: UnsafeMutableRawPointer?) -> FileSink? {
    context.map { Unmanaged<FileSink>.fromOpaque($0).takeUnretainedValue() }
  }

  private func seek(_ offset: Int64, _ whence: Int32) -> Int64 {
    switch whence {
    case SEEK_CUR: position += offset
    case SEEK_END: position = length + offset
    default: position = offset
    }
    return position
  }

  private func read(_ bytes: UnsafeMutableRawPointer?, _ count: Int64) -> Int64 {
    let read = pread(descriptor, bytes, Int(count), off_t(position))
    if read < 0 {
      note(errno)
      return 0
    }
    position += Int64(read)
    return Int64(read)
  }

  private func write(_ bytes: UnsafeRawPointer?, _ count: Int64) -> Int64 {
    guard let bytes, errorCode == 0 else { return 0 }
    if isSkipping { return skip(count) }
    var written: Int64 = 0
    while written < count {
      if position + written >= failingOffset {
        note(ENOSPC)
        return written
      }
      let room = min(count, failingOffset - position) - written
      let done = pwrite(descriptor, bytes + Int(written), Int(room), off_t(position + written))
      if done < 0 && errno == EINTR { continue }
      if done <= 0 {
        note(done == 0 ? ENOSPC : errno)
        break
      }
      written += Int64(done)
    }
    position += written
    length = max(length, position)
    if position - begun >= Self.writebackStep {
      backline_begin_writeback(descriptor, begun, position - begun)
      begun = position
    }
    return written
  }

  private func skip(_ count: Int64) -> Int64 {
    if position + count > length && ftruncate(descriptor, off_t(position + count)) != 0 {
      note(errno)
      return 0
    }
    position += count
    length = max(length, position)
    begun = position
    return count
  }

  private func note(_ code: Int32) {
    if errorCode == 0 { errorCode = code == 0 ? EIO : code }
  }
}
