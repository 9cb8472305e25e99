import CSndFile

/// The kinds of sound file that can be written.
public enum SoundContainer: String, CaseIterable, Sendable {
  case wav, rf64, w64, aiff, caf, flac, ogg, opus, mp3

  /// The kind that a file's name stands for by its ending; `nil` where it has none that is known.
  public init?(ofFileNamed path: String) {
    let file = path.split(separator: "/").last ?? ""
    guard let dot = file.lastIndex(of: "."), dot != file.startIndex else { return nil }
    switch file[file.index(after: dot)...].lowercased() {
    case "wav", "wave", "bwf": self = .wav
    case "rf64": self = .rf64
    case "w64": self = .w64
    case "aif", "aiff", "aifc": self = .aiff
    case "caf": self = .caf
    case "flac": self = .flac
    case "ogg", "oga": self = .ogg
    case "opus": self = .opus
    case "mp3": self = .mp3
    default: return nil
    }
  }

  /// The ending of a file's name, without the dot.
  public var fileEnding: String { self == .rf64 ? "wav" : rawValue }

  /// How it is called in a sentence.
  public var title: String {
    switch self {
    case .wav: "WAV"
    case .rf64: "RF64"
    case .w64: "W64"
    case .aiff: "AIFF"
    case .caf: "CAF"
    case .flac: "FLAC"
    case .ogg: "Ogg Vorbis"
    case .opus: "Opus"
    case .mp3: "MP3"
    }
  }

  /// The sample formats that it holds; empty where the encoding is lossy and has none.
  public var sampleFormats: [SampleFormat] {
    switch self {
    case .wav, .rf64, .w64, .aiff, .caf: SampleFormat.allCases
    case .flac: [.int16, .int24]
    case .ogg, .opus, .mp3: []
    }
  }

  /// True where a file gives back something else than was written to it.
  public var isLossy: Bool { sampleFormats.isEmpty }

  /// True where the samples lie in the file as they are.
  var isPlain: Bool { self != .flac && !isLossy }

  /// The most channels that it holds; never more than the 32 that a bus has.
  public var channelLimit: Int {
    switch self {
    case .flac: 8
    case .mp3: 2
    default: 32
    }
  }

  /// The sample rates that it holds; `nil` where any will do.
  public var sampleRates: [Int]? {
    switch self {
    case .opus: [8_000, 12_000, 16_000, 24_000, 48_000]
    case .mp3: [8_000, 11_025, 12_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000]
    default: nil
    }
  }

  /// The highest sample rate.
  public var rateLimit: Int {
    switch self {
    case .flac: 655_350
    case .ogg: 200_000
    default: 768_000
    }
  }

  /// A file without a frame is one that readers refuse.
  public var needsFrames: Bool { self == .flac || self == .mp3 || self == .opus || self == .ogg }

  var code: Int {
    switch self {
    case .wav: SF_FORMAT_WAV
    case .rf64: SF_FORMAT_RF64
    case .w64: SF_FORMAT_W64
    case .aiff: SF_FORMAT_AIFF
    case .caf: SF_FORMAT_CAF | SF_ENDIAN_LITTLE
    case .flac: SF_FORMAT_FLAC
    case .ogg: SF_FORMAT_OGG | SF_FORMAT_VORBIS
    case .opus: SF_FORMAT_OGG | SF_FORMAT_OPUS
    case .mp3: SF_FORMAT_MPEG | SF_FORMAT_MPEG_LAYER_III
    }
  }
}

/// How a sample is kept in a lossless file.
public enum SampleFormat: String, CaseIterable, Sendable {
  case int16, int24, int32, float32, float64

  /// Bits a sample.
  public var bits: Int {
    switch self {
    case .int16: 16
    case .int24: 24
    case .int32, .float32: 32
    case .float64: 64
    }
  }

  /// True for floating point, false for whole numbers.
  public var isFloat: Bool { self == .float32 || self == .float64 }

  var code: Int {
    switch self {
    case .int16: SF_FORMAT_PCM_16
    case .int24: SF_FORMAT_PCM_24
    case .int32: SF_FORMAT_PCM_32
    case .float32: SF_FORMAT_FLOAT
    case .float64: SF_FORMAT_DOUBLE
    }
  }
}
