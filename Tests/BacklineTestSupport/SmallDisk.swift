import Foundation

/// A small file system in memory, where the system allows one to be made.
public final class SmallDisk {
  public let path: String

  /// Mounts one of so many megabytes at `path`.
  public init(_ path: String, megabytes: Int) throws {
    self.path = path
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    guard mount("tmpfs", path, "tmpfs", 0, "size=\(megabytes)m") == 0 else { throw SystemRefusal(code: errno) }
  }

  deinit { umount(path) }

  /// What is on it.
  public var names: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted() }

  /// True for those who may mount.
  public static let isPossible: Bool = {
    let path = FileManager.default.temporaryDirectory.path + "/backline-disk-\(UUID().uuidString)"
    defer { rmdir(path) }
    return (try? SmallDisk(path, megabytes: 1)) != nil
  }()
}

/// The system does not allow it.
public struct SystemRefusal: Error {
  public let code: Int32

  public init(code: Int32) { self.code = code }
}
