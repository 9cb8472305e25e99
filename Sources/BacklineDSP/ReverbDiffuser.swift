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

  private static var block: Int { @_noLocks get { BacklineBlockFrames } }

  /// Left and right of each stage in turn.
  private var rings: BlockRings
  private let delays: UnsafeMutablePointer<Int32>
  /// The frames that may be filtered at once, as far as the shortest filter allows.
  let longestBlock: Int
  private let sampleRate: Float
  /// The coefficients of a block of frames, stage after stage.
  private let values: UnsafeMutablePointer<Float>
  private var isFlat = false
  private var coefficients = SIMD4<Float>(repeating: 0)
  private var steps = SIMD4<Float>(repeating: 0)
  private var goals = SIMD4<Float>(repeating: 0)
  private var remaining: Int32 = 0

  /// A diffuser for a sample rate, whose lengths, `scale` times the usual ones, are primes from the table.
  init(sampleRate: Double, primes: PrimeTable, scale: Double = 1) {
    let lengths = Self.milliseconds.flatMap { time -> [Int32] in
      let frames = time * scale * sampleRate / 1000
      return [primes.prime(from: Int32(max(4, frames))), primes.prime(from: Int32(max(5, frames * 1.083 + 2)))]
    }
    self.sampleRate = Float(sampleRate)
    rings = BlockRings(count: 2 * Self.stageCount, longest: Int(lengths.max() ?? 0))
    longestBlock = min(Self.block, Int(lengths.min() ?? 1))
    values = SampleMemory.allocate(Self.stageCount * Self.block)
    delays = .allocate(capacity: 2 * Self.stageCount)
    delays.initialize(from: lengths, count: 2 * Self.stageCount)
  }

  /// The longest table entry needed, in seconds.
  static var longestTime: Double { 0.016 }

  deinit {
    rings.deallocate()
    delays.deallocate()
    SampleMemory.free(values)
  }

  /// Moves to the coefficients for a decay time in seconds over `frames` frames; at once when there are none.
  @_noLocks
  mutating func move(decayTime: Float, over frames: Int32) {
    let largest = SIMD4<Float>(0.75, 0.75, 0.625, 0.625)
    for index in 0..<Self.stageCount {
      // An all-pass filter of m frames loses -20 log |g| dB in m frames; it should be through in half the decay time.
      let inner = backline_expf(-6.907_755_3 * Float(delays[2 &* index &+ 1]) / (0.5 * decayTime * sampleRate))
      goals[index] = max(0.3, min(inner, largest[index]))
    }
    isFlat = false
    remaining = frames
    if frames > 0 { steps = (goals - coefficients) * (1 / Float(frames)) } else { coefficients = goals }
  }

  /// Filters some frames, at most `longestBlock`.
  @inline(__always) @_noLocks
  mutating func process(
    _ left: UnsafeMutablePointer<Float>, _ right: UnsafeMutablePointer<Float>, _ frames: Int32
  ) {
    if !isFlat { fill(frames) }
    for stage in 0..<Self.stageCount {
      backline_reverb_diffuse(
        &rings, Int32(truncatingIfNeeded: 2 &* stage), delays[2 &* stage], delays[2 &* stage &+ 1],
        values + stage &* Self.block, left, right, frames)
    }
    backline_rings_advance(&rings, Int64(frames))
  }

  /// Forgets the past, in no time, and ends the movement.
  @_noLocks
  mutating func reset() {
    coefficients = goals
    remaining = 0
    isFlat = false
    rings.clear()
  }

  /// Puts the coefficients of the coming frames into `values`, where they rest those of a whole block, and moves them on.
  @inline(never) @_noLocks
  private mutating func fill(_ frames: Int32) {
    isFlat = remaining <= 0
    for frame in 0..<(isFlat ? Self.block : Int(max(0, frames))) {
      for stage in 0..<Self.stageCount { values[stage &* Self.block &+ frame] = coefficients[stage] }
      if remaining > 0 {
        remaining &-= 1
        coefficients = remaining == 0 ? goals : coefficients + steps
      }
    }
  }
}
