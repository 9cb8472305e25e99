/// Why a recording ended.
public enum RecordingEnd: String, Sendable {
  case stopped, duration, diskFull, rateChanged, failed

  /// In words.
  public var text: String {
    switch self {
    case .stopped: "stopped"
    case .duration: "its length is reached"
    case .diskFull: "the disk is full"
    case .rateChanged: "the sample rate changed"
    case .failed: "it could not be written"
    }
  }
}

/// Frames of a recording that nobody has: silence stands in their place.
public struct RecordingGap: Sendable, Equatable {
  public enum Cause: String, Sendable {
    /// The disk was too slow for longer than the ring lasts.
    case disk
    /// The sound server lost them (an xrun).
    case server
  }

  /// In frames of the recording.
  public let frame: Int64
  public let count: Int64
  public let cause: Cause

  public init(frame: Int64, count: Int64, cause: Cause) {
    self.frame = frame
    self.count = count
    self.cause = cause
  }
}

/// How a recording is doing, or how the last one ended.
public struct RecordingReport: Sendable, Equatable {
  public enum State: String, Sendable {
    case idle, recording, finishing
  }

  public var state = State.idle
  /// The path that was asked for.
  public var path = ""
  /// The files that have got their names, in that order.
  public var files: [String] = []
  /// The frames so far, of all parts together.
  public var frames: Int64 = 0
  public var sampleRate = 0
  /// The gaps, the first 10 000 of them; `gapCount` counts all.
  public var gaps: [RecordingGap] = []
  public var gapCount = 0
  /// Frames that are missing, by cause.
  public var lostToDisk: Int64 = 0
  public var lostToServer: Int64 = 0
  /// For how many seconds the disk has room, at the present rate; `nil` before it has been looked at.
  public var secondsLeft: Double?
  public var end: RecordingEnd?
  /// What went wrong, in one sentence.
  public var failure: String?

  static let gapLimit = 10_000

  public var seconds: Double { sampleRate > 0 ? Double(frames) / Double(sampleRate) : 0 }

  /// True when every frame is in the files.
  public var isComplete: Bool { gapCount == 0 && failure == nil }

  public init() {}

  mutating func note(_ gap: RecordingGap) {
    gapCount += 1
    if gaps.count < Self.gapLimit { gaps.append(gap) }
    switch gap.cause {
    case .disk: lostToDisk += gap.count
    case .server: lostToServer += gap.count
    }
  }
}

/// What happens to a recording, told on a thread of its own.
public enum RecordingEvent: Sendable, Equatable {
  case started(path: String)
  case gap(RecordingGap)
  /// A track sounds from a frame of the recording on, or is silent from there on.
  case armed(track: String, frame: Int64)
  case disarmed(track: String, frame: Int64)
  /// Something a user should know while there is time to do something.
  case warning(String)
  /// The disk has room for so many seconds more.
  case space(seconds: Double)
  case published(path: String, frames: Int64)
  case ended(RecordingReport)
}
