import BacklineRealtime
import CBackline

/// The static curve of a compressor: the reduction for a level. Levels are in octaves of amplitude (6.02 dB), since powers
/// of 2 are the cheapest to compute.
struct CompressorCurve {
  /// The dB of an octave of amplitude, 20 log10 2.
  static var decibelsPerOctave: Float { @_noLocks get { 6.020_599_9 } }
  /// The loudest and the softest level that are told apart, ±120.4 dB full scale.
  private static var limit: Float { @inline(__always) @_noLocks get { 1_048_576 } }

  private let start: Float
  private let knee: Float
  private let perKnee: Float
  private let slope: Float

  /// `threshold` and `knee` in octaves, `slope` is 1 - 1 / ratio.
  @inline(__always) @_noLocks
  init(threshold: Float, knee: Float, slope: Float) {
    start = threshold - knee / 2
    self.knee = knee
    perKnee = knee > 0 ? 0.5 / knee : 0
    self.slope = slope
  }

  /// The curve and what else the loop over many frames has to know.
  @_noLocks
  func settings(added: Float, attack: Float, release: Float) -> CompressorSettings {
    CompressorSettings(
      start: start, knee: knee, perKnee: perKnee, slope: slope, added: added, attack: attack, release: release)
  }

  /// The level of the peak of a frame, held to the range that is told apart.
  @inline(__always) @_noLocks
  static func level(_ left: Float, _ right: Float) -> Float {
    let a = abs(left), b = abs(right)
    let peak = a > b ? a : b
    let low = peak > 1 / limit ? peak : 1 / limit
    return FastMath.log2(low < limit ? low : limit)
  }

  /// The level of a mean square, held to the same range.
  @inline(__always) @_noLocks
  static func level(meanSquare: Double) -> Float {
    let low = Float(meanSquare) > 1 / (limit * limit) ? Float(meanSquare) : 1 / (limit * limit)
    return 0.5 * FastMath.log2(low < limit * limit ? low : limit * limit)
  }

  /// The reduction in octaves for the peak of a frame.
  @inline(__always) @_noLocks
  func reduction(_ left: Float, _ right: Float) -> Float { reduction(Self.level(left, right)) }

  /// The reduction in octaves for a level.
  ///
  /// This is the soft knee of Giannoulis, Massberg and Reiss (2012), equation 4, written without branches: the squared
  /// part ends where the straight one begins.
  @inline(__always) @_noLocks
  func reduction(_ level: Float) -> Float {
    let over = level - start
    let above = over > 0 ? over : 0
    let curved = above < knee ? above : knee
    return slope * (curved * curved * perKnee + (above - curved))
  }
}
