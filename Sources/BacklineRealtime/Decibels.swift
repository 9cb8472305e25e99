import CBackline

/// Levels in decibels; -96 dB and below is silence.
public enum Decibels {
  /// The level that stands for silence.
  public static var silence: Float { @inlinable @_noLocks get { -96 } }

  /// The factor of a level in dB.
  @inlinable @_noLocks
  public static func gain(_ decibels: Float) -> Float {
    decibels <= -96 ? 0 : backline_powf(10, decibels / 20)
  }

  /// The level in dB of a factor, not below silence.
  @inlinable @_noLocks
  public static func level(_ gain: Float) -> Float {
    gain <= 1.5848932e-5 ? -96 : 20 * backline_log10f(gain)
  }
}
