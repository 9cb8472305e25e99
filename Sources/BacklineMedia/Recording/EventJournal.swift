import Glibc

/// What was done while a recording ran, a line a command with its frame, in a file beside it: a track of timed metadata, for no kind
/// of sound file has room for one.
///
/// Like the recording it has its name when it is whole, and a working name until then. A line that cannot be written whole is not there
/// at all.
final class EventJournal: @unchecked Sendable {
  // Why unchecked: the writing thread's until the recording ends, the syncing thread's from then on; `sync` is that one's.

  static let ending = ".jsonl"

  let path: String
  private let workingPath: String
  private let descriptor: Int32
  private var length: Int64 = 0

  /// Makes the file. Nobody else may have the name, now or at the end.
  init(path: String) throws(SoundFileWriteError) {
    self.path = path
    try StagedFile.check(path, replacing: false)
    workingPath = UnfinishedRecording.workingPath(path)
    descriptor = try UnfinishedRecording.create(workingPath, for: path)
  }

  deinit { close(descriptor) }

  /// Takes the file away.
  func discard() { unlink(workingPath) }

  /// Writes a line down, without its end. A disk that does not take it has the recording go on without.
  func note(_ line: String) {
    let bytes = Array((line + "\n").utf8)
    if pwrite(descriptor, bytes, bytes.count, off_t(length)) == bytes.count {
      length += Int64(bytes.count)
    } else {
      ftruncate(descriptor, off_t(length))
    }
  }

  /// Has everything written to the disk; returns the system's error number.
  func sync() -> Int32 { fdatasync(descriptor) == 0 ? 0 : errno }

  /// Syncs the file and gives it its name, or that with a number. Returns the path.
  func publish() throws(SoundFileWriteError) -> String {
    if fsync(descriptor) != 0 { throw .failed(path: path, code: errno) }
    return try UnfinishedRecording.giveName(path, to: workingPath)
  }

  /// Cuts what a kill has left to whole lines.
  static func repair(_ descriptor: Int32, path: String) throws(SoundFileWriteError) {
    var status = stat()
    if fstat(descriptor, &status) != 0 { throw .failed(path: path, code: errno) }
    var end = Int64(status.st_size)
    while end > 0 {
      let count = min(end, 4096)
      guard let bytes = RIFFSizes.bytes(descriptor, end - count, Int(count)) else {
        throw .failed(path: path, code: EIO)
      }
      if let last = bytes.lastIndex(of: 0x0A) {
        end += Int64(last - bytes.startIndex) + 1 - count
        break
      }
      end -= count
    }
    if ftruncate(descriptor, off_t(end)) != 0 { throw .failed(path: path, code: errno) }
  }
}
