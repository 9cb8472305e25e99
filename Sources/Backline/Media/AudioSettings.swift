import BacklineMedia

/// How the sound of a track is to be encoded. Whether a container takes it, `MediaWriter` says.
public struct AudioSettings: Sendable, Equatable {
  /// What sound is encoded by.
  public enum Codec: String, Sendable, CaseIterable {
    /// Samples as they are.
    case pcm
    /// Lossless, of 16 or 24 bits.
    case flac
    /// Lossy.
    case aac, opus, vorbis
  }

  /// What it is encoded by.
  public var codec: Codec
  /// How samples are kept: PCM in any format (32-bit floating point unless told), FLAC as `int16` or `int24` (the default). Whole
  /// numbers of 16 and 24 bits are dithered. `nil` for lossy codecs, which have no such thing.
  public var sampleFormat: SampleFormat?
  /// Frames a second.
  public var sampleRate: Int
  /// 1 to 32, of which a codec may take fewer.
  public var channelCount: Int
  /// Bits a second of a lossy codec, all channels together; what it usually takes where `nil`.
  public var bitRate: Int?

  /// Settings for a codec; what is left out is chosen as the properties say.
  public init(
    _ codec: Codec, sampleFormat: SampleFormat? = nil, sampleRate: Int, channelCount: Int, bitRate: Int? = nil
  ) {
    self.codec = codec
    self.sampleFormat = sampleFormat
    self.sampleRate = sampleRate
    self.channelCount = channelCount
    self.bitRate = bitRate
  }

  /// What is wrong with these whatever the container; `nil` where nothing is.
  var problem: String? {
    if !(1...32).contains(channelCount) { return "a track has 1 to 32 channels, not \(channelCount)" }
    if !(1_000...768_000).contains(sampleRate) { return "a track has 1000 to 768000 Hz, not \(sampleRate)" }
    if let bitRate, !(1_000...10_000_000).contains(bitRate) {
      return "a lossy codec takes 1000 to 10000000 bits a second, not \(bitRate)"
    }
    switch codec {
    case .pcm: return bitRate == nil ? nil : "PCM has the bits that its samples have: leave the bit rate out"
    case .flac:
      if bitRate != nil { return "FLAC is lossless: leave the bit rate out" }
      if let sampleFormat, sampleFormat != .int16, sampleFormat != .int24 {
        return "FLAC holds int16 or int24 samples, not \(sampleFormat.rawValue)"
      }
      return nil
    case .aac, .opus, .vorbis:
      return sampleFormat == nil ? nil : "\(codec.rawValue) is lossy and has no sample formats: leave it out"
    }
  }

  /// How samples are kept by a lossless codec.
  var keptFormat: SampleFormat? {
    switch codec {
    case .pcm: sampleFormat ?? .float32
    case .flac: sampleFormat ?? .int24
    case .aac, .opus, .vorbis: nil
    }
  }

  /// FFmpeg's name of the encoder.
  var encoderName: String {
    switch codec {
    case .pcm:
      switch keptFormat ?? .float32 {
      case .int16: "pcm_s16le"
      case .int24: "pcm_s24le"
      case .int32: "pcm_s32le"
      case .float32: "pcm_f32le"
      case .float64: "pcm_f64le"
      }
    case .flac: "flac"
    case .aac: "aac"
    case .opus: "libopus"
    case .vorbis: "libvorbis"
    }
  }
}
