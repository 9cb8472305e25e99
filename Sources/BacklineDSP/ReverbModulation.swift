import BacklineRealtime

/// The slow wander of the reverb's lines: one sine a line, each with its own rate and phase.
///
/// It breaks up the ringing of fixed modes (Dattorro, "Effect design, part 1", JAES 1997). Sines are computed once a
/// quantum and joined by straight lines; the quanta count from the last reset, so the movement is a function of the
/// frames since then alone.
struct ReverbModulation {
  /// The most that a line is lengthened, in seconds.
  static var longestTime: Double { @_noLocks get { 0.000_25 } }

  /// The bits of an offset after the point.
  static var fractionBits: Int32 { @inline(__always) @_noLocks get { 20 } }

  /// How much each line is longer than its length, in frames, 0 or more; fixed point, so that nothing drifts.
  private(set) var offsets = SIMD16<Int32>(repeating: 0)
  private var steps = SIMD16<Int32>(repeating: 0)
  private var phases = SIMD16<UInt32>(repeating: 0)
  private let increments: SIMD16<UInt32>
  private let longest: Float

  init(sampleRate: Double) {
    var increments = SIMD16<UInt32>(repeating: 0)
    for line in 0..<16 {
      // 0.31 to 0.97 Hz, no two in a simple ratio.
      increments[line] = UInt32((0.31 + 0.0437 * Double(line)) / sampleRate * 0x1p32)
    }
    self.increments = increments
    longest = Float(Self.longestTime * sampleRate * Double(1 << Self.fractionBits))
  }

  /// Starts the coming quantum: its end is what `aim` aims at.
  @_noLocks
  mutating func startQuantum() {
    phases = phases &+ increments &* SIMD16(repeating: UInt32(truncatingIfNeeded: Quantum.frames))
  }

  /// Aims at the end of the quantum, `frames` frames ahead, where the lines are as far as `depth` (0 to 1) says.
  @_noLocks
  mutating func aim(over frames: Int32, depth: Float) {
    let scale = 0.5 * longest * depth
    for line in 0..<16 {
      // Lines start a golden section of a turn apart.
      let sine = Sine.value(phases[line] &+ UInt32(truncatingIfNeeded: line) &* 0x9E37_79B9)
      steps[line] = (Int32(scale * (1 + sine)) &- offsets[line]) / frames
    }
  }

  /// Moves on by one frame.
  @inline(__always) @_noLocks
  mutating func advance() { offsets = offsets &+ steps }

  /// Starts again.
  @_noLocks
  mutating func reset() {
    offsets = SIMD16(repeating: 0)
    steps = SIMD16(repeating: 0)
    phases = SIMD16(repeating: 0)
  }
}
