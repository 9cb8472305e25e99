/// Lengths of tails, in frames.
enum Tail {
  /// The tail of a source: it never ends. Far from the largest integer, so that a frame can be added to it.
  static var endless: Int64 { @_noLocks get { 1 << 62 } }

  /// The longest tail of a unit whose sound would ring on for ever or nearly so.
  static var longestSeconds: Double { @_noLocks get { 60 } }

  /// A length in seconds as frames, rounded up and held to `longestSeconds`.
  @_noLocks
  static func frames(_ seconds: Double, sampleRate: Double) -> Int64 {
    let bounded = seconds < longestSeconds ? max(0, seconds) : longestSeconds
    return Int64(bounded * sampleRate) &+ 1
  }
}
