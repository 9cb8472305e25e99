import BacklineMedia

/// What a sound file is on disk.
public struct AudioFileFormat: Sendable, Hashable {
  /// The kinds of file that can be written. Those that are read are more: the name tells.
  public typealias Container = SoundContainer
  /// How samples are kept in a lossless file.
  public typealias Encoding = SampleFormat

  /// Frames a second.
  public var sampleRate: Double
  /// 1 to 32.
  public var channelCount: Int
  /// The kind of file; `nil` where it was read.
  public var container: Container?
  /// How samples are written; `nil` for lossy kinds, which have no such thing, where the container is to choose (the best that it has,
  /// 32-bit floating point at most), and where it was read.
  public var encoding: Encoding?
  /// Container and encoding in words.
  public let name: String

  /// A file to be written. Whether the container takes such samples, channels and such a rate, `AudioFile` says.
  public init(container: Container, encoding: Encoding? = nil, sampleRate: Double, channelCount: Int) {
    self.container = container
    self.encoding = encoding
    self.sampleRate = sampleRate
    self.channelCount = channelCount
    name = encoding.map { "\(container.title), \($0.rawValue)" } ?? container.title
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
