import Glibc

/// An open file, closed when it goes out of use.
struct FileDescriptor: ~Copyable {
  /// Negative where it could not be opened.
  let number: Int32

  init(_ number: Int32) { self.number = number }

  deinit { if number >= 0 { _ = Glibc.close(number) } }

  /// The bytes up to the end or `limit`; `nil` with `errno` set when reading fails.
  borrowing func readAll(expecting count: Int, limit: Int) -> [UInt8]? {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count)
    var chunk = [UInt8](repeating: 0, count: 65_536)
    while bytes.count < limit {
      let count = Glibc.read(number, &chunk, min(chunk.count, limit - bytes.count))
      if count < 0 && errno == EINTR { continue }
      if count < 0 { return nil }
      if count == 0 { break }
      bytes += chunk[..<count]
    }
    return bytes
  }

  /// Writes all bytes; false with `errno` set when that fails.
  borrowing func writeAll(_ bytes: [UInt8]) -> Bool {
    var position = 0
    while position < bytes.count {
      let count = bytes.withUnsafeBytes { Glibc.write(number, $0.baseAddress! + position, bytes.count - position) }
      if count < 0 && errno == EINTR { continue }
      if count <= 0 { return false }
      position += count
    }
    return true
  }
}
