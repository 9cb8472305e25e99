import Glibc

/// Looks whether a file of chunks is as long as its header says.
///
/// libsndfile plays what is left of a truncated WAV, AIFF, AU, W64 or RF64 file without a word, so this is asked before. The
/// compressed formats and CAF notice by themselves. Layouts: EA IFF 85, Microsoft RIFF, EBU Tech 3306 (RF64), Sony's W64, Sun's AU.
enum ContainerLength {
  /// True when the chunk with the samples ends behind the end of the file.
  ///
  /// A size of 0 or of all ones means that the writer did not know it (a pipe, a recorder that was killed): such a file
  /// goes as far as it goes.
  static func isTruncated(descriptor: Int32, fileSize: Int64) -> Bool {
    guard let head = bytes(descriptor, at: 0, count: 16) else { return false }
    switch text(head[0..<4]) {
    case "RIFF", "RF64": return endsEarly(descriptor, fileSize, dataName: "data", isBigEndian: false)
    case "RIFX": return endsEarly(descriptor, fileSize, dataName: "data", isBigEndian: true)
    case "FORM": return endsEarly(descriptor, fileSize, dataName: "SSND", isBigEndian: true)
    case ".snd":
      let size = integer(head[8..<12], isBigEndian: true)
      return size != 0xFFFF_FFFF && size > fileSize - integer(head[4..<8], isBigEndian: true)
    case "riff": return endsEarlyW64(descriptor, fileSize)
    default: return false
    }
  }

  private static func endsEarly(
    _ descriptor: Int32, _ fileSize: Int64, dataName: String, isBigEndian: Bool
  ) -> Bool {
    var at: Int64 = 12
    var longSize: Int64?
    while let head = bytes(descriptor, at: at, count: 8) {
      let name = text(head[0..<4])
      let size = integer(head[4..<8], isBigEndian: isBigEndian)
      if name == "ds64", let long = bytes(descriptor, at: at + 16, count: 8) {
        longSize = integer(long[0..<8], isBigEndian: false)
      }
      if name == dataName {
        let isUnknown = size == 0 || size == 0xFFFF_FFFF
        let known = isUnknown ? longSize ?? 0 : size
        return known > fileSize - at - 8
      }
      at += 8 + size + size % 2
    }
    return false
  }

  private static func endsEarlyW64(_ descriptor: Int32, _ fileSize: Int64) -> Bool {
    var at: Int64 = 40
    while let head = bytes(descriptor, at: at, count: 24) {
      let size = integer(head[16..<24], isBigEndian: false)
      if text(head[0..<4]) == "data" { return size > 24 && size > fileSize - at }
      if size < 24 || size > fileSize - at { return false }
      at += (size + 7) & ~7
    }
    return false
  }

  private static func bytes(_ descriptor: Int32, at offset: Int64, count: Int) -> [UInt8]? {
    var buffer = [UInt8](repeating: 0, count: count)
    let read = buffer.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, count, off_t(offset)) }
    return read == count ? buffer : nil
  }

  private static func text(_ bytes: ArraySlice<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }

  /// Sizes above what a signed number holds are as good as the largest one.
  private static func integer(_ bytes: ArraySlice<UInt8>, isBigEndian: Bool) -> Int64 {
    let ordered = isBigEndian ? Array(bytes) : bytes.reversed()
    let value = ordered.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    return value > UInt64(Int64.max / 4) ? .max / 4 : Int64(value)
  }
}
