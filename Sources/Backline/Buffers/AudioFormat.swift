/// What the samples of a bus, a buffer or a file are: rate, channels, kind of number, and how channels lie in memory.
///
/// Between nodes sound is always in the standard form: 32-bit floating point, one channel after the other. The other forms
/// are those of buffers and files. Any numbers can be written into a format; whoever takes one says whether it is valid.
public struct AudioFormat: Sendable, Hashable, CustomStringConvertible {
  /// The kinds of sample. Full scale is 1 for floating point and the largest number for whole ones.
  public enum SampleType: String, Sendable, CaseIterable {
    /// Floating point and whole numbers of so many bits.
    case float32, float64, int16, int32

    /// The bytes of one sample.
    public var byteCount: Int {
      switch self {
      case .int16: 2
      case .float32, .int32: 4
      case .float64: 8
      }
    }
  }

  /// The rates in Hz that can be worked with.
  public static let sampleRates = 8_000.0...768_000.0
  /// The channels that a bus can have.
  public static let channelCounts = 1...32

  /// Frames a second.
  public var sampleRate: Double
  /// 1 to 32.
  public var channelCount: Int
  /// The kind of number.
  public var sampleType: SampleType
  /// True where the samples of one frame lie side by side.
  public var isInterleaved: Bool

  /// A format; the standard form where nothing else is said.
  public init(
    sampleRate: Double, channelCount: Int, sampleType: SampleType = .float32, isInterleaved: Bool = false
  ) {
    self.sampleRate = sampleRate
    self.channelCount = channelCount
    self.sampleType = sampleType
    self.isInterleaved = isInterleaved
  }

  /// True for 32-bit floating point, one channel after the other.
  public var isStandard: Bool { sampleType == .float32 && (!isInterleaved || channelCount == 1) }

  /// The same rate and channels in the standard form.
  public var standard: AudioFormat { AudioFormat(sampleRate: sampleRate, channelCount: channelCount) }

  /// True where rate and channels can be worked with.
  public var isValid: Bool {
    sampleRate.isFinite && Self.sampleRates.contains(sampleRate) && sampleRate.rounded() == sampleRate
      && Self.channelCounts.contains(channelCount)
  }

  /// Refuses rates and channels that cannot be worked with.
  func check() throws(AudioError) {
    if isValid { return }
    throw AudioError(
      .invalidFormat,
      "\(self) cannot be worked with: a rate is a whole number from 8000 to 768000 Hz, and there are 1 to 32 channels",
      formats: [self])
  }

  /// `44100 Hz, 2 channels`, with the form where it is not the standard one.
  public var description: String {
    let rate =
      sampleRate.rounded() == sampleRate && sampleRate.magnitude < 1e15 ? "\(Int64(sampleRate))" : "\(sampleRate)"
    let form = isStandard ? "" : ", \(sampleType.rawValue)\(isInterleaved ? " interleaved" : "")"
    return "\(rate) Hz, \(channelCount) channel\(channelCount == 1 ? "" : "s")\(form)"
  }
}
