import CBackline

/// The smoother of a compressor's gain reduction: a one-pole filter that attacks where the reduction grows and releases
/// where it falls ("smooth, branching" in Giannoulis, Massberg and Reiss, 2012).
///
/// In Double, where even a release of seconds loses nothing to rounding.
struct ReductionSmoother {
  /// The smoothed reduction in octaves.
  var reduction = 0.0

  @_noLocks
  init() {}

  /// Takes the reduction of one frame; `attack` and `release` are the parts of the way to it that a frame goes.
  @inline(__always) @_noLocks
  mutating func follow(_ wanted: Float, attack: Float, release: Float) {
    reduction = backline_follow_reduction(reduction, wanted, attack, release)
  }

  /// The frames until the reduction has come to rest in a silent input.
  @_noLocks
  func tail(release: Float) -> Int64 { reduction > 0 ? Self.tail(from: reduction, release) : 0 }

  /// The frames until the largest reduction that there can be has come to rest.
  @_noLocks
  static func longestTail(release: Float) -> Int64 { tail(from: 40, release) }

  @_noLocks
  private static func tail(from reduction: Double, _ release: Float) -> Int64 {
    let frames = backline_log(backline_negligible_reduction / reduction) / backline_log(1 - Double(release))
    return frames > 0 && frames < 1e12 ? Int64(frames) + 2 : 2
  }
}
