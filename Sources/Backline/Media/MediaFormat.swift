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
  /// Where it comes from.
  enum Origin: Sendable {
    /// A track of a file.
    case file(MediaFile, track: Int32)
    /// Nobody has coded it yet.
    case plain
  }

  /// What the track carries.
  public let mediaType: MediaType
  /// The codec by FFmpeg's name, such as `h264` or `aac`; `float32` for sound and `text` for metadata that is not coded.
  public let codec: String
  /// Frames a second and channels; 0 where the track is no sound.
  public let sampleRate: Int
  /// Channels; 0 where the track is no sound.
  public let channelCount: Int
  let origin: Origin

  /// Sound that is not coded: interleaved 32-bit floating point.
  public static func sound(sampleRate: Int, channelCount: Int) -> MediaFormat {
    MediaFormat(
      mediaType: .audio, codec: "float32", sampleRate: sampleRate, channelCount: channelCount, origin: .plain)
  }

  /// Texts with times.
  public static let text = MediaFormat(
    mediaType: .metadata, codec: "text", sampleRate: 0, channelCount: 0, origin: .plain)

  /// True where nobody has coded it.
  var isPlain: Bool {
    if case .plain = origin { true } else { false }
  }

  /// True where a container has to know the same of both.
  public static func == (one: MediaFormat, other: MediaFormat) -> Bool {
    switch (one.origin, other.origin) {
    case (.file(let first, let track), .file(let second, let otherTrack)): first === second && track == otherTrack
    case (.plain, .plain):
      one.mediaType == other.mediaType && one.sampleRate == other.sampleRate && one.channelCount == other.channelCount
    default: false
    }
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
