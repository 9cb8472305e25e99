import Glibc

/// A file that is read as a whole: logs, and what the kernel tells under /proc.
enum TextFile {
  static func read(_ path: String) -> [UInt8] {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    if descriptor < 0 { return [] }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    var part = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = Glibc.read(descriptor, &part, part.count)
      if count <= 0 { return bytes }
      bytes += part[..<count]
    }
  }

  static func write(_ bytes: [UInt8], to path: String) throws(BenchError) {
    guard let file = fopen(path, "w") else { throw BenchError.system(path) }
    defer { fclose(file) }
    if fwrite(bytes, 1, bytes.count, file) != bytes.count { throw BenchError.system(path) }
  }

  static func lines(_ path: String) -> [Substring] {
    String(decoding: read(path), as: UTF8.self).split(separator: "\n")
  }

  /// How often a text occurs in the file.
  static func count(_ text: String, in path: String) -> Int {
    let bytes = read(path) + [0]
    return bytes.withUnsafeBufferPointer { bytes in
      bytes.withMemoryRebound(to: CChar.self) { bytes in
        var count = 0
        var rest = bytes.baseAddress
        while let found = rest.flatMap({ strstr($0, text) }) {
          count += 1
          rest = UnsafePointer(found + text.utf8.count)
        }
        return count
      }
    }
  }
}
