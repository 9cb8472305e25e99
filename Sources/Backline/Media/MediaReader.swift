import CMovie

/// Reads a movie (Matroska, MP4, MOV and what else FFmpeg knows) sample by sample, as they are coded. It holds one at a time.
///
/// Used by one thread or task at a time; waits for the disk.
public final class MediaReader: @unchecked Sendable {
  // Why unchecked: used by one thread at a time, as it says.

  /// The file.
  public let path: String
  /// The formats of the tracks, in their order.
  public let tracks: [MediaFormat]
  private let file: MediaFile
  private var isAtEnd = false

  /// Opens a movie; throws where it is not there or is none.
  public init(path: String) throws(MediaError) {
    self.path = path
    let file = try MediaFile(path: path)
    self.file = file
    tracks = (0..<movie_track_count(file.reader)).map { index in
      var track = movie_track_at(file.reader, index)
      let codec = withUnsafeBytes(of: &track.codec) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
      return MediaFormat(
        mediaType: MediaType(track.kind), codec: codec, sampleRate: max(0, Int(track.sample_rate)),
        channelCount: max(0, Int(track.channels)), origin: .file(file, track: index))
    }
  }

  /// The next sample of any track, in the order of the file; `nil` at the end.
  public func nextSample() throws(MediaError) -> MediaSample? {
    if isAtEnd { return nil }
    var packet = movie_packet()
    let (code, reason) = MediaFile.call { movie_next_packet(file.reader, &packet, $0) }
    if code < 0 { throw MediaError(.notReadable, "\(path): \(reason)") }
    guard code > 0, tracks.indices.contains(Int(packet.track)) else {
      isAtEnd = true
      return nil
    }
    let scale = packet.scale_den
    func time(_ value: Int64) -> MediaTime {
      MediaTime(value: value.multipliedReportingOverflow(by: Int64(packet.scale_num)).partialValue, timescale: scale)
    }
    let presentation = packet.pts == .min ? packet.dts : packet.pts
    let decode = packet.dts == .min ? presentation : packet.dts
    var sample = MediaSample(
      track: Int(packet.track), format: tracks[Int(packet.track)],
      presentationTime: time(presentation == .min ? 0 : presentation),
      decodeTime: time(decode == .min ? 0 : decode), duration: time(max(0, packet.duration)), isKey: packet.is_key,
      bytes: packet.bytes.map { Array(UnsafeBufferPointer(start: $0, count: Int(packet.count))) } ?? [])
    sample.padding = packet.padding
    return sample
  }
}
