import CBackline

/// The filters of a graphic equalizer for one sample rate, and the weights that turn sliders into the gains of filters.
///
/// V. Välimäki and J. Liski, "Accurate cascade graphic equalizer", IEEE Signal Processing Letters 24 (2017), and the same for
/// thirds of an octave, DAFx 2017. Each filter falls to 0.4 of its gain in dB at the centres of its neighbours. An interaction
/// matrix holds how many dB each filter brings at each centre and halfway between, for one dB of its own; the pseudoinverse of
/// that matrix is computed once, here, on a control thread. Applied to the sliders it gives the gains of the filters, and
/// applied again to what the response of these still misses at the centres it corrects them.
///
/// All memory is freed by `deallocate()`.
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

  /// How much of a slider's gain a filter takes, in dB per dB: band by band.
  private let weights: UnsafeMutablePointer<Double>
  /// (cos ω - cos θ)² / sin² ω for the centre ω of a slider and θ of a band: slider by slider.
  private let distances: UnsafeMutablePointer<Double>
  private let cosines: UnsafeMutablePointer<Double>
  /// tan of half the bandwidth.
  private let halfWidths: UnsafeMutablePointer<Double>
  /// Room for the squared numerators and denominators of all bands, and for what is missing at the centres.
  private let numerators: UnsafeMutablePointer<Double>
  private let denominators: UnsafeMutablePointer<Double>
  private let missing: UnsafeMutablePointer<Double>
  /// The bands whose centres are clearly below half the sample rate; those above are left out.
  private let usedBands: Int

  /// The exact centre frequency of a band (IEC 61260, base ten).
  @_noLocks
  static func centre(_ band: Int) -> Double { 1000 * backline_pow(10, Double(band &- 17) / 10) }

  init(sampleRate: Double) {
    let count = Self.bandCount
    weights = Self.allocate(count * count)
    distances = Self.allocate(count * count)
    cosines = Self.allocate(count)
    halfWidths = Self.allocate(count)
    numerators = Self.allocate(count)
    denominators = Self.allocate(count)
    missing = Self.allocate(count)
    usedBands = (0..<count).filter { Self.centre($0) < 0.47 * sampleRate }.count
    let angles = (0..<usedBands).map { 2 * Double.pi * Self.centre($0) / sampleRate }
    for (band, angle) in angles.enumerated() {
      // The upper edge is the centre above, held below half the rate; the lower one follows from the bilinear transform.
      let above = min(2 * Double.pi * Self.centre(band + 1) / sampleRate, max(0.92 * Double.pi, angle + 0.01))
      let middle = backline_tan(angle / 2)
      let below = 2 * backline_atan(middle * middle / backline_tan(above / 2))
      cosines[band] = backline_cos(angle)
      halfWidths[band] = backline_tan((above - below) / 2)
    }
    for slider in 0..<usedBands {
      for band in 0..<usedBands { distances[slider * count + band] = Self.distance(angles[slider], angles[band]) }
    }
    solve(angles)
  }

  private static func allocate(_ count: Int) -> UnsafeMutablePointer<Double> {
    let memory = UnsafeMutablePointer<Double>.allocate(capacity: count)
    memory.initialize(repeating: 0, count: count)
    return memory
  }

  func deallocate() {
    for memory in [weights, distances, cosines, halfWidths, numerators, denominators, missing] { memory.deallocate() }
  }

  /// (cos ω - cos θ)² / sin² ω, without the cancellation at low frequencies.
  private static func distance(_ omega: Double, _ theta: Double) -> Double {
    let difference = 2 * backline_sin((theta + omega) / 2) * backline_sin((theta - omega) / 2) / backline_sin(omega)
    return difference * difference
  }

  // MARK: Render thread

  /// Computes the gains of all filters in dB for the sliders in dB.
  @_noLocks
  func solve(sliders: UnsafePointer<Double>, gains: UnsafeMutablePointer<Double>) {
    for band in 0..<Self.bandCount { gains[band] = 0 }
    add(sliders, to: gains)
    for band in 0..<usedBands {
      let gain = backline_pow(10, gains[band] / 20), width = width(band, gain: gains[band])
      numerators[band] = gain * width * (gain * width)
      denominators[band] = width * width
    }
    for slider in 0..<usedBands {
      let row = distances + slider * Self.bandCount
      var power = 1.0
      for band in 0..<usedBands { power *= (row[band] + numerators[band]) / (row[band] + denominators[band]) }
      missing[slider] = sliders[slider] - Self.decibels(power)
    }
    add(missing, to: gains)
  }

  @_noLocks
  private func add(_ targets: UnsafePointer<Double>, to gains: UnsafeMutablePointer<Double>) {
    for band in 0..<usedBands {
      var sum = 0.0
      for slider in 0..<usedBands { sum += weights[band * Self.bandCount + slider] * targets[slider] }
      gains[band] += sum
    }
  }

  @_noLocks
  private static func decibels(_ power: Double) -> Double { 10 * backline_log(power) / backline_log(10) }

  /// The peak filter of a band for a gain in dB.
  ///
  /// After Orfanidis, "Introduction to Signal Processing" (1996), with the gain at the edge of the band a part of that at
  /// the centre in dB.
  @_noLocks
  func filter(_ band: Int, gain decibels: Double) -> BiquadCoefficients {
    if decibels == 0 { return .identity }
    let gain = backline_pow(10, decibels / 20), width = width(band, gain: decibels)
    let a0 = 1 + width
    let middle = -2 * cosines[band] / a0
    return BiquadCoefficients(
      b0: (1 + gain * width) / a0, b1: middle, b2: (1 - gain * width) / a0, a1: middle, a2: (1 - width) / a0)
  }

  /// tan of half the bandwidth of the poles.
  @_noLocks
  private func width(_ band: Int, gain decibels: Double) -> Double {
    let gain = backline_pow(10, decibels / 20)
    let edge = backline_pow(10, decibels * Self.leakage / 20)
    // Where the gain goes to 0 dB, the ratio below goes to that of the parts in dB.
    let ratio =
      abs(decibels) < 1e-4
      ? Self.leakage / (1 - Self.leakage) : abs(edge * edge - 1) / abs(gain * gain - edge * edge)
    return backline_sqrt(ratio) * halfWidths[band]
  }

  // MARK: Control thread

  /// Fills the weights: the solution of the normal equations for each slider.
  private func solve(_ angles: [Double]) {
    let used = usedBands
    let rows = max(0, 2 * used - 1)
    // Dimensionless: dB at a point for a dB of a band.
    var interaction = [[Double]](repeating: [Double](repeating: 0, count: used), count: rows)
    for band in 0..<used {
      let gain = backline_pow(10, Self.prototypeGain / 20), width = width(band, gain: Self.prototypeGain)
      for row in 0..<rows {
        let omega = angles[row / 2] * (row % 2 == 0 ? 1 : backline_pow(10, 0.05))
        let distance = Self.distance(omega, angles[band])
        let power = (distance + gain * width * gain * width) / (distance + width * width)
        interaction[row][band] = Self.decibels(power) / Self.prototypeGain
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
