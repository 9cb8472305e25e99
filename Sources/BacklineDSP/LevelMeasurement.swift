import BacklineRealtime
import CBackline

/// Peak and RMS of both channels, from one hundredth of a second after the other.
///
/// - Peak rises at once and falls by 20 dB in 1.7 s, as IEC 60268-18 asks of a digital peak meter.
/// - RMS is the root of the mean square of the last 300 ms (a sine of full scale is -3.01 dB).
struct LevelMeasurement: ~Copyable {
  private static var stepCount: Int { @_noLocks get { 30 } }

  private let squares: UnsafeMutablePointer<SIMD2<Double>>
  private let decay: Float
  private var position = 0
  /// The peaks now, as factors.
  private(set) var peak = SIMD2<Float>(repeating: 0)

  /// A measurement whose steps last `seconds`.
  init(step seconds: Double) {
    squares = .allocate(capacity: Self.stepCount)
    squares.initialize(repeating: SIMD2(repeating: 0), count: Self.stepCount)
    decay = Float(backline_pow(10, -seconds / 1.7))
  }

  deinit { squares.deallocate() }

  /// Takes the peaks and the mean squares of the next step.
  @_noLocks
  mutating func add(peak newest: SIMD2<Float>, square: SIMD2<Double>) {
    peak = SIMD2(max(newest.x, peak.x * decay), max(newest.y, peak.y * decay))
    squares[position] = square
    position = position &+ 1 == Self.stepCount ? 0 : position &+ 1
  }

  /// The RMS levels now, as factors.
  var rms: SIMD2<Float> {
    @_noLocks
    get {
      var sum = SIMD2<Double>(repeating: 0)
      for i in 0..<Self.stepCount { sum += squares[i] }
      let mean = sum / Double(Self.stepCount)
      return SIMD2(Float(backline_sqrt(mean.x)), Float(backline_sqrt(mean.y)))
    }
  }

  /// Forgets the past.
  @_noLocks
  mutating func reset() {
    peak = SIMD2(repeating: 0)
    position = 0
    for i in 0..<Self.stepCount { squares[i] = SIMD2(repeating: 0) }
  }
}
