import Backline

/// The formats of tracks; see `MediaFormat`.
public struct CMFormatDescription: Sendable, Equatable {
  /// The format underneath.
  public let format: MediaFormat

  /// A description of a format.
  public init(_ format: MediaFormat) { self.format = format }
}

/// What the types of samples are named after.
public enum CMSampleBuffer {
  /// Samples of any content.
  public enum DynamicContent: Sendable {}
}

/// A coded sample with its times; see `MediaSample`.
public struct CMReadySampleBuffer<Content>: Sendable {
  /// The sample underneath.
  public let sample: MediaSample

  /// A sample as a reader gives it.
  public init(_ sample: MediaSample) { self.sample = sample }

  /// Sound to be encoded, from a time on.
  public init(_ buffer: AVAudioPCMBuffer, presentationTimeStamp time: CMTime) {
    sample = MediaSample(buffer.buffer, at: time.time ?? .zero)
  }

  /// A text of timed metadata.
  public init(text: String, presentationTimeStamp time: CMTime, duration: CMTime) {
    sample = MediaSample(text: text, at: time.time ?? .zero, duration: duration.time ?? .zero)
  }

  /// How it is coded.
  public var formatDescription: CMFormatDescription? { CMFormatDescription(sample.format) }
  /// When it is shown or heard.
  public var presentationTimeStamp: CMTime { CMTime(sample.presentationTime) }
  /// When it is decoded.
  public var decodeTimeStamp: CMTime { CMTime(sample.decodeTime) }
  /// How long it lasts.
  public var duration: CMTime { CMTime(sample.duration) }
}
