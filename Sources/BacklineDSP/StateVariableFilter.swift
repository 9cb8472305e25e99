import BacklineRealtime
import CBackline

/// A filter of two or four poles whose response, resonance and cutoff move smoothly, down to the sample.
///
/// Two trapezoidal state-variable sections (`StateVariable.h`), all of whose responses are sums of the same three signals:
/// another mode is another set of weights. Each is the analogue prototype through the bilinear transform, exact at the
/// cutoff and narrowed towards half the sample rate. With a slope of 24 dB, low-pass and high-pass at Q 0.7071 are
/// Butterworth filters of the fourth order (sections of Q 0.5412 and 1.3066), and the resonance raises the second section.
struct StateVariableFilter {
  static let modes = ["lowPass", "highPass", "bandPass", "notch", "allPass"]
  static let slopes = ["12dB", "24dB"]

  /// log2 of the cutoff in Hz.
  var cutoff: Ramp

  private let hertzToTurns: Double
  private let lowest: Float
  private let highest: Float
  private var mode: Int32 = 0
  private var isSteep = false
  private var q: Float = 0.7071
  private var input = Ramp(0)
  private var band = Ramp(0)
  private var low = Ramp(1)
  private var steepness = Ramp(0)
  private var firstDamping: Ramp
  private var secondDamping: Ramp
  private var first = StereoFilterState(first: .zero, second: .zero)
  private var second = StereoFilterState(first: .zero, second: .zero)
  private var settledFirst: StereoFilterCoefficients
  private var settledSecond: StereoFilterCoefficients

  /// A low-pass filter with this cutoff in Hz.
  @_noLocks
  init(cutoff: Float, sampleRate: Double) {
    hertzToTurns = 1 / sampleRate
    lowest = backline_log2f(10)
    highest = backline_log2f(Float(0.49 * sampleRate))
    self.cutoff = Ramp(backline_log2f(cutoff))
    firstDamping = Ramp(1 / 0.7071)
    secondDamping = Ramp(1 / 0.7071)
    settledFirst = backline_filter_coefficients(SIMD2(1, 1), SIMD2(1, 1))
    settledSecond = settledFirst
    settleCoefficients()
  }

  // MARK: Control

  @_noLocks
  mutating func setCutoff(_ hertz: Float, over frames: Int32) {
    cutoff.move(to: backline_log2f(max(1, min(hertz, 1e6))), over: frames)
    settleCoefficients()
  }

  /// Sets the quality, 0.7071 being flat.
  @_noLocks
  mutating func setResonance(_ value: Float, over frames: Int32) {
    q = max(0.1, min(value, 1000))
    moveDamping(over: frames)
  }

  /// Sets the mode by its index in `modes`.
  @_noLocks
  mutating func setMode(_ value: Float, over frames: Int32) {
    mode = Int32(max(0, min(value, 4)) + 0.5)
    let weights: (Float, Float, Float) =
      switch mode {
      case 0: (0, 0, 1)
      case 1: (1, -1, -1)
      case 2: (0, 1, 0)
      case 3: (1, -1, 0)
      default: (1, -2, 0)
      }
    input.move(to: weights.0, over: frames)
    band.move(to: weights.1, over: frames)
    low.move(to: weights.2, over: frames)
    moveDamping(over: frames)
  }

  /// Sets two poles (0) or four (1).
  @_noLocks
  mutating func setSlope(_ value: Float, over frames: Int32) {
    isSteep = value >= 0.5
    if !runsTwice { second = StereoFilterState(first: .zero, second: .zero) }
    steepness.move(to: isSteep ? 1 : 0, over: frames)
    moveDamping(over: frames)
  }

  @_noLocks
  private mutating func moveDamping(over frames: Int32) {
    let isPass = mode < 2
    firstDamping.move(to: isSteep && isPass ? 1.847_759 : 1 / q, over: frames)
    secondDamping.move(to: isPass ? 0.765_366_9 * 0.7071 / q : 1 / q, over: frames)
    settleCoefficients()
  }

  @_noLocks
  mutating func reset() {
    cutoff.settle()
    input.settle()
    band.settle()
    low.settle()
    steepness.settle()
    firstDamping.settle()
    secondDamping.settle()
    first = StereoFilterState(first: .zero, second: .zero)
    second = first
    settleCoefficients()
  }

  /// Computes the coefficients for the parameters at rest.
  @_noLocks
  private mutating func settleCoefficients() {
    let turns = Double(backline_exp2f(max(lowest, min(cutoff.target, highest)))) * hertzToTurns
    let g = SIMD2(repeating: backline_tan(.pi * min(turns, 0.49)))
    settledFirst = backline_filter_coefficients(g, SIMD2(repeating: Double(firstDamping.target)))
    settledSecond = backline_filter_coefficients(g, SIMD2(repeating: Double(secondDamping.target)))
  }

  // MARK: Rendering

  /// True while a parameter moves, so that `next` has to be used.
  var isMoving: Bool {
    @inline(__always) @_noLocks
    get {
      !(cutoff.isSettled && input.isSettled && band.isSettled && low.isSettled && steepness.isSettled
        && firstDamping.isSettled && secondDamping.isSettled)
    }
  }

  /// True while the second section is heard.
  private var runsTwice: Bool { @inline(__always) @_noLocks get { steepness.value != 0 || !steepness.isSettled } }

  /// Filters one frame with the cutoff moved by some octaves, left and right.
  @inline(__always) @_noLocks
  mutating func next(_ x: SIMD2<Double>, octaves: SIMD2<Float>) -> SIMD2<Double> {
    let left = warped(cutoff.value + octaves.x)
    let g = SIMD2(left, octaves.x == octaves.y ? left : warped(cutoff.value + octaves.y))
    let a = backline_filter_coefficients(g, SIMD2(repeating: Double(firstDamping.value)))
    var output = Self.filter(&first, x, a, Double(input.value), Double(band.value), Double(low.value))
    if runsTwice {
      let b = backline_filter_coefficients(g, SIMD2(repeating: Double(secondDamping.value)))
      let twice = Self.filter(&second, output, b, Double(input.value), Double(band.value), Double(low.value))
      output = backline_stereo_mix(output, twice, Double(steepness.value))
    }
    cutoff.advance()
    input.advance()
    band.advance()
    low.advance()
    steepness.advance()
    firstDamping.advance()
    secondDamping.advance()
    return output
  }

  /// Filters one frame where nothing moves.
  @inline(__always) @_noLocks
  mutating func next(_ x: SIMD2<Double>) -> SIMD2<Double> {
    let once = Self.filter(&first, x, settledFirst, Double(input.value), Double(band.value), Double(low.value))
    if !isSteep { return once }
    return Self.filter(&second, once, settledSecond, Double(input.value), Double(band.value), Double(low.value))
  }

  @inline(__always) @_noLocks
  private static func filter(
    _ state: inout StereoFilterState, _ x: SIMD2<Double>, _ c: StereoFilterCoefficients, _ input: Double,
    _ band: Double, _ low: Double
  ) -> SIMD2<Double> {
    backline_filter_mix(backline_filter_next(&state, c, x), c, x, input, band, low)
  }

  /// tan(π f / rate) for log2 of a frequency in Hz.
  @inline(__always) @_noLocks
  private func warped(_ octaves: Float) -> Double {
    let bounded = octaves > lowest ? (octaves < highest ? octaves : highest) : lowest
    let quarters = 4 * FastMath.exp2(bounded) * Float(hertzToTurns)
    let held = quarters < 1.96 ? quarters : 1.96
    return Double(FastMath.quarterSine(held)) / Double(FastMath.quarterSine(2 - held))
  }

  /// The frames until the sound has fallen below -140 dB, where modulation lowers the cutoff by at most `octaves`.
  @_noLocks
  func tail(loweredBy octaves: Float, sampleRate: Double) -> Double {
    let level = max(first.level, second.level)
    let lowest = Double(backline_exp2f(max(self.lowest, min(cutoff.value, cutoff.target) - octaves)))
    let damping = Double(
      min(min(firstDamping.value, firstDamping.target), min(secondDamping.value, secondDamping.target)))
    let prototype = BiquadCoefficients(
      .resonantLowPass, frequency: lowest, gain: 0, q: 1 / damping, sampleRate: sampleRate)
    return 1.5 * prototype.decay(from: 4 * max(1, level))
  }
}

extension StereoFilterState {
  /// The largest magnitude that it holds.
  var level: Double {
    @_noLocks get { max(max(abs(first.x), abs(first.y)), max(abs(second.x), abs(second.y))) }
  }
}
