/// Looks through samples, eight at a time.
public enum SampleScan {
  /// True when one of `count` samples is not finite.
  ///
  /// A sample less itself is zero where it is finite and NaN where it is not, and a sum with NaN in it stays NaN.
  @inlinable @_noLocks
  public static func hasNonFinite(_ samples: UnsafePointer<Float>, _ count: Int) -> Bool {
    let raw = UnsafeRawPointer(samples)
    var sum = SIMD8<Float>(repeating: 0)
    var at = 0
    while at &+ 8 <= count {
      let eight = raw.loadUnaligned(fromByteOffset: at &* 4, as: SIMD8<Float>.self)
      sum += eight - eight
      at &+= 8
    }
    var rest: Float = 0
    while at < count {
      rest += samples[at] - samples[at]
      at &+= 1
    }
    return !(sum.sum() + rest == 0)
  }
}
