import BacklineMedia

extension MediaWriter {
  /// The kinds of file. Movies hold any number of tracks; sound files hold one, of sound.
  ///
  /// Gaps and late starts stay what they are. MP4 and MOV keep a late start to the frame, as an edit list; Matroska as a time, which
  /// it counts in whole milliseconds: times are rounded to those once. In sound that is encoded a gap is silence, to the
  /// frame, and so is a late start where a codec puts frames before the first (AAC, Opus), and in every sound file. Matroska has
  /// no times before 0: where a codec puts frames there (AAC 1024, Vorbis 128), all tracks are that much later, together.
  public enum Container: String, Sendable, CaseIterable {
    /// Matroska, MPEG-4, QuickTime.
    case matroska, mp4, mov
    /// WAV, which becomes RF64 beyond 4 GiB.
    case wav
    /// The same with the chunk `bext` (EBU Tech 3285), whose time reference is the start of the session.
    case broadcastWave
    /// WAV with 64-bit sizes, Sony Wave64, Apple's Core Audio Format, FLAC.
    case rf64, w64, caf, flac
    /// Ogg with Vorbis or Opus.
    case ogg

    /// True for those that hold several tracks and pictures.
    public var isMovie: Bool { self == .matroska || self == .mp4 || self == .mov }

    /// FFmpeg's name of a movie.
    var formatName: String { rawValue }

    /// Why a sound file does not take settings; `nil` where it does.
    func refusal(of settings: AudioSettings) -> String? {
      do throws(MediaError) {
        _ = try encoding(settings)
        return nil
      } catch {
        return error.message
      }
    }

    /// What libsndfile is to write.
    func encoding(_ settings: AudioSettings) throws(MediaError) -> SoundFileEncoding {
      let kind: SoundContainer? =
        switch (self, settings.codec) {
        case (.wav, .pcm), (.broadcastWave, .pcm): .wav
        case (.rf64, .pcm): .rf64
        case (.w64, .pcm): .w64
        case (.caf, .pcm): .caf
        case (.flac, .flac): .flac
        case (.ogg, .vorbis): .ogg
        case (.ogg, .opus): .opus
        default: nil
        }
      guard let kind else {
        throw MediaError(.unsupported, "\(rawValue) does not hold \(settings.codec.rawValue): choose another container")
      }
      if settings.bitRate != nil {
        throw MediaError(.unsupported, "\(rawValue) is written at the codec's usual bit rate: leave the bit rate out")
      }
      do throws(SoundFileWriteError) {
        return try SoundFileEncoding(
          kind, sampleFormat: settings.keptFormat, sampleRate: settings.sampleRate, channelCount: settings.channelCount)
      } catch {
        throw MediaError(.unsupported, error.message)
      }
    }
  }

  /// A track to be.
  public struct Input: Sendable, Equatable {
    enum Content: Sendable, Equatable {
      case coded(MediaFormat)
      case sound(AudioSettings)
      case text
    }

    let content: Content

    /// Coded samples, such as those of a reader's track, that are stored as they are.
    public init(_ format: MediaFormat) { content = .coded(format) }

    /// Sound that is encoded.
    public init(_ settings: AudioSettings) { content = .sound(settings) }

    private init(content: Content) { self.content = content }

    /// Texts with times.
    public static let metadata = Input(content: .text)

    /// What the track will carry.
    public var mediaType: MediaType {
      switch content {
      case .coded(let format): format.mediaType
      case .sound: .audio
      case .text: .metadata
      }
    }

    /// Frames a second; 0 where the track is no sound.
    var sampleRate: Int {
      switch content {
      case .coded(let format): format.sampleRate
      case .sound(let settings): settings.sampleRate
      case .text: 0
      }
    }

    var codecName: String {
      switch content {
      case .coded(let format): format.codec
      case .sound(let settings): settings.codec.rawValue
      case .text: "text"
      }
    }
  }
}
