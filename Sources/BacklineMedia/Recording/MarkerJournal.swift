import Glibc
import Synchronization

/// The markers of a recording that runs, in a file beside it: a marker's place is behind the sound, where there is none before the
/// end. It goes when the recording has its name, and `UnfinishedRecording` reads it after a kill.
///
/// A line a marker: its frame, a space, its text. Lines that are broken are left out.
final class MarkerJournal: Sendable {
  private let path: String
  private let descriptor = Mutex<Int32>(-1)

  /// For the recording of this working name; makes nothing yet.
  init(_ workingPath: String) { path = Self.path(workingPath) }

  deinit { descriptor.withLock { if $0 >= 0 { close($0) } } }

  private static func path(_ workingPath: String) -> String {
    String(workingPath.dropLast(UnfinishedRecording.ending.count)) + ".markers"
  }

  /// Writes a marker down. A disk that does not take it has the recording go on without.
  func note(_ marker: SoundFileMetadata.Marker) {
    let text = String(decoding: CueChunk.cut(marker.name), as: UTF8.self).split(whereSeparator: \.isNewline)
    let line = Array("\(marker.frame) \(text.joined(separator: " "))\n".utf8)
    descriptor.withLock { descriptor in
      // Somebody else's file of that name is left alone.
      if descriptor < 0 { descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0o666) }
      if descriptor >= 0 { _ = write(descriptor, line, line.count) }
    }
  }

  /// Has what was written brought to the disk.
  func sync() { descriptor.withLock { if $0 >= 0 { fdatasync($0) } } }

  /// Takes the file away.
  func remove() { descriptor.withLock { if $0 >= 0 { unlink(path) } } }

  /// The markers that a kill has left beside a recording, up to `frames`.
  static func read(_ workingPath: String, frames: Int64) -> [SoundFileMetadata.Marker] {
    let descriptor = open(path(workingPath), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    if descriptor < 0 { return [] }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_size <= limit,
      let bytes = RIFFSizes.bytes(descriptor, 0, Int(status.st_size))
    else { return [] }
    return String(decoding: bytes, as: UTF8.self).split(separator: "\n").compactMap { line in
      guard let space = line.firstIndex(of: " "), let frame = Int64(line[..<space]), (0...frames).contains(frame)
      else { return nil }
      return SoundFileMetadata.Marker(frame: frame, name: String(line[line.index(after: space)...]))
    }
  }

  /// Takes away what a kill has left, after it has been read.
  static func remove(_ workingPath: String) { unlink(path(workingPath)) }

  /// As many bytes as the most markers with the longest texts have.
  private static let limit = Int64(CueChunk.limit * (CueChunk.textLimit + 24))
}
