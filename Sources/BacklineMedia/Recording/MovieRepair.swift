import CMovie
import Glibc

/// Cuts a movie that was not finished to what is whole of it: movie fragments (ISO/IEC 14496-12) or clusters (RFC 9559).
enum MovieRepair {
  /// True for the beginning of a file that is a movie.
  static func isMovie(_ descriptor: Int32) -> Bool {
    guard let head = RIFFSizes.bytes(descriptor, 0, 8) else { return false }
    return head[4..<8].elementsEqual("ftyp".utf8) || head[0..<4].elementsEqual(ebml)
  }

  static func repair(_ descriptor: Int32, path: String) throws(SoundFileWriteError) {
    var status = stat()
    guard fstat(descriptor, &status) == 0, let head = RIFFSizes.bytes(descriptor, 0, 4) else {
      throw .failed(path: path, code: errno)
    }
    let size = Int64(status.st_size)
    let whole = head.elementsEqual(ebml) ? wholeClusters(descriptor, size) : wholeFragments(descriptor, size)
    guard let whole else { throw .notVerified(path: path, reason: "has no movie in it: nothing was written") }
    if ftruncate(descriptor, off_t(whole)) != 0 { throw .failed(path: path, code: errno) }
  }

  // MARK: MP4 and MOV

  /// The end of the last fragment that is whole; `nil` where there is no header, or no fragment.
  private static func wholeFragments(_ descriptor: Int32, _ size: Int64) -> Int64? {
    var at: Int64 = 0
    var end: Int64?
    var hasHeader = false
    while let box = RIFFSizes.bytes(descriptor, at, 8) {
      var length = Int64(bigEndian(box[0..<4]))
      if length == 1, let long = RIFFSizes.bytes(descriptor, at + 8, 8) {
        length = Int64(clamping: bigEndian(long[...]))
      }
      if length < 8 || at > size - length { break }
      at += length
      if box[4..<8].elementsEqual("moov".utf8) { hasHeader = true }
      if box[4..<8].elementsEqual("mdat".utf8), hasHeader { end = at }
    }
    return end
  }

  // MARK: Matroska

  private static let ebml: [UInt8] = [0x1A, 0x45, 0xDF, 0xA3]
  private static let segment: UInt64 = 0x1853_8067
  private static let cluster: UInt64 = 0x1F43_B675

  /// The end of the last cluster that is whole; `nil` where there is none.
  private static func wholeClusters(_ descriptor: Int32, _ size: Int64) -> Int64? {
    var at: Int64 = 0
    var end: Int64?
    while let element = element(descriptor, at) {
      // All else is in the segment, which has no length before it is finished.
      if element.id == segment {
        at = element.content
        continue
      }
      guard let length = element.length, element.content <= size - length else { break }
      at = element.content + length
      if element.id == cluster { end = at }
    }
    return end
  }

  /// An element's name, where its content begins, and how long that is, where it says so.
  private static func element(_ descriptor: Int32, _ at: Int64) -> (id: UInt64, content: Int64, length: Int64?)? {
    guard let first = RIFFSizes.bytes(descriptor, at, 1)?[0], first != 0 else { return nil }
    let idBytes = first.leadingZeroBitCount + 1
    guard idBytes <= 4, let id = RIFFSizes.bytes(descriptor, at, idBytes),
      let second = RIFFSizes.bytes(descriptor, at + Int64(idBytes), 1)?[0], second != 0
    else { return nil }
    let lengthBytes = second.leadingZeroBitCount + 1
    guard let raw = RIFFSizes.bytes(descriptor, at + Int64(idBytes), lengthBytes) else { return nil }
    let mask = (UInt64(1) << UInt64(7 * lengthBytes)) - 1
    let length = bigEndian(raw[...]) & mask
    let content = at + Int64(idBytes + lengthBytes)
    return (bigEndian(id[...]), content, length == mask ? nil : Int64(clamping: length))
  }

  private static func bigEndian(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }

  // MARK: What came back

  /// Reads a movie through: how long it is, and what its first track with sound has.
  static func describe(_ path: String) throws(SoundFileWriteError) -> UnfinishedRecording.Recovered {
    let room = UnsafeMutablePointer<CChar>.allocate(capacity: Int(MOVIE_ERROR_BYTES))
    room.initialize(repeating: 0, count: Int(MOVIE_ERROR_BYTES))
    defer { room.deallocate() }
    guard let reader = path.withCString({ movie_open($0, room) }) else {
      throw .notVerified(path: path, reason: "cannot be read (\(String(cString: room)))")
    }
    defer { movie_close(reader) }
    var seconds = 0.0
    var packet = movie_packet()
    var code: Int32 = 1
    while true {
      code = movie_next_packet(reader, &packet, room)
      if code <= 0 { break }
      let end = (packet.pts == .min ? packet.dts : packet.pts) &+ max(0, packet.duration)
      if end > 0 { seconds = max(seconds, Double(end) * Double(packet.scale_num) / Double(max(1, packet.scale_den))) }
    }
    if code < 0 { throw .notVerified(path: path, reason: "cannot be read (\(String(cString: room)))") }
    let sound = (0..<movie_track_count(reader)).map { movie_track_at(reader, $0) }.first { $0.kind == movie_audio }
    let rate = Int(sound?.sample_rate ?? 0)
    return UnfinishedRecording.Recovered(
      path: path, frames: Int64((seconds * Double(rate)).rounded()), sampleRate: rate,
      channelCount: Int(sound?.channels ?? 0), seconds: seconds)
  }
}
