import Synchronization

/// How many cycles took how much of their time: what an average hides and a maximum shows one of only.
///
/// Bins are an eighth of a power of two wide, so that a quantile is right to 12.5 %. Counted by one thread, read by any.
struct LoadHistogram: ~Copyable {
  /// Bins from a 4 096th of a cycle's time to 64 times as long as it lasts.
  private static var binCount: Int { @_noLocks get { 136 } }
  private static var scale: Int64 { @_noLocks get { 4_096 } }

  private let bins: UnsafeMutablePointer<Atomic<Int>>

  init() {
    bins = .allocate(capacity: Self.binCount)
    for bin in 0..<Self.binCount { (bins + bin).initialize(to: Atomic(0)) }
  }

  deinit {
    bins.deinitialize(count: Self.binCount)
    bins.deallocate()
  }

  /// Counts a cycle that took `spent` nanoseconds of `length`, which is above 0.
  @_noLocks
  func count(_ spent: Int64, of length: Int64) {
    let most = 64 &* length
    let value = max(0, min(spent, most &- 1)) &* Self.scale / length
    let bin = Self.bin(of: value)
    bins[bin].store(bins[bin].load(ordering: .relaxed) &+ 1, ordering: .relaxed)
  }

  /// The part of its time that no more than `part` of the cycles (0 to 1) have taken; 0 before the first.
  func quantile(_ part: Double) -> Float {
    let counts = (0..<Self.binCount).map { bins[$0].load(ordering: .relaxed) }
    let wanted = (Double(counts.reduce(0, +)) * part).rounded(.up)
    if wanted < 1 { return 0 }
    var sum = 0
    for (bin, count) in counts.enumerated() {
      sum += count
      if Double(sum) >= wanted { return Self.end(of: bin) }
    }
    return Self.end(of: Self.binCount - 1)
  }

  @_noLocks
  private static func bin(of value: Int64) -> Int {
    if value < 8 { return Int(value) }
    let octave = 63 &- value.leadingZeroBitCount
    return 8 &* (octave &- 2) &+ Int((value >> Int64(octave &- 3)) & 7)
  }

  /// What the values of a bin stay below.
  private static func end(of bin: Int) -> Float {
    if bin < 8 { return Float(bin + 1) / Float(scale) }
    let octave = bin / 8 + 2
    return Float((8 + bin % 8 + 1) << (octave - 3)) / Float(scale)
  }
}
