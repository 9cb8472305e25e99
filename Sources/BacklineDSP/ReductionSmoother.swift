import CBackline

/// The smoother of a compressor's gain reduction: a one-pole filter that attacks where the reduction grows and releases
/// where it falls ("smooth, branching" in Giannoulis, Massberg and Reiss, 2012).
///
/// In Double, where even a release of seconds loses nothing to rounding.
struct ReductionSmoother {
  /// What counts as none: 6e-6 dB.
  private static var negligible: Double { @inline(__always) @_noLocks get { 1e-6 } }

  /// The smoothed reduction in octaves.
  private(set) var reduction = 0.0

  @_noLocks
  init() {}

  /// Takes the reduction of one frame; `attack` and `release` are the parts of the way to it that a frame goes.
  ///
  /// In release, what is negligible ends at once: a state that has come to rest is exactly that of a reset.
  @inline(__always) @_noLocks
  mutating func follow(_ wanted: Float, attack: Float, release: Float) {
    let distance = Double(wanted) - reduction
    reduction += distance * Double(distance > 0 ? attack : release)
    if distance <= 0 && reduction < Self.negligible { reduction = Double(wanted) }
  }

  /// The frames until the reduction has come to rest in a silent input.
  @_noLocks
  func tail(release: Float) -> Int64 { reduction > 0 ? Self.tail(from: reduction, release) : 0 }

  /// The frames until the largest reduction that there can be has come to rest.
  @_noLocks
  static func longestTail(release: Float) -> Int64 { tail(from: 40, release) }

  @_noLocks
  private static func tail(from reduction: Double, _ release: Float) -> Int64 {
    let frames = backline_log(negligible / reduction) / backline_log(1 - Double(release))
    return frames > 0 && frames < 1e12 ? Int64(frames) + 2 : 2
  }
}
