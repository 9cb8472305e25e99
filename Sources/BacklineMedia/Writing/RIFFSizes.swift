import Glibc

/// The sizes in the header of a WAV or RF64 file, from the length of its sound (Microsoft RIFF; EBU Tech 3306 for RF64).
enum RIFFSizes {
  /// Where things are in a file.
  struct Layout: Equatable {
    var isLong = false
    /// Of the chunks' contents.
    var format: Int64 = 0
    var bytesPerFrame: Int64 = 0
    var fact: Int64?
    var longSizes: Int64?
    /// The size that the header gives for the sound; -1 where that is unknown.
    var statedBytes: Int64 = -1
    /// The first byte of the sound.
    var data: Int64 = 0
  }

  /// The room that the header of a growing file has for 64-bit sizes: a JUNK chunk of libsndfile's, `fmt `, and `fact`.
  private static let growing = (junk: 24, format: 40, fact: 4)

  /// Reads a header; `nil` where the file is no WAV or RF64 file with sound in it.
  static func layout(_ descriptor: Int32) -> Layout? {
    guard let head = bytes(descriptor, 0, 12), head[8..<12].elementsEqual("WAVE".utf8) else { return nil }
    var layout = Layout()
    layout.isLong = head[0..<4].elementsEqual("RF64".utf8)
    guard layout.isLong || head[0..<4].elementsEqual("RIFF".utf8) else { return nil }
    var at: Int64 = 12
    while let chunk = bytes(descriptor, at, 8) {
      let size = Int64(integer(chunk[4..<8]))
      switch String(decoding: chunk[0..<4], as: UTF8.self) {
      case "fmt ":
        layout.format = at + 8
        guard let align = bytes(descriptor, at + 8 + 12, 2) else { return nil }
        layout.bytesPerFrame = Int64(integer(align[...]))
      case "fact": layout.fact = at + 8
      case "ds64": layout.longSizes = at + 8
      case "data":
        layout.data = at + 8
        layout.statedBytes = size
        if layout.isLong, size == 0xFFFF_FFFF, let long = layout.longSizes, let value = bytes(descriptor, long + 8, 8) {
          layout.statedBytes = Int64(clamping: integer(value[...]))
        }
        return layout.bytesPerFrame > 0 ? layout : nil
      default: break
      }
      at += 8 + size + size % 2
    }
    return nil
  }

  /// Writes the sizes of a file whose sound is `dataBytes` long and whose other chunks, if any, are behind it. A RIFF file that
  /// has grown beyond 4 GiB becomes an RF64 file. Returns the system's error number, 0 where there is none.
  static func write(_ descriptor: Int32, dataBytes: Int64) -> Int32 {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { return errno }
    guard var layout = layout(descriptor) else { return EINVAL }
    let riffBytes = Int64(status.st_size) - 8
    var code: Int32 = 0
    func put(_ value: UInt64, _ count: Int, _ at: Int64) {
      let bytes = (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * UInt64($0))) }
      if code == 0 && pwrite(descriptor, bytes, count, off_t(at)) != count { code = errno == 0 ? EIO : errno }
    }
    if !layout.isLong && riffBytes > 0xFFFF_FFFF {
      if !makeLong(descriptor, layout) { return EFBIG }
      guard let long = Self.layout(descriptor) else { return EINVAL }
      layout = long
    }
    let frames = UInt64(dataBytes / layout.bytesPerFrame)
    if layout.isLong {
      guard let sizes = layout.longSizes else { return EINVAL }
      put(UInt64(riffBytes), 8, sizes)
      put(UInt64(dataBytes), 8, sizes + 8)
      put(frames, 8, sizes + 16)
      put(0xFFFF_FFFF, 4, 4)
      put(0xFFFF_FFFF, 4, layout.data - 4)
      if let fact = layout.fact { put(min(frames, 0xFFFF_FFFF), 4, fact) }
    } else {
      put(UInt64(riffBytes), 4, 4)
      put(UInt64(dataBytes), 4, layout.data - 4)
      if let fact = layout.fact { put(frames, 4, fact) }
    }
    return code
  }

  /// Puts a `ds64` chunk in the place of what a growing file keeps free for it: JUNK, `fmt ` and `fact` have together the length
  /// of `ds64`, `fmt ` and an empty JUNK.
  private static func makeLong(_ descriptor: Int32, _ layout: Layout) -> Bool {
    let room = 24 + growing.junk + growing.format + growing.fact
    guard let old = bytes(descriptor, 12, room), old[0..<4].elementsEqual("JUNK".utf8),
      integer(old[4..<8]) == UInt64(growing.junk), layout.format == Int64(12 + 8 + growing.junk + 8),
      layout.fact == layout.format + Int64(growing.format + 8)
    else { return false }
    let format = old[(8 + growing.junk)..<(16 + growing.junk + growing.format)]
    var new: [UInt8] = Array("RF64".utf8) + [255, 255, 255, 255] + Array("WAVE".utf8)
    new += Array("ds64".utf8) + [28, 0, 0, 0] + [UInt8](repeating: 0, count: 28)
    new += format
    new += Array("JUNK".utf8) + [0, 0, 0, 0]
    return new.count == 12 + room && pwrite(descriptor, new, new.count, 0) == new.count
  }

  static func bytes(_ descriptor: Int32, _ offset: Int64, _ count: Int) -> [UInt8]? {
    var buffer = [UInt8](repeating: 0, count: count)
    return pread(descriptor, &buffer, count, off_t(offset)) == count ? buffer : nil
  }

  static func integer(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) } }
}
