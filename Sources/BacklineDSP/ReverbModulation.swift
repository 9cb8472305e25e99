import BacklineRealtime

/// The slow wander of the reverb's lines: one sine a line, each with its own rate and phase.
///
/// It breaks up the ringing of fixed modes (Dattorro, "Effect design, part 1", JAES 1997). Sines are computed once a
/// quantum and joined by straight lines; the quanta count from the last reset, so the movement is a function of the
/// frames since then alone.
struct ReverbModulation: ~Copyable {
  /// The most that a line is lengthened, in seconds.
  static var longestTime: Double { @_noLocks get { 0.000_25 } }

  /// The bits of an offset after the point.
  private static var fractionBits: Int32 { @inline(__always) @_noLocks get { 20 } }
  private static var lines: Int { @_noLocks get { 16 } }

  /// How much each line is longer than its length, in frames, 0 or more; fixed point, so that nothing drifts.
  let offsets: UnsafeMutablePointer<Int32>
  /// What the offsets grow by in each frame.
  let steps: UnsafeMutablePointer<Int32>
  private var phases = SIMD16<UInt32>(repeating: 0)
  private let increments: SIMD16<UInt32>
  private let longest: Float
  /// True where all offsets and steps are 0.
  private var isStill = true

  init(sampleRate: Double) {
    var increments = SIMD16<UInt32>(repeating: 0)
    for line in 0..<16 {
      // 0.31 to 0.97 Hz, no two in a simple ratio.
      increments[line] = UInt32((0.31 + 0.0437 * Double(line)) / sampleRate * 0x1p32)
    }
    self.increments = increments
    longest = Float(Self.longestTime * sampleRate * Double(1 << Self.fractionBits))
    offsets = .allocate(capacity: Self.lines)
    offsets.initialize(repeating: 0, count: Self.lines)
    steps = .allocate(capacity: Self.lines)
    steps.initialize(repeating: 0, count: Self.lines)
  }

  deinit {
    offsets.deallocate()
    steps.deallocate()
  }

  /// Starts the coming quantum: its end is what `aim` aims at.
  @_noLocks
  mutating func startQuantum() {
    phases = phases &+ increments &* SIMD16(repeating: UInt32(truncatingIfNeeded: Quantum.frames))
  }

  /// Aims at the end of the quantum, `frames` frames ahead, where the lines are as far as `depth` (0 to 1) says.
  @_noLocks
  mutating func aim(over frames: Int32, depth: Float) {
    if depth == 0 && isStill { return }
    isStill = depth == 0
    let scale = 0.5 * longest * depth
    for line in 0..<Self.lines {
      // Lines start a golden section of a turn apart.
      let sine = Sine.value(phases[line] &+ UInt32(truncatingIfNeeded: line) &* 0x9E37_79B9)
      steps[line] = (Int32(scale * (1 + sine)) &- offsets[line]) / frames
      isStill = isStill && offsets[line] == 0 && steps[line] == 0
    }
  }

  /// Moves on by some frames of one quantum.
  @inline(__always) @_noLocks
  mutating func advance(by frames: Int32) {
    if isStill { return }
    for line in 0..<Self.lines { offsets[line] = offsets[line] &+ steps[line] &* frames }
  }

  /// Starts again.
  @_noLocks
  mutating func reset() {
    for line in 0..<Self.lines {
      offsets[line] = 0
      steps[line] = 0
    }
    phases = SIMD16(repeating: 0)
    isStill = true
  }
}
