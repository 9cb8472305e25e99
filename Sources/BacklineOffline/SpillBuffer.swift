import Glibc

/// Interleaved frames that wait, in memory up to a limit and beyond it in a file without a name, which nobody has to clean up.
final class SpillBuffer {
  /// Samples kept in memory, and read back at once.
  private static let memoryLimit = 1 << 18

  private let channelCount: Int
  private let folder: String
  private var memory: [Float] = []
  private var descriptor: Int32 = -1
  /// Samples in the file, which come before those in memory.
  private var spilledCount = 0

  /// The file is made in `folder`.
  init(channelCount: Int, folder: String = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp") {
    self.channelCount = channelCount
    self.folder = folder
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  func append(_ samples: UnsafePointer<Float>, frames: Int) throws(OfflineError) {
    memory.append(contentsOf: UnsafeBufferPointer(start: samples, count: frames * channelCount))
    if memory.count >= Self.memoryLimit { try spill() }
  }

  /// Hands everything on, in order and in pieces of whole frames, and keeps it.
  func replay(_ body: (UnsafePointer<Float>, _ frames: Int) throws(OfflineError) -> Void) throws(OfflineError) {
    let pieceFrames = 4096
    let piece = UnsafeMutablePointer<Float>.allocate(capacity: pieceFrames * channelCount)
    defer { piece.deallocate() }
    var position = 0
    while position < spilledCount {
      let count = min(pieceFrames * channelCount, spilledCount - position)
      try transfer(count, at: position) { done in
        pread(descriptor, UnsafeMutableRawPointer(piece) + done, count * 4 - done, off_t(position * 4 + done))
      }
      try body(piece, count / channelCount)
      position += count
    }
    position = 0
    while position < memory.count {
      let count = min(pieceFrames * channelCount, memory.count - position)
      memory.withUnsafeBufferPointer { buffer in
        if let base = buffer.baseAddress { piece.update(from: base + position, count: count) }
      }
      try body(piece, count / channelCount)
      position += count
    }
  }

  func removeAll() {
    memory.removeAll(keepingCapacity: true)
    spilledCount = 0
  }

  private func spill() throws(OfflineError) {
    if descriptor < 0 { try open() }
    let count = memory.count
    let start = spilledCount
    let code = memory.withUnsafeBytes { bytes -> Int32 in
      var done = 0
      while done < count * 4 {
        let written = pwrite(descriptor, bytes.baseAddress! + done, count * 4 - done, off_t(start * 4 + done))
        if written < 0 && errno == EINTR { continue }
        if written <= 0 { return errno }
        done += written
      }
      return 0
    }
    if code != 0 { throw failure(code) }
    spilledCount += count
    memory.removeAll(keepingCapacity: true)
  }

  private func open() throws(OfflineError) {
    let path = folder + "/.backline-spill-" + String(UInt64.random(in: 0...UInt64.max), radix: 36)
    descriptor = Glibc.open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
    if descriptor < 0 { throw failure(errno) }
    unlink(path)
  }

  private func transfer(_ count: Int, at position: Int, _ read: (Int) -> Int) throws(OfflineError) {
    var done = 0
    while done < count * 4 {
      let part = read(done)
      if part < 0 && errno == EINTR { continue }
      if part <= 0 { throw failure(part == 0 ? EIO : errno) }
      done += part
    }
  }

  private func failure(_ code: Int32) -> OfflineError {
    OfflineError(
      .inputOutput, "the temporary file of a rendering in \(folder) failed: \(String(cString: strerror(code)))")
  }
}
