import CBackline

/// Loudness by ITU-R BS.1770-4 and EBU Tech 3341, from the K-weighted power of one tenth of a second after the other.
///
/// Why not libebur128 here: it cannot be cleared without an allocation, and it sums its windows anew each time, which is
/// some 300 000 multiplications for three seconds of 48 kHz. Sums of tenths make the same numbers from 30 additions. The
/// tests hold the results against that library.
struct LoudnessMeasurement: ~Copyable {
  /// The loudness that stands for silence, in LUFS.
  static var silence: Float { @_noLocks get { -96 } }
  /// The loudest that is told apart, in LUFS.
  static var loudest: Float { @_noLocks get { 60 } }

  private static var tenthCount: Int { @_noLocks get { 30 } }
  private static var binCount: Int { @_noLocks get { 1000 } }
  private static var binsPerUnit: Double { @_noLocks get { 10 } }

  private let tenths: UnsafeMutablePointer<Double>
  private let binEnergies: UnsafeMutablePointer<Double>
  private let binCounts: UnsafeMutablePointer<Int64>
  private var position = 0
  private var received = 0
  private var gatedEnergy = 0.0
  private var gatedCount: Int64 = 0

  init() {
    tenths = .allocate(capacity: Self.tenthCount)
    tenths.initialize(repeating: 0, count: Self.tenthCount)
    binEnergies = .allocate(capacity: Self.binCount)
    binEnergies.initialize(repeating: 0, count: Self.binCount)
    binCounts = .allocate(capacity: Self.binCount)
    binCounts.initialize(repeating: 0, count: Self.binCount)
  }

  deinit {
    tenths.deallocate()
    binEnergies.deallocate()
    binCounts.deallocate()
  }

  /// Takes the mean power of the next tenth of a second, both channels added; `isIntegrating` says whether the
  /// integrated loudness takes the 400 ms that end here.
  @_noLocks
  mutating func add(_ power: Double, isIntegrating: Bool) {
    tenths[position] = power
    position = position &+ 1 == Self.tenthCount ? 0 : position &+ 1
    received = min(received &+ 1, Self.tenthCount)
    if isIntegrating && received >= 4 { gate(meanPower(4)) }
  }

  /// The loudness of the last 0.4 s in LUFS.
  var momentary: Float { @_noLocks get { Self.loudness(meanPower(4)) } }

  /// The mean power of the last 3 s; `nil` while there are none.
  var shortTermPower: Double? { @_noLocks get { received == Self.tenthCount ? meanPower(Self.tenthCount) : nil } }

  /// The loudness of the last 3 s in LUFS.
  var shortTerm: Float { @_noLocks get { Self.loudness(meanPower(Self.tenthCount)) } }

  /// The loudness since the start of the integration in LUFS, without what is below -70 LUFS or 10 LU below the mean of
  /// the rest. Steps of 0.1 LU where the relative gate cuts.
  var integrated: Float {
    @_noLocks
    get {
      if gatedCount == 0 { return Self.silence }
      var bin = Self.bin(gatedEnergy / Double(gatedCount) / 10)
      var energy = 0.0
      var count: Int64 = 0
      while bin < Self.binCount {
        energy += binEnergies[bin]
        count &+= binCounts[bin]
        bin &+= 1
      }
      return count == 0 ? Self.silence : Self.loudness(energy / Double(count))
    }
  }

  /// Forgets the windows of the momentary and the short-term loudness.
  @_noLocks
  mutating func clearWindows() {
    for i in 0..<Self.tenthCount { tenths[i] = 0 }
    position = 0
    received = 0
  }

  /// Starts a new integration.
  @_noLocks
  mutating func restartIntegration() {
    for i in 0..<Self.binCount {
      binEnergies[i] = 0
      binCounts[i] = 0
    }
    gatedEnergy = 0
    gatedCount = 0
  }

  @_noLocks
  private func meanPower(_ count: Int) -> Double {
    var sum = 0.0
    var at = position
    for _ in 0..<count {
      at = at == 0 ? Self.tenthCount &- 1 : at &- 1
      sum += tenths[at]
    }
    return sum / Double(count)
  }

  @_noLocks
  private mutating func gate(_ power: Double) {
    if !(power >= Self.power(-70)) { return }
    // Beyond the last bin a single fault would drown the programme for good.
    let bounded = min(power, Self.power(30))
    let bin = Self.bin(bounded)
    binEnergies[bin] += bounded
    binCounts[bin] &+= 1
    gatedEnergy += bounded
    gatedCount &+= 1
  }

  /// The bin of a power: a tenth of a LU each, from -70 to 30 LUFS.
  @_noLocks
  private static func bin(_ power: Double) -> Int {
    let loudness = 10 * backline_log(power) / backline_log(10) - 0.691
    return Int(max(0, min((loudness + 70) * binsPerUnit, Double(binCount &- 1))))
  }

  @_noLocks
  private static func power(_ loudness: Double) -> Double { backline_pow(10, (loudness + 0.691) / 10) }

  @_noLocks
  private static func loudness(_ power: Double) -> Float {
    if !(power > 1e-12) { return silence }
    let loudness = Float(10 * backline_log(power) / backline_log(10) - 0.691)
    return max(silence, min(loudness, loudest))
  }
}
