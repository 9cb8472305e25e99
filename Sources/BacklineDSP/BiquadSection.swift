import CBackline

/// A stereo second-order section in direct form 1, left and right in the two lanes of a vector.
///
/// Direct form 1, because its state is nothing but the last two input and output samples: coefficients may move while it
/// runs without a jump in what they act on. Its critical path is one multiplication and one subtraction a frame. In Double,
/// since direct forms at low frequencies lose about as many bits as the poles are close to the unit circle.
typealias BiquadSection = StereoSection

extension StereoSection {
  /// A section that leaves the signal as it is.
  static var identity: StereoSection {
    @_noLocks get {
      StereoSection(x1: .zero, x2: .zero, y1: .zero, y2: .zero, coefficients: StereoBiquad(.identity))
    }
  }

  /// Filters one frame.
  @inline(__always) @_noLocks
  mutating func next(_ x: SIMD2<Double>) -> SIMD2<Double> {
    let y = backline_stereo_biquad(coefficients, x, x1, x2, y1, y2)
    x2 = x1
    x1 = x
    y2 = y1
    y1 = y
    return y
  }

  /// Forgets the past sound.
  @_noLocks
  mutating func clear() {
    x1 = .zero
    x2 = .zero
    y1 = .zero
    y2 = .zero
  }

  /// The frames until the output has fallen below -140 dB, after the input has ended.
  var tail: Double {
    @_noLocks get {
      let newer = max(max(abs(x1[0]), abs(x1[1])), max(abs(y1[0]), abs(y1[1])))
      let older = max(max(abs(x2[0]), abs(x2[1])), max(abs(y2[0]), abs(y2[1])))
      return coefficients.lane.decay(from: 4 * max(1, max(newer, older)))
    }
  }
}

extension StereoBiquad {
  /// The same coefficients in both lanes.
  @_noLocks
  init(_ coefficients: BiquadCoefficients) {
    self.init(
      b0: SIMD2(repeating: coefficients.b0), b1: SIMD2(repeating: coefficients.b1),
      b2: SIMD2(repeating: coefficients.b2), a1: SIMD2(repeating: coefficients.a1),
      a2: SIMD2(repeating: coefficients.a2))
  }

  /// The coefficients of one lane.
  var lane: BiquadCoefficients {
    @_noLocks get { BiquadCoefficients(b0: b0[0], b1: b1[0], b2: b2[0], a1: a1[0], a2: a2[0]) }
  }
}
