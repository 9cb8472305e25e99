import CBackline

/// Time constants of one-pole smoothers: in one of them a smoother covers 63 % of its way.
enum TimeConstant {
  /// The part of the way that a smoother with a time constant of `seconds` goes in a frame.
  @_noLocks
  static func coefficient(_ seconds: Float, sampleRate: Double) -> Float {
    Float(1 - backline_exp(-1 / (Double(max(seconds, 1e-5)) * sampleRate)))
  }
}
