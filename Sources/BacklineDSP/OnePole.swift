import BacklineRealtime
import CBackline

/// A first-order filter of both channels whose cutoff moves smoothly: 6 dB an octave, the gain nowhere above 1.
///
/// The trapezoidal integrator of Zavalishin ("The Art of VA Filter Design", 2012, chapter 3): exact cutoff, and stable
/// while the coefficient changes per sample.
struct OnePole {
  /// The integrator's share of the input, which stands for the cutoff frequency.
  var coefficient = Ramp(0)
  /// The integrators of both channels.
  var state = SIMD2<Float>(repeating: 0)

  /// The coefficient of a cutoff frequency in Hz, which is held below half the sample rate.
  @_noLocks
  static func coefficient(cutoff: Float, sampleRate: Double) -> Float {
    let warped = backline_tan(.pi * max(0, min(Double(cutoff) / sampleRate, 0.49)))
    return Float(warped / (1 + warped))
  }

  /// Filters one frame: what is below the cutoff.
  @inline(__always) @_noLocks
  mutating func lowPass(_ input: SIMD2<Float>) -> SIMD2<Float> {
    let change = (input - state) * coefficient.value
    let output = change + state
    state = output + change
    return output
  }

  /// Filters one frame: what is above the cutoff.
  @inline(__always) @_noLocks
  mutating func highPass(_ input: SIMD2<Float>) -> SIMD2<Float> { input - lowPass(input) }

  /// Forgets the past and ends the movement of the cutoff.
  @_noLocks
  mutating func reset() {
    state = SIMD2(repeating: 0)
    coefficient.settle()
  }
}
