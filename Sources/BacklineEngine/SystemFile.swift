import Glibc

/// Small files that the system keeps, such as those of /proc and /sys.
public enum SystemFile {
  /// The most that is read of one, in bytes.
  public static let limit = 1 << 20

  /// The text of a file without white space at its end; `nil` where it cannot be read.
  public static func read(_ path: String) -> String? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    var part = [UInt8](repeating: 0, count: 4096)
    while bytes.count < limit {
      let count = Glibc.read(descriptor, &part, part.count)
      if count < 0 && errno == EINTR { continue }
      if count < 0 { return nil }
      if count == 0 { break }
      bytes += part[..<count]
    }
    while let last = bytes.last, last == 0x20 || last == 0x0A { bytes.removeLast() }
    return String(decoding: bytes, as: UTF8.self)
  }
}
