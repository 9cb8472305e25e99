import CBackline

/// The filters of a graphic equalizer for one sample rate, and the weights that turn sliders into the gains of filters.
///
/// V. Välimäki and J. Liski, "Accurate cascade graphic equalizer", IEEE Signal Processing Letters 24 (2017), and the same for
/// thirds of an octave, DAFx 2017. Each filter falls to 0.4 of its gain in dB at the centres of its neighbours. An interaction
/// matrix holds how many dB each filter brings at each centre and halfway between, for one dB of its own; the pseudoinverse of
/// that matrix is computed once, here, on a control thread. All memory is freed by `deallocate()`.
struct GraphicEqualizerDesign {
  static var bandCount: Int { @_noLocks get { 31 } }

  /// The nominal frequencies of ISO 266.
  static let labels = [
    "20 Hz", "25 Hz", "31.5 Hz", "40 Hz", "50 Hz", "63 Hz", "80 Hz", "100 Hz", "125 Hz", "160 Hz", "200 Hz", "250 Hz",
    "315 Hz", "400 Hz", "500 Hz", "630 Hz", "800 Hz", "1 kHz", "1.25 kHz", "1.6 kHz", "2 kHz", "2.5 kHz", "3.15 kHz",
    "4 kHz", "5 kHz", "6.3 kHz", "8 kHz", "10 kHz", "12.5 kHz", "16 kHz", "20 kHz",
  ]

  /// The gain in dB for which the interaction is computed.
  private static var prototypeGain: Double { @_noLocks get { 17 } }
  /// What is left of a filter's gain in dB at its neighbours' centres.
  private static var leakage: Double { @_noLocks get { 0.4 } }

  private let weights: UnsafeMutablePointer<Double>
  private let cosines: UnsafeMutablePointer<Double>
  /// tan of half the bandwidth.
  private let halfWidths: UnsafeMutablePointer<Double>
  private let sampleRate: Double

  /// The exact centre frequency of a band (IEC 61260, base ten).
  @_noLocks
  static func centre(_ band: Int) -> Double { 1000 * backline_pow(10, Double(band &- 17) / 10) }

  init(sampleRate: Double) {
    self.sampleRate = sampleRate
    let count = Self.bandCount
    weights = .allocate(capacity: count * count)
    weights.initialize(repeating: 0, count: count * count)
    cosines = .allocate(capacity: count)
    cosines.initialize(repeating: 0, count: count)
    halfWidths = .allocate(capacity: count)
    halfWidths.initialize(repeating: 0, count: count)
    for band in 0..<count {
      let angle = 2 * Double.pi * Self.centre(band) / sampleRate
      if angle > 0.94 * .pi { continue }
      // The upper edge is the centre above, held below half the rate; the lower one follows from the bilinear transform.
      let above = min(2 * Double.pi * Self.centre(band + 1) / sampleRate, 0.92 * Double.pi)
      let middle = backline_tan(angle / 2)
      let below = 2 * backline_atan(middle * middle / backline_tan(above / 2))
      cosines[band] = backline_cos(angle)
      halfWidths[band] = backline_tan((above - below) / 2)
    }
    solve()
  }

  func deallocate() {
    weights.deallocate()
    cosines.deallocate()
    halfWidths.deallocate()
  }

  /// The bands whose centres are clearly below half the sample rate; those above are left out.
  private var usedBands: Int { (0..<Self.bandCount).filter { Self.centre($0) < 0.47 * sampleRate }.count }

  /// How much of a slider's gain a filter takes, in dB per dB.
  @inline(__always) @_noLocks
  func weight(_ band: Int, _ slider: Int) -> Double { weights[band * Self.bandCount + slider] }

  /// The peak filter of a band for a gain in dB.
  ///
  /// After Orfanidis, "Introduction to Signal Processing" (1996), with the gain at the edge of the band a part of that at
  /// the centre in dB.
  @_noLocks
  func filter(_ band: Int, gain decibels: Double) -> BiquadCoefficients {
    if decibels == 0 { return .identity }
    let limited = max(-60, min(decibels, 60))
    let gain = backline_pow(10, limited / 20)
    let edge = backline_pow(10, limited * Self.leakage / 20)
    // Where the gain goes to 0 dB, the ratio below goes to that of the parts in dB.
    let ratio =
      abs(limited) < 1e-4
      ? Self.leakage / (1 - Self.leakage) : abs(edge * edge - 1) / abs(gain * gain - edge * edge)
    let beta = backline_sqrt(ratio) * halfWidths[band]
    let a0 = 1 + beta
    let middle = -2 * cosines[band] / a0
    return BiquadCoefficients(
      b0: (1 + gain * beta) / a0, b1: middle, b2: (1 - gain * beta) / a0, a1: middle, a2: (1 - beta) / a0)
  }

  /// The gain of a filter in dB at an angle of the unit circle.
  private func response(_ filter: BiquadCoefficients, _ angle: Double) -> Double {
    func power(_ c0: Double, _ c1: Double, _ c2: Double) -> Double {
      let real = c0 + c1 * backline_cos(angle) + c2 * backline_cos(2 * angle)
      let imaginary = c1 * backline_sin(angle) + c2 * backline_sin(2 * angle)
      return real * real + imaginary * imaginary
    }
    let ratio = power(filter.b0, filter.b1, filter.b2) / power(1, filter.a1, filter.a2)
    return 10 * backline_log(ratio) / backline_log(10)
  }

  /// Fills the weights: the solution of the normal equations for each slider.
  private func solve() {
    let used = usedBands
    let rows = max(0, 2 * used - 1)
    // Dimensionless: dB at a point for a dB of a band.
    var interaction = [[Double]](repeating: [Double](repeating: 0, count: used), count: rows)
    for band in 0..<used {
      let prototype = filter(band, gain: Self.prototypeGain)
      for row in 0..<rows {
        let frequency = Self.centre(row / 2) * (row % 2 == 0 ? 1 : backline_pow(10, 0.05))
        interaction[row][band] = response(prototype, 2 * .pi * frequency / sampleRate) / Self.prototypeGain
      }
    }
    // Halfway between two sliders the target is their mean, and counts little.
    let importance = (0..<rows).map { $0 % 2 == 0 ? 1.0 : 0.1 }
    var matrix = [[Double]](repeating: [Double](repeating: 0, count: 2 * used), count: used)
    for i in 0..<used {
      for j in 0..<used {
        for row in 0..<rows { matrix[i][j] += importance[row] * interaction[row][i] * interaction[row][j] }
      }
      for row in 0..<rows {
        let part = importance[row] * interaction[row][i]
        if row % 2 == 0 {
          matrix[i][used + row / 2] += part
        } else {
          matrix[i][used + row / 2] += part / 2
          matrix[i][used + row / 2 + 1] += part / 2
        }
      }
    }
    eliminate(&matrix, used)
    for i in 0..<used { for j in 0..<used { weights[i * Self.bandCount + j] = matrix[i][used + j] } }
  }

  /// Gauss-Jordan elimination; the matrix is symmetric and positive definite, so that no pivoting is needed.
  private func eliminate(_ matrix: inout [[Double]], _ count: Int) {
    for column in 0..<count {
      let pivot = matrix[column][column]
      for j in 0..<2 * count { matrix[column][j] /= pivot }
      for row in 0..<count where row != column {
        let factor = matrix[row][column]
        if factor == 0 { continue }
        for j in column..<2 * count { matrix[row][j] -= factor * matrix[column][j] }
      }
    }
  }
}
