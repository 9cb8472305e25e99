import CBackline

/// The loudness range of EBU Tech 3342: how far apart soft and loud passages are, in LU.
///
/// Takes the loudness of three seconds once a second. What is below -70 LUFS, or 20 LU below the mean power of the rest, does
/// not count; of what is left, it is the distance from the 10th to the 95th percentile, in steps of 0.1 LU.
struct LoudnessRange: ~Copyable {
  private static var binCount: Int { @_noLocks get { 1000 } }

  private let counts: UnsafeMutablePointer<Int64>
  private let powers: UnsafeMutablePointer<Double>

  init() {
    counts = .allocate(capacity: Self.binCount)
    counts.initialize(repeating: 0, count: Self.binCount)
    powers = .allocate(capacity: Self.binCount)
    // The middle of each tenth of a LU, from -70 LUFS on.
    for bin in 0..<Self.binCount {
      (powers + bin).initialize(to: backline_pow(10, (-69.95 + Double(bin) / 10 + 0.691) / 10))
    }
  }

  deinit {
    counts.deallocate()
    powers.deallocate()
  }

  /// Takes the mean power of the last three seconds.
  @_noLocks
  mutating func add(_ power: Double) {
    if !(power >= backline_pow(10, (-70 + 0.691) / 10)) { return }
    counts[bin(power)] &+= 1
  }

  /// The range in LU; 0 while there is none.
  @_noLocks
  func value() -> Float {
    var total: Int64 = 0
    var energy = 0.0
    for bin in 0..<Self.binCount {
      total &+= counts[bin]
      energy += Double(counts[bin]) * powers[bin]
    }
    if total == 0 { return 0 }
    let gate = 0.01 * energy / Double(total)
    var first = bin(gate)
    if gate > powers[first] { first &+= 1 }
    total = 0
    for bin in first..<max(first, Self.binCount) { total &+= counts[bin] }
    if total == 0 { return 0 }
    let low = percentile(first, Int64(Double(total &- 1) * 0.1 + 0.5))
    let high = percentile(first, Int64(Double(total &- 1) * 0.95 + 0.5))
    return Float(high &- low) / 10
  }

  /// The bin from `first` on that holds the value with this rank.
  @_noLocks
  private func percentile(_ first: Int, _ rank: Int64) -> Int {
    var passed: Int64 = 0
    var bin = first
    while bin < Self.binCount &- 1 {
      passed &+= counts[bin]
      if passed > rank { break }
      bin &+= 1
    }
    return bin
  }

  @_noLocks
  private func bin(_ power: Double) -> Int {
    let loudness = 10 * backline_log(max(power, 1e-12)) / backline_log(10) - 0.691
    return Int(max(0, min((loudness + 70) * 10, Double(Self.binCount &- 1))))
  }

  /// Forgets everything.
  @_noLocks
  mutating func restart() {
    for bin in 0..<Self.binCount { counts[bin] = 0 }
  }
}
