import Glibc

/// Markers behind the sound of a WAV or RF64 file, as the chunks `cue ` and `LIST` `adtl` `labl`.
enum CueChunk {
  /// The most markers that are kept, and the most bytes of a text.
  static let limit = 10_000
  static let textLimit = 255

  /// The bytes of both chunks.
  static func bytes(_ markers: [SoundFileMetadata.Marker]) -> [UInt8] {
    var cues: [UInt8] = []
    var labels: [UInt8] = Array("adtl".utf8)
    var count = 0
    for marker in markers where marker.frame >= 0 && marker.frame <= Int64(UInt32.max) {
      count += 1
      let id = UInt64(count), frame = UInt64(marker.frame)
      cues += word(id) + word(frame) + Array("data".utf8) + word(0) + word(0) + word(frame)
      let text = cut(marker.name) + [0]
      labels += Array("labl".utf8) + word(UInt64(4 + text.count)) + word(id) + text
      if text.count % 2 != 0 { labels.append(0) }
    }
    if count == 0 { return [] }
    return Array("cue ".utf8) + word(UInt64(4 + cues.count)) + word(UInt64(count)) + cues
      + Array("LIST".utf8) + word(UInt64(labels.count)) + labels
  }

  /// Appends the chunks to a finished file, whose sound has `dataBytes` bytes. Returns the system's error number.
  static func append(_ markers: [SoundFileMetadata.Marker], to descriptor: Int32, dataBytes: Int64) -> Int32 {
    let bytes = bytes(markers)
    var status = stat()
    if bytes.isEmpty { return 0 }
    guard fstat(descriptor, &status) == 0 else { return errno }
    let padded: [UInt8] = status.st_size % 2 == 0 ? bytes : [0] + bytes
    var done = 0
    while done < padded.count {
      let count = padded.withUnsafeBytes {
        pwrite(descriptor, $0.baseAddress! + done, padded.count - done, status.st_size + off_t(done))
      }
      if count < 0 && errno == EINTR { continue }
      if count <= 0 { return count == 0 ? ENOSPC : errno }
      done += count
    }
    return RIFFSizes.write(descriptor, dataBytes: dataBytes)
  }

  /// Appends markers to a file that has been mended, where its kind keeps them; one that cannot be extended stays as it is.
  static func restore(_ markers: [SoundFileMetadata.Marker], to descriptor: Int32) {
    guard let layout = RIFFSizes.layout(descriptor), layout.statedBytes > 0 else { return }
    _ = append(markers, to: descriptor, dataBytes: layout.statedBytes)
  }

  private static func word(_ value: UInt64) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) } }

  /// At most `textLimit` bytes, whole characters.
  static func cut(_ text: String) -> [UInt8] {
    var text = text
    while text.utf8.count > textLimit { text.removeLast() }
    return Array(text.utf8)
  }
}
