import BacklineEngine
import Glibc

/// Replaces small files whole or not at all (R12).
enum AtomicFile {
  /// Puts `bytes` at `path`: what was there stays until the new file is on the disk and has been read back.
  static func write(_ bytes: [UInt8], to path: String) throws(EngineError) {
    let destination = try resolved(path)
    let folder = String(destination[...(destination.lastIndex(of: "/") ?? destination.startIndex)])
    let temporary = temporaryPath(in: folder)
    // Why O_EXCL: a file or link that somebody else has put there is not written through.
    let descriptor = FileDescriptor(open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o666))
    guard descriptor.number >= 0 else { throw failure(path) }
    var isPublished = false
    defer { if !isPublished { unlink(temporary) } }
    // The old file's rights are kept where the system allows it; without them the new file has the usual ones.
    var old = stat()
    if stat(destination, &old) == 0 { _ = fchmod(descriptor.number, old.st_mode & 0o777) }
    guard descriptor.writeAll(bytes), fsync(descriptor.number) == 0 else { throw failure(path) }
    let check = FileDescriptor(open(temporary, O_RDONLY | O_CLOEXEC))
    guard check.number >= 0, let written = check.readAll(expecting: bytes.count, limit: bytes.count + 1) else {
      throw failure(path)
    }
    guard written == bytes else {
      throw EngineError(.ioError, "\(quoted(path)) was not saved: the disk gave back other bytes than were written")
    }
    guard rename(temporary, destination) == 0 else { throw failure(path) }
    isPublished = true
    let directory = FileDescriptor(open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC))
    guard directory.number >= 0, fsync(directory.number) == 0 || errno == EINVAL else { throw failure(path) }
  }

  /// Makes a folder and those above it.
  static func makeFolder(_ path: String) throws(EngineError) {
    var status = stat()
    if stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR { return }
    if let slash = path.lastIndex(of: "/"), slash != path.startIndex { try makeFolder(String(path[..<slash])) }
    guard mkdir(path, 0o777) == 0 || errno == EEXIST else { throw failure(path) }
  }

  /// The file that a link at `path` stands for, or the path itself, with a folder in front.
  private static func resolved(_ path: String) throws(EngineError) -> String {
    if path.isEmpty || path.utf8.contains(0) { throw EngineError(.ioError, "\(quoted(path)) cannot name a file") }
    if let real = realpath(path, nil) {
      defer { free(real) }
      var status = stat()
      if stat(real, &status) == 0 && status.st_mode & S_IFMT != S_IFREG {
        throw EngineError(.ioError, "\(quoted(path)) is there and not a regular file; take another name")
      }
      return String(cString: real)
    }
    return path.utf8.contains(UInt8(ascii: "/")) ? path : "./" + path
  }

  private static func temporaryPath(in folder: String) -> String {
    "\(folder).backline-\(getpid())-\(String(UInt64.random(in: 0...UInt64.max), radix: 16)).tmp"
  }

  private static func failure(_ path: String) -> EngineError {
    let code = errno
    let reason = "\(quoted(path)) cannot be written: \(String(cString: strerror(code)))"
    return EngineError(code == ENOENT || code == ENOTDIR ? .notFound : .ioError, reason)
  }
}
