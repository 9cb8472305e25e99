import CBackline

/// Takes the constant part out of both channels: a differentiator and a leaky integrator in Double, so that what an uneven curve
/// leaves behind dies away exactly and not to the last bit of a Float.
struct OffsetBlocker {
  private let pole: Double
  private var input = SIMD2<Double>(repeating: 0)
  private var output = SIMD2<Double>(repeating: 0)

  /// -3 dB at `cutoff` Hz.
  init(cutoff: Double, sampleRate: Double) { pole = backline_exp(-2 * .pi * cutoff / sampleRate) }

  /// Filters one frame.
  @inline(__always) @_noLocks
  mutating func next(_ frame: SIMD2<Float>) -> SIMD2<Float> {
    let x = Double(frame.x), y = Double(frame.y)
    output.x = x - input.x + pole * output.x
    output.y = y - input.y + pole * output.y
    input.x = x
    input.y = y
    return SIMD2(Float(output.x), Float(output.y))
  }

  /// Forgets the past.
  @_noLocks
  mutating func clear() {
    input = .zero
    output = .zero
  }
}
