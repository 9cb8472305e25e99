import BacklineRealtime
import CBackline

/// Four all-pass filters in series on each channel, which spread a click into a dense burst without colour.
///
/// After Schroeder ("Natural sounding artificial reverberation", JAES 1962), with the lengths and coefficients of
/// Dattorro's plate ("Effect design, part 1", JAES 1997); the right ones are somewhat longer, which sets the sides apart.
/// For decay times so short that the filters themselves would ring on for longer, their coefficients are smaller.
struct ReverbDiffuser: ~Copyable {
  private static var stageCount: Int { @_noLocks get { 4 } }
  /// In milliseconds: 142, 107, 379 and 277 frames at 29 761 Hz.
  private static let milliseconds = [4.771, 3.595, 12.735, 9.307]

  private let memory: UnsafeMutablePointer<SIMD2<Float>>
  private let size: Int
  private let delays: UnsafeMutablePointer<SIMD2<Int32>>
  private let sampleRate: Float
  private var position = 0
  private var written = 0
  private var coefficients = SIMD4<Float>(repeating: 0)
  private var steps = SIMD4<Float>(repeating: 0)
  private var goals = SIMD4<Float>(repeating: 0)
  private var remaining: Int32 = 0

  /// A diffuser for a sample rate, whose lengths, `scale` times the usual ones, are primes from the table.
  init(sampleRate: Double, primes: PrimeTable, scale: Double = 1) {
    let lengths = Self.milliseconds.map { $0 * scale }.map { time in
      SIMD2(
        primes.prime(from: Int32(max(4, time * sampleRate / 1000))),
        primes.prime(from: Int32(max(5, time * sampleRate / 1000 * 1.083 + 2))))
    }
    var size = 64
    while size <= Int(lengths.reduce(0) { max($0, max($1.x, $1.y)) }) { size *= 2 }
    self.size = size
    self.sampleRate = Float(sampleRate)
    memory = UnsafeMutableRawPointer(SampleMemory.allocate(2 * size * Self.stageCount))
      .bindMemory(to: SIMD2<Float>.self, capacity: size * Self.stageCount)
    delays = .allocate(capacity: Self.stageCount)
    delays.initialize(from: lengths, count: Self.stageCount)
  }

  /// The longest table entry needed, in seconds.
  static var longestTime: Double { 0.016 }

  deinit {
    let count = 2 * size * Self.stageCount
    SampleMemory.free(UnsafeMutableRawPointer(memory).bindMemory(to: Float.self, capacity: count))
    delays.deallocate()
  }

  /// Moves to the coefficients for a decay time in seconds over `frames` frames; at once when there are none.
  @_noLocks
  mutating func move(decayTime: Float, over frames: Int32) {
    let largest = SIMD4<Float>(0.75, 0.75, 0.625, 0.625)
    for index in 0..<Self.stageCount {
      // An all-pass filter of m frames loses -20 log |g| dB in m frames; it should be through in half the decay time.
      let inner = backline_expf(-6.907_755_3 * Float(delays[index].y) / (0.5 * decayTime * sampleRate))
      goals[index] = max(0.3, min(inner, largest[index]))
    }
    remaining = frames
    if frames > 0 { steps = (goals - coefficients) * (1 / Float(frames)) } else { coefficients = goals }
  }

  /// Filters one frame.
  @inline(__always) @_noLocks
  mutating func process(_ input: SIMD2<Float>) -> SIMD2<Float> {
    var signal = stage(0, input, coefficients[0])
    signal = stage(1, signal, coefficients[1])
    signal = stage(2, signal, coefficients[2])
    signal = stage(3, signal, coefficients[3])
    position = (position &+ 1) & (size &- 1)
    if written < size { written &+= 1 }
    if remaining > 0 {
      remaining &-= 1
      coefficients = remaining == 0 ? goals : coefficients + steps
    }
    return signal
  }

  /// Forgets the past, in no time, and ends the movement.
  @_noLocks
  mutating func reset() {
    coefficients = goals
    remaining = 0
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
