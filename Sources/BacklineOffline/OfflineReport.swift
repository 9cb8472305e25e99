import Glibc

/// What has been rendered.
public struct OfflineReport: Sendable, Equatable {
  /// The frames of the output, exactly.
  public var frames: Int64 = 0
  public var sampleRate = 0
  public var channelCount = 0
  /// The frames after the input's end.
  public var tailFrames: Int64 = 0
  public var tailReason = TailPolicy.Reason.none
  /// The frames of latency that were taken off the start.
  public var latencyFrames = 0
  /// The largest magnitude of a sample, before whole numbers clip it.
  public var peak: Float = 0
  /// Samples in the input and in units that were not finite and have been silenced.
  public var nonFinite = 0
  public var destination = DestinationReport()
  /// The time that it took in seconds.
  public var seconds = 0.0

  /// The peak in dBFS; `nil` of silence.
  public var peakDecibels: Double? { peak > 0 ? 20 * log10(Double(peak)) : nil }

  /// Seconds of sound a second.
  public var realtimeFactor: Double {
    seconds > 0 && sampleRate > 0 ? Double(frames) / Double(sampleRate) / seconds : 0
  }
}

/// How a rendering ended. There is one a rendering, and it is final.
public enum OfflineResult: Sendable, Equatable {
  case completed(OfflineReport)
  case failed(OfflineError)
  case cancelled
}

/// How far a rendering has come.
public struct OfflineProgress: Sendable, Equatable {
  public let frames: Int64
  /// Where it is known.
  public let totalFrames: Int64?
  /// Since the beginning, in seconds.
  public let seconds: Double

  /// From 0 to 1, never more; `nil` where the length is not known.
  public var fraction: Double? {
    totalFrames.map { $0 > 0 ? min(1, Double(frames) / Double($0)) : 1 }
  }
}
