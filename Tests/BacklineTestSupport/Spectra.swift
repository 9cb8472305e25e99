import CBackline

/// Spectra of periodic signals, worked out line by line.
public enum Spectra {
  /// The number of frames after which both `frequency` and the sample rate (whole Hz) repeat, in whole periods.
  public static func period(of frequency: Int, sampleRate: Int) -> Int {
    func divisor(_ a: Int, _ b: Int) -> Int { b == 0 ? a : divisor(b, a % b) }
    return sampleRate / divisor(frequency, sampleRate)
  }

  /// The amplitudes of the lines of a signal that repeats after its length, from 0 to half the sample rate. Recursive
  /// (Goertzel) in Double.
  public static func lines(_ signal: ArraySlice<Float>) -> [Double] {
    let count = signal.count
    return (0...count / 2).map { line in
      let angle = 2 * .pi * Double(line) / Double(count)
      let coefficient = 2 * backline_cos(angle)
      var (one, two) = (0.0, 0.0)
      for sample in signal { (one, two) = (Double(sample) + coefficient * one - two, one) }
      let power = one * one + two * two - coefficient * one * two
      return (line == 0 ? 1 : 2) * backline_sqrt(max(0, power)) / Double(count)
    }
  }

  /// The loudest line below `limit` Hz that is no harmonic of `frequency`, in dB against the loudest that is one.
  public static func worstAlias(_ signal: [Float], frequency: Int, sampleRate: Int, limit: Double) -> Double {
    let period = period(of: frequency, sampleRate: sampleRate)
    let count = period * max(1, 400 / period)
    let lines = lines(signal.suffix(count))
    let spacing = Double(sampleRate) / Double(count)
    let step = Int((Double(frequency) / spacing).rounded())
    let aliases = lines.indices.filter { $0 % step != 0 && Double($0) * spacing <= limit }
    let loudest = lines.indices.filter { $0 > 0 && $0 % step == 0 }.map { lines[$0] }.max() ?? 1
    return decibels((aliases.map { lines[$0] }.max() ?? 0) / loudest)
  }

  public static func decibels(_ ratio: Double) -> Double { 20 * backline_log(max(ratio, 1e-20)) / backline_log(10) }

  /// The decay time of a band (a twofold band-pass of Q 1.4) of an impulse response by Schroeder's backward integration, from -5 to
  /// -35 dB by least squares, in seconds.
  public static func decayTime(_ response: [Float], at frequency: Double, sampleRate: Double) -> Double {
    let angle = 2 * .pi * frequency / sampleRate, alpha = backline_sin(angle) / (2 * 1.414)
    var energy = response.map { Double($0) }
    for _ in 0..<2 {
      var (x1, x2, y1, y2) = (0.0, 0.0, 0.0, 0.0)
      for i in energy.indices {
        let x = energy[i]
        let y = (alpha * (x - x2) + 2 * backline_cos(angle) * y1 - (1 - alpha) * y2) / (1 + alpha)
        (x2, x1, y2, y1) = (x1, x, y1, y)
        energy[i] = y
      }
    }
    for i in energy.indices { energy[i] *= energy[i] }
    for i in energy.indices.reversed().dropFirst() { energy[i] += energy[i + 1] }
    guard let start = energy.firstIndex(where: { $0 <= energy[0] * 0.316_23 }),
      let end = energy.firstIndex(where: { $0 <= energy[0] * 0.000_316_23 })
    else { return .nan }
    var (n, sx, sy, sxx, sxy) = (0.0, 0.0, 0.0, 0.0, 0.0)
    for i in stride(from: start, to: end, by: max(1, (end - start) / 100)) {
      let x = Double(i) / sampleRate, y = 10 * backline_log(energy[i]) / backline_log(10)
      (n, sx, sy, sxx, sxy) = (n + 1, sx + x, sy + y, sxx + x * x, sxy + x * y)
    }
    return -60 / ((n * sxy - sx * sy) / (n * sxx - sx * sx))
  }
}
