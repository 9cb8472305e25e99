import Backline

public typealias CMTimeValue = Int64
public typealias CMTimeScale = Int32

/// A time as a fraction; see `MediaTime`.
public struct CMTime: Sendable, Comparable, Hashable {
  let time: MediaTime?

  init(_ time: MediaTime) { self.time = time }

  private init() { time = nil }

  public init(value: CMTimeValue, timescale: CMTimeScale) {
    time = timescale > 0 ? MediaTime(value: value, timescale: timescale) : nil
  }

  public init(seconds: Double, preferredTimescale: CMTimeScale) {
    time =
      seconds.isFinite && preferredTimescale > 0
      ? MediaTime(seconds: seconds, preferredTimescale: preferredTimescale) : nil
  }

  public static let zero = CMTime(value: 0, timescale: 1)
  public static let invalid = CMTime()

  public var value: CMTimeValue { time?.value ?? 0 }
  public var timescale: CMTimeScale { time?.timescale ?? 0 }
  public var isValid: Bool { time != nil }
  public var seconds: Double { time?.seconds ?? .nan }

  public static func + (one: CMTime, other: CMTime) -> CMTime {
    guard let a = one.time, let b = other.time else { return .invalid }
    return CMTime(a + b)
  }

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
