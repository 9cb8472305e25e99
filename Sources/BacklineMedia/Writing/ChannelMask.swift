import Glibc

/// The field in a WAV, RF64 or W64 file that says which loudspeaker each channel is for.
///
/// libsndfile 1.2.0 takes the channels of some counts for loudspeakers that nobody has named. Zero says nothing of them.
enum ChannelMask {
  private static let extensible: UInt16 = 0xFFFE
  /// Bytes of the `fmt ` chunk before the mask.
  private static let offset: Int64 = 20

  /// Sets the mask of a finished file to zero, where it has one.
  static func clear(_ descriptor: Int32) {
    guard let format = formatChunk(descriptor) else { return }
    var tag: UInt16 = 0
    guard pread(descriptor, &tag, 2, off_t(format)) == 2, UInt16(littleEndian: tag) == extensible else { return }
    var zero: UInt32 = 0
    _ = pwrite(descriptor, &zero, 4, off_t(format + offset))
  }

  /// Where the contents of the `fmt ` chunk begin.
  private static func formatChunk(_ descriptor: Int32) -> Int64? {
    var head = [UInt8](repeating: 0, count: 24)
    guard pread(descriptor, &head, 12, 0) == 12 else { return nil }
    let isWide = head[0..<4].elementsEqual("riff".utf8)
    guard isWide || head[0..<4].elementsEqual("RIFF".utf8) || head[0..<4].elementsEqual("RF64".utf8) else { return nil }
    var at: Int64 = isWide ? 40 : 12
    // Everything that stands before the samples is small.
    while at < 1 << 20, pread(descriptor, &head, 24, off_t(at)) >= 8 {
      if head[0..<4].elementsEqual("fmt ".utf8) { return at + (isWide ? 24 : 8) }
      let bytes = isWide ? head[16..<24] : head[4..<8]
      let size = Int64(truncatingIfNeeded: bytes.reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
      if size < 0 || size > 1 << 20 { return nil }
      at += isWide ? (max(24, size) + 7) & ~7 : 8 + size + size % 2
    }
    return nil
  }
}
