/// How long a rendering goes on after its input has ended (R14).
public enum TailPolicy: Equatable, Sendable {
  /// As long as the input and no frame longer.
  case none
  /// So many seconds more, to the nearest frame, halves up.
  case seconds(Double)
  /// Until nothing above -90 dBFS is left, neither in the output nor in any unit's memory; at most a minute.
  case auto

  /// -90 dBFS.
  public static let threshold: Float = 0.000_031_622_78
  /// The longest tail of `auto` in seconds.
  public static let longestAuto = 60.0
  /// The longest tail in seconds that may be asked for: a day.
  public static let longest = 86_400.0

  /// Why a tail ended.
  public enum Reason: String, Sendable {
    case none, seconds, silence, limit
  }

  /// The tail that a text stands for: `none`, `auto` or seconds; `nil` where it is neither, or no time that can be.
  public init?(_ text: String) {
    switch text {
    case "none": self = .none
    case "auto": self = .auto
    default:
      guard let seconds = Double(text), seconds.isFinite, (0...Self.longest).contains(seconds) else { return nil }
      self = .seconds(seconds)
    }
  }

  /// A time in seconds as frames: to the nearest, halves up.
  public static func frames(_ seconds: Double, sampleRate: Int) -> Int64 {
    let frames = (seconds * Double(sampleRate) + 0.5).rounded(.down)
    return frames > 0 && frames < 9e18 ? Int64(frames) : 0
  }
}
