import BacklineRealtime
import CBackline

/// The sound an octave higher, roughly: two taps that run through a delay line at twice the speed, faded against each other.
///
/// The delay-line shifter of the first harmonizers (Dattorro, "Effect design, part 2", JAES 45, 1997, section 7). Its splices
/// are heard on a bare tone; inside a reverb they are not. What would fold at the top is taken away before.
struct OctaveUp {
  private let window: Int
  private var line: StereoDelayLine
  private var low1 = OnePole()
  private var low2 = OnePole()
  private var high = OnePole()
  private var position = 0

  init(sampleRate: Double) {
    window = max(2, Int(0.08 * sampleRate) & ~1)
    line = StereoDelayLine(maximum: window + 1)
    let top = OnePole.coefficient(cutoff: Float(min(5000, 0.1 * sampleRate)), sampleRate: sampleRate)
    low1.coefficient = Ramp(top)
    low2.coefficient = Ramp(top)
    high.coefficient = Ramp(OnePole.coefficient(cutoff: 120, sampleRate: sampleRate))
  }

  func deallocate() { line.deallocate() }

  /// One frame.
  @inline(__always) @_noLocks
  mutating func process(_ input: SIMD2<Float>) -> SIMD2<Float> {
    line.write(low2.lowPass(low1.lowPass(high.highPass(input))))
    position = position &+ 1 == window ? 0 : position &+ 1
    let half = window / 2
    let other = position < half ? position &+ half : position &- half
    // sin² over the window: the two add up to 1.
    let turn = UInt32(UInt64(position) &* (1 << 31) / UInt64(window))
    let weight = Sine.value(turn)
    let share = weight * weight
    return line.read(window &- position) * share + line.read(window &- other) * (1 - share)
  }

  /// Forgets the past.
  @_noLocks
  mutating func reset() {
    line.clear()
    position = 0
    low1.reset()
    low2.reset()
    high.reset()
  }
}
