/// Loops over samples, each short enough for the compiler to vectorise. Results do not depend on the alignment or on how
/// a signal is cut.
public enum SampleMath {
  /// Writes `from` times `gain` to `to`; both may be the same memory.
  @inlinable @_noLocks
  public static func scale(
    _ to: UnsafeMutablePointer<Float>, _ from: UnsafePointer<Float>, by gain: Float, count: Int
  ) {
    for i in 0..<max(0, count) { to[i] = from[i] * gain }
  }

  /// Writes `from` times `gain` to `to`, with every zero positive: the start of a sum to which zeros may be added or not
  /// without a change of bits.
  @inlinable @_noLocks
  public static func beginSum(
    _ to: UnsafeMutablePointer<Float>, _ from: UnsafePointer<Float>, by gain: Float, count: Int
  ) {
    for i in 0..<max(0, count) { to[i] = from[i] * gain + 0 }
  }

  /// Adds `from` times `gain` to `to`.
  @inlinable @_noLocks
  public static func addToSum(
    _ to: UnsafeMutablePointer<Float>, _ from: UnsafePointer<Float>, by gain: Float, count: Int
  ) {
    for i in 0..<max(0, count) { to[i] += from[i] * gain }
  }
}
