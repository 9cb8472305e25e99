extension Int64 {
  /// The nearest whole number, halves away from zero; the nearest end where there is none, 0 for what is no number.
  ///
  /// Ends are 2^60, far beyond any frame or nanosecond, so that several of them may be added.
  public init(saturating value: Double) {
    if value.isNaN {
      self = 0
    } else {
      self = Int64(Swift.min(Swift.max(value.rounded(), -0x1p60), 0x1p60))
    }
  }
}
