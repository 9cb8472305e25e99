import CMovie

/// What a track carries.
public enum MediaType: String, Sendable {
  /// Pictures, sound, text, and what is none of them.
  case video, audio, subtitle, metadata

  init(_ kind: movie_kind) {
    switch kind {
    case movie_video: self = .video
    case movie_audio: self = .audio
    case movie_subtitle: self = .subtitle
    default: self = .metadata
    }
  }
}

/// How the samples of a track are coded: what a decoder has to know, and a container.
public struct MediaFormat: Sendable, Equatable {
  /// What the track carries.
  public let mediaType: MediaType
  /// The codec by FFmpeg's name, such as `h264` or `aac`.
  public let codec: String
  /// Frames a second and channels; 0 where the track is no sound.
  public let sampleRate: Int
  /// Channels; 0 where the track is no sound.
  public let channelCount: Int
  /// The file that has it, and the place of the track there.
  let file: MediaFile
  let track: Int32

  /// True where a container has to know the same of both.
  public static func == (one: MediaFormat, other: MediaFormat) -> Bool {
    one.file === other.file && one.track == other.track
  }
}

/// One coded sample, or a few of sound, with its exact times.
public struct MediaSample: Sendable {
  /// Of the reader's track, counted from 0.
  public let track: Int
  /// How it is coded.
  public let format: MediaFormat
  /// When it is shown or heard.
  public var presentationTime: MediaTime
  /// In the order of decoding; the same as the presentation's where nothing is reordered.
  public var decodeTime: MediaTime
  /// How long it lasts.
  public var duration: MediaTime
  /// True where decoding can begin here.
  public var isKey: Bool
  /// The coded data.
  public var bytes: [UInt8]
}

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
        channelCount: max(0, Int(track.channels)), file: file, track: index)
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
    return MediaSample(
      track: Int(packet.track), format: tracks[Int(packet.track)],
      presentationTime: time(presentation == .min ? 0 : presentation),
      decodeTime: time(decode == .min ? 0 : decode), duration: time(max(0, packet.duration)), isKey: packet.is_key,
      bytes: packet.bytes.map { Array(UnsafeBufferPointer(start: $0, count: Int(packet.count))) } ?? [])
  }
}

/// An open movie, for as long as anybody needs its tracks' formats.
final class MediaFile: @unchecked Sendable {
  // Why unchecked: the formats in it do not change; what does is the reader's.

  let reader: OpaquePointer

  init(path: String) throws(MediaError) {
    let (reader, reason) = Self.call { error in path.withCString { movie_open($0, error) } }
    guard let reader else { throw MediaError(.notReadable, "\(path): \(reason)") }
    self.reader = reader
  }

  deinit { movie_close(reader) }

  /// Calls a function of the C side with room for its sentence.
  static func call<Result>(_ body: (UnsafeMutablePointer<CChar>) -> Result) -> (Result, reason: String) {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(MOVIE_ERROR_BYTES)) { room in
      room.initialize(repeating: 0)
      guard let base = room.baseAddress else { preconditionFailure("no room for a sentence") }
      let result = body(base)
      return (result, String(cString: base))
    }
  }
}
