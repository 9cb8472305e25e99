import BacklineTestSupport
import CBackline

/// Spectra of periodic signals, worked out line by line.
enum Spectra {
  /// The number of frames after which both `frequency` and the sample rate (whole Hz) repeat, in whole periods.
  static func period(of frequency: Int, sampleRate: Int) -> Int {
    func divisor(_ a: Int, _ b: Int) -> Int { b == 0 ? a : divisor(b, a % b) }
    return sampleRate / divisor(frequency, sampleRate)
  }

  /// The amplitudes of the lines of a signal that repeats after its length, from 0 to half the sample rate. Recursive
  /// (Goertzel) in Double.
  static func lines(_ signal: ArraySlice<Float>) -> [Double] {
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
  static func worstAlias(_ signal: [Float], frequency: Int, sampleRate: Int, limit: Double) -> Double {
    let period = period(of: frequency, sampleRate: sampleRate)
    let count = period * max(1, 400 / period)
    let lines = lines(signal.suffix(count))
    let spacing = Double(sampleRate) / Double(count)
    let step = Int((Double(frequency) / spacing).rounded())
    let aliases = lines.indices.filter { $0 % step != 0 && Double($0) * spacing <= limit }
    let loudest = lines.indices.filter { $0 > 0 && $0 % step == 0 }.map { lines[$0] }.max() ?? 1
    return decibels((aliases.map { lines[$0] }.max() ?? 0) / loudest)
  }

  static func decibels(_ ratio: Double) -> Double { 20 * backline_log(max(ratio, 1e-20)) / backline_log(10) }
}
