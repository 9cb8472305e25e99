/// The control interval: work that is not done per sample happens at absolute frames that are multiples of it (R1).
public enum Quantum {
  /// The length of a quantum in frames.
  public static var frames: Int64 { @inlinable @_noLocks get { 32 } }

  /// The last quantum edge at or before `frame`.
  @inlinable @inline(__always) @_noLocks
  public static func floor(_ frame: Int64) -> Int64 { frame & ~31 }

  /// The first quantum edge at or after `frame`.
  @inlinable @inline(__always) @_noLocks
  public static func ceiling(_ frame: Int64) -> Int64 { (frame &+ 31) & ~31 }
}
