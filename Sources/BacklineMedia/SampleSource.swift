/// Sound of a known length that can be read from any frame on: a file, or a buffer in memory. Used by one thread at a time.
public protocol SampleSource {
  /// Frames a second.
  var sampleRate: Int { get }
  var channelCount: Int { get }
  /// The length in frames of its own rate.
  var frameCount: Int64 { get }
  /// The file that errors name.
  var path: String { get }

  /// Writes up to `count` interleaved frames from `frame` on, all channels, and returns how many: fewer only at the end.
  func read(at frame: Int64, into samples: UnsafeMutablePointer<Float>, count: Int) throws(SoundFileError) -> Int
}

extension SoundFileReader: SampleSource {
  public var sampleRate: Int { format.sampleRate }
  public var channelCount: Int { format.channelCount }
  public var frameCount: Int64 { format.frameCount }
}
