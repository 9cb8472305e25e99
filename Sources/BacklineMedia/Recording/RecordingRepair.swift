import Glibc

/// Makes a whole file of one that was not finished: what its header says is brought to what is there.
///
/// For the kinds that recordings have: WAV, RF64, W64 (Sony's) and CAF (Apple's).
enum RecordingRepair {
  /// Mends the file; what is behind `limit` frames is left out.
  static func repair(_ descriptor: Int32, path: String, limit: Int64? = nil) throws(SoundFileWriteError) {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw .failed(path: path, code: errno) }
    let size = Int64(status.st_size)
    let code: Int32
    if let layout = RIFFSizes.layout(descriptor) {
      code = repairWave(descriptor, layout, size, limit)
    } else if let head = RIFFSizes.bytes(descriptor, 0, 4), head.elementsEqual("riff".utf8) {
      code = repairW64(descriptor, size, limit)
    } else if let head = RIFFSizes.bytes(descriptor, 0, 4), head.elementsEqual("caff".utf8) {
      code = repairCAF(descriptor, size, limit)
    } else {
      throw .notVerified(path: path, reason: "has no header: nothing was recorded")
    }
    if code != 0 { throw .failed(path: path, code: code) }
    ChannelMask.clear(descriptor)
  }

  private static func soundBytes(_ available: Int64, _ bytesPerFrame: Int64, _ limit: Int64?) -> Int64 {
    let frames = max(0, available) / max(1, bytesPerFrame)
    return min(frames, limit ?? frames) * max(1, bytesPerFrame)
  }

  private static func repairWave(
    _ descriptor: Int32, _ layout: RIFFSizes.Layout, _ size: Int64, _ limit: Int64?
  ) -> Int32 {
    // Killed between the end of the sound and the end of the markers behind it: the markers are given up.
    var available = size - layout.data
    let stated = layout.statedBytes
    if stated > 0 && stated < available {
      let behind = layout.data + stated + stated % 2
      if let name = RIFFSizes.bytes(descriptor, behind, 4), name.elementsEqual("cue ".utf8) { available = stated }
    }
    let bytes = soundBytes(available, layout.bytesPerFrame, limit)
    if ftruncate(descriptor, off_t(layout.data + bytes + bytes % 2)) != 0 { return errno }
    return RIFFSizes.write(descriptor, dataBytes: bytes)
  }

  private static func repairW64(_ descriptor: Int32, _ size: Int64, _ limit: Int64?) -> Int32 {
    var at: Int64 = 40
    var bytesPerFrame: Int64 = 0
    var fact: Int64?
    while let chunk = RIFFSizes.bytes(descriptor, at, 24) {
      let length = Int64(clamping: RIFFSizes.integer(chunk[16..<24]))
      let name = String(decoding: chunk[0..<4], as: UTF8.self)
      if name == "fmt ", let align = RIFFSizes.bytes(descriptor, at + 24 + 12, 2) {
        bytesPerFrame = Int64(RIFFSizes.integer(align[...]))
      }
      if name == "fact" { fact = at + 24 }
      if name == "data" {
        let bytes = soundBytes(size - at - 24, bytesPerFrame, limit)
        let end = at + 24 + bytes
        if ftruncate(descriptor, off_t(end)) != 0 { return errno }
        var code = put(descriptor, UInt64(end), at: 16)
        if code == 0 { code = put(descriptor, UInt64(bytes + 24), at: at + 16) }
        if code == 0, let fact { code = put(descriptor, UInt64(bytes / max(1, bytesPerFrame)), at: fact) }
        return code
      }
      if length < 24 || length > 1 << 20 { return EINVAL }
      at += (length + 7) & ~7
    }
    return EINVAL
  }

  private static func repairCAF(_ descriptor: Int32, _ size: Int64, _ limit: Int64?) -> Int32 {
    var at: Int64 = 8
    var bytesPerFrame: Int64 = 0
    while let chunk = RIFFSizes.bytes(descriptor, at, 12) {
      let length = Int64(clamping: chunk[4..<12].reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
      let name = String(decoding: chunk[0..<4], as: UTF8.self)
      if name == "desc", let width = RIFFSizes.bytes(descriptor, at + 12 + 16, 4) {
        bytesPerFrame = Int64(width.reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
      }
      if name == "data" {
        // Four bytes of the chunk count edits.
        let bytes = soundBytes(size - at - 16, bytesPerFrame, limit)
        if ftruncate(descriptor, off_t(at + 16 + bytes)) != 0 { return errno }
        return put(descriptor, UInt64(bytes + 4).byteSwapped, at: at + 4)
      }
      if length < 0 || length > 1 << 20 { return EINVAL }
      at += 12 + length
    }
    return EINVAL
  }

  /// Writes eight bytes, the lowest first.
  private static func put(_ descriptor: Int32, _ value: UInt64, at offset: Int64) -> Int32 {
    let bytes = (0..<8).map { UInt8(truncatingIfNeeded: value >> (8 * UInt64($0))) }
    return pwrite(descriptor, bytes, 8, off_t(offset)) == 8 ? 0 : (errno == 0 ? EIO : errno)
  }
}
