import BacklineMedia

/// What a sound file is on disk.
public struct AudioFileFormat: Sendable, Hashable {
  /// The kinds of file that can be written. Those that are read are more: the name tells.
  public enum Container: String, Sendable, CaseIterable {
    case wav, rf64, w64, aiff, caf, flac, ogg

    /// The container that the ending of a name stands for.
    public init?(pathExtension: String) {
      switch pathExtension.lowercased() {
      case "wav", "wave": self = .wav
      case "rf64": self = .rf64
      case "w64": self = .w64
      case "aif", "aiff", "aifc": self = .aiff
      case "caf": self = .caf
      case "flac": self = .flac
      case "ogg", "oga": self = .ogg
      default: return nil
      }
    }
  }

  /// How samples are written.
  public enum Encoding: String, Sendable, CaseIterable {
    case int16, int24, int32, float32, float64
    /// Lossy; in an Ogg container only.
    case vorbis
  }

  /// Frames a second.
  public var sampleRate: Double
  /// 1 to 32.
  public var channelCount: Int
  /// The kind of file; `nil` where it was read.
  public var container: Container?
  /// How samples are written; `nil` where it was read.
  public var encoding: Encoding?
  /// Container and encoding in words.
  public let name: String

  /// A file to be written.
  public init(container: Container, encoding: Encoding, sampleRate: Double, channelCount: Int) {
    self.container = container
    self.encoding = encoding
    self.sampleRate = sampleRate
    self.channelCount = channelCount
    name = "\(container.rawValue), \(encoding.rawValue)"
  }

  /// A file that was opened.
  init(_ format: SoundFileFormat) {
    sampleRate = Double(format.sampleRate)
    channelCount = format.channelCount
    name = format.name
    container = nil
    encoding = nil
  }
}
