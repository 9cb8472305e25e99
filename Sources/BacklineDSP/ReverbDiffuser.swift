import BacklineRealtime

/// Four all-pass filters in series on each channel, which spread a click into a dense burst without colour.
///
/// After Schroeder ("Natural sounding artificial reverberation", JAES 1962), with the lengths and coefficients of
/// Dattorro's plate ("Effect design, part 1", JAES 1997); the right ones are somewhat longer, which sets the sides apart.
struct ReverbDiffuser {
  private static var stageCount: Int { @_noLocks get { 4 } }
  /// In milliseconds: 142, 107, 379 and 277 frames at 29 761 Hz.
  private static let milliseconds = [4.771, 3.595, 12.735, 9.307]

  private let memory: UnsafeMutablePointer<SIMD2<Float>>
  private let size: Int
  private let delays: UnsafeMutablePointer<SIMD2<Int32>>
  private var position = 0
  private var written = 0

  /// A diffuser for a sample rate, whose lengths are primes from the table.
  init(sampleRate: Double, primes: PrimeTable) {
    let lengths = Self.milliseconds.map { time in
      SIMD2(
        primes.prime(from: Int32(max(4, time * sampleRate / 1000))),
        primes.prime(from: Int32(max(5, time * sampleRate / 1000 * 1.083 + 2))))
    }
    var size = 64
    while size <= Int(lengths.reduce(0) { max($0, max($1.x, $1.y)) }) { size *= 2 }
    self.size = size
    memory = UnsafeMutableRawPointer(SampleMemory.allocate(2 * size * Self.stageCount))
      .bindMemory(to: SIMD2<Float>.self, capacity: size * Self.stageCount)
    delays = .allocate(capacity: Self.stageCount)
    delays.initialize(from: lengths, count: Self.stageCount)
  }

  /// The longest table entry needed, in seconds.
  static var longestTime: Double { 0.016 }

  /// Frees the memory.
  func deallocate() {
    let count = 2 * size * Self.stageCount
    SampleMemory.free(UnsafeMutableRawPointer(memory).bindMemory(to: Float.self, capacity: count))
    delays.deallocate()
  }

  /// Filters one frame.
  @inline(__always) @_noLocks
  mutating func process(_ input: SIMD2<Float>) -> SIMD2<Float> {
    var signal = stage(0, input, 0.75)
    signal = stage(1, signal, 0.75)
    signal = stage(2, signal, 0.625)
    signal = stage(3, signal, 0.625)
    position = (position &+ 1) & (size &- 1)
    if written < size { written &+= 1 }
    return signal
  }

  /// Forgets the past, in no time.
  @_noLocks
  mutating func reset() {
    position = 0
    written = 0
  }

  @inline(__always) @_noLocks
  private func stage(_ index: Int, _ input: SIMD2<Float>, _ coefficient: Float) -> SIMD2<Float> {
    let ring = memory + index &* size
    let left = Int(delays[index].x), right = Int(delays[index].y)
    let mask = size &- 1
    let delayed = SIMD2(
      left <= written ? ring[(position &- left) & mask].x : 0,
      right <= written ? ring[(position &- right) & mask].y : 0)
    let inner = input - delayed * coefficient
    ring[position] = inner
    return delayed + inner * coefficient
  }
}
