import CBackline
import Glibc

/// A file that is written beside its destination and takes that name only when it is whole (R12).
///
/// Until `publish` has returned, what stood under the name stands there still. A file that is let go without having been
/// published leaves nothing behind. One whose program was killed is swept away by the next that is staged in the same folder:
/// a temporary file is locked for as long as somebody works on it. Used by one thread at a time.
public final class StagedFile {
  /// The path as it was given.
  public let path: String
  /// The temporary file, open for reading and writing; closed when the file is published or let go.
  public private(set) var descriptor: Int32 = -1
  /// Where the temporary file is.
  public let temporaryPath: String
  private let destination: String
  private let replaces: Bool
  private var isOver = false

  /// How the names of temporary files begin.
  static let prefix = ".backline-"
  static let ending = ".part"

  /// Makes an empty temporary file for `path`.
  ///
  /// A link is followed: the file that it stands for is replaced. With `replaces` false a name that is taken is refused, now
  /// and again at the end. With `isRecoverable` the temporary file has the working name of a recording, and what a kill leaves of it
  /// is not swept away but found by `UnfinishedRecording`.
  public init(
    _ path: String, replacing replaces: Bool, isRecoverable: Bool = false
  ) throws(SoundFileWriteError) {
    self.path = path
    self.replaces = replaces
    destination = try Self.resolved(path, replacing: replaces)
    let folder = Self.folder(of: destination)
    Self.sweep(folder)
    if isRecoverable {
      temporaryPath = UnfinishedRecording.workingPath(destination)
      descriptor = try UnfinishedRecording.create(temporaryPath, for: path)
    } else {
      (descriptor, temporaryPath) = try Self.create(in: folder, for: path)
    }
    var old = stat()
    if replaces && stat(destination, &old) == 0 { _ = fchmod(descriptor, old.st_mode & 0o777) }
  }

  deinit { discard() }

  /// Syncs the file, has `verify` look at it by the path of the temporary file, and gives it its name.
  ///
  /// When this throws, or `verify` does, the temporary file is gone and the destination as it was.
  public func publish(
    _ verify: (_ temporaryPath: String) throws(SoundFileWriteError) -> Void
  ) throws(SoundFileWriteError) {
    if isOver { throw .failed(path: path, code: EBADF) }
    defer { discard() }
    if fsync(descriptor) != 0 { throw .failed(path: path, code: errno) }
    try verify(temporaryPath)
    let code = replaces ? rename(temporaryPath, destination) : backline_rename_new(temporaryPath, destination)
    if code != 0 {
      if errno == EEXIST { throw .exists(path: path) }
      throw .failed(path: path, code: errno)
    }
    isOver = true
    close(descriptor)
    descriptor = -1
    try syncFolder()
  }

  /// Takes the temporary file away, unless it has been published. May be called at any time and more than once.
  public func discard() {
    if descriptor >= 0 {
      // While it is still locked, so that nobody else takes the name for one left behind.
      if !isOver { unlink(temporaryPath) }
      close(descriptor)
    }
    descriptor = -1
    isOver = true
  }

  /// True where the path names the file that is open as `descriptor`.
  public static func isSame(_ path: String, as descriptor: Int32) -> Bool {
    var first = stat(), second = stat()
    return stat(path, &first) == 0 && fstat(descriptor, &second) == 0 && first.st_dev == second.st_dev
      && first.st_ino == second.st_ino
  }

  /// True where both paths name one file.
  public static func isSame(_ path: String, asPath other: String) -> Bool {
    var first = stat(), second = stat()
    return stat(path, &first) == 0 && stat(other, &second) == 0 && first.st_dev == second.st_dev
      && first.st_ino == second.st_ino
  }

  /// Refuses now what `init` would refuse for a path, and makes nothing.
  public static func check(_ path: String, replacing: Bool) throws(SoundFileWriteError) {
    let folder = folder(of: try resolved(path, replacing: replacing))
    if access(folder, W_OK | X_OK) != 0 { throw .cannotCreate(path: path, reason: reason(errno, folder)) }
  }

  private func syncFolder() throws(SoundFileWriteError) {
    let folder = open(Self.folder(of: destination), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    // A folder that may be written to but not read cannot be synced; the file itself is.
    if folder < 0 { return }
    defer { close(folder) }
    if fsync(folder) != 0 && errno != EINVAL && errno != EROFS { throw .failed(path: path, code: errno) }
  }

  // MARK: Names

  private static func resolved(_ path: String, replacing: Bool) throws(SoundFileWriteError) -> String {
    if path.isEmpty || path.utf8.contains(0) { throw .cannotCreate(path: path, reason: "that is no name of a file") }
    if path.hasSuffix("/") { throw .cannotCreate(path: path, reason: "that is a folder") }
    if let real = realpath(path, nil) {
      defer { free(real) }
      var status = stat()
      if stat(real, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR {
        throw .cannotCreate(path: path, reason: "it is a folder")
      }
      if !replacing { throw .exists(path: path) }
      if status.st_mode & S_IFMT != S_IFREG { throw .cannotCreate(path: path, reason: "it is no regular file") }
      return String(cString: real)
    }
    let code = errno
    var status = stat()
    // A link that leads nowhere is a name that is taken.
    if lstat(path, &status) == 0 && code == ENOENT {
      throw .cannotCreate(path: path, reason: "it is a link that leads nowhere")
    }
    if code != ENOENT { throw .cannotCreate(path: path, reason: reason(code, folder(of: path))) }
    return path.utf8.contains(UInt8(ascii: "/")) ? path : "./" + path
  }

  /// The folder with a slash at its end.
  private static func folder(of path: String) -> String {
    path.lastIndex(of: "/").map { String(path[...$0]) } ?? "./"
  }

  private static func reason(_ code: Int32, _ folder: String) -> String {
    switch code {
    case ENOENT: "there is no folder \(folder)"
    case EACCES, EPERM: "the folder \(folder) may not be written to"
    default: String(cString: strerror(code))
    }
  }

  // MARK: Temporary files

  private static func create(
    in folder: String, for path: String
  ) throws(SoundFileWriteError) -> (Int32, String) {
    while true {
      let name =
        folder + prefix + String(getpid()) + "-" + String(UInt64.random(in: 0...UInt64.max), radix: 36) + ending
      // Why O_EXCL: a file or link that somebody else has put there is not written through.
      let descriptor = open(name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o666)
      if descriptor < 0 {
        if errno == EEXIST { continue }
        let code = errno
        if code == ENOSPC || code == EDQUOT { throw .failed(path: path, code: code) }
        throw .cannotCreate(path: path, reason: reason(code, folder))
      }
      var status = stat()
      // Somebody who sweeps may have taken it away before it was locked.
      if flock(descriptor, LOCK_EX | LOCK_NB) == 0 && fstat(descriptor, &status) == 0 && status.st_nlink == 1 {
        return (descriptor, name)
      }
      close(descriptor)
    }
  }

  /// Takes away the temporary files in a folder that nobody works on any more.
  public static func sweep(_ folder: String) {
    guard let directory = opendir(folder) else { return }
    defer { closedir(directory) }
    while let entry = readdir(directory) {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
        String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      guard name.hasPrefix(prefix), name.hasSuffix(ending) else { continue }
      let path = folder.hasSuffix("/") ? folder + name : folder + "/" + name
      let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
      if descriptor < 0 { continue }
      if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { unlink(path) }
      close(descriptor)
    }
  }
}
