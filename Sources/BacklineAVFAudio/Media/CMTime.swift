import Backline

/// A number of units.
public typealias CMTimeValue = Int64
/// Units a second.
public typealias CMTimeScale = Int32

/// A time as a fraction; see `MediaTime`.
public struct CMTime: Sendable, Comparable, Hashable {
  let time: MediaTime?

  init(_ time: MediaTime) { self.time = time }

  private init() { time = nil }

  /// A time; not valid where the timescale is below 1.
  public init(value: CMTimeValue, timescale: CMTimeScale) {
    time = timescale > 0 ? MediaTime(value: value, timescale: timescale) : nil
  }

  /// The nearest time; not valid for what is no number.
  public init(seconds: Double, preferredTimescale: CMTimeScale) {
    time =
      seconds.isFinite && preferredTimescale > 0
      ? MediaTime(seconds: seconds, preferredTimescale: preferredTimescale) : nil
  }

  /// No time.
  public static let zero = CMTime(value: 0, timescale: 1)
  /// What is no time.
  public static let invalid = CMTime()

  /// The number of units; 0 where the time is not valid.
  public var value: CMTimeValue { time?.value ?? 0 }
  /// Units a second; 0 where the time is not valid.
  public var timescale: CMTimeScale { time?.timescale ?? 0 }
  /// True for a time.
  public var isValid: Bool { time != nil }
  /// The time in seconds; no number where it is not valid.
  public var seconds: Double { time?.seconds ?? .nan }

  /// The sum, exact where it fits.
  public static func + (one: CMTime, other: CMTime) -> CMTime {
    guard let a = one.time, let b = other.time else { return .invalid }
    return CMTime(a + b)
  }

  /// The difference, exact where it fits.
  public static func - (one: CMTime, other: CMTime) -> CMTime {
    guard let a = one.time, let b = other.time else { return .invalid }
    return CMTime(a - b)
  }

  /// Times that are not valid come last.
  public static func < (one: CMTime, other: CMTime) -> Bool {
    guard let a = one.time else { return false }
    guard let b = other.time else { return true }
    return a < b
  }
}
