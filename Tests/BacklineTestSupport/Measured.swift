import CBackline

/// Figures taken from signals, computed in Double by definitions that no unit under test uses.
public enum Measured {
  /// The level of a factor in dB.
  public static func decibels(_ factor: Double) -> Double { 20 * backline_log(max(factor, 1e-30)) / backline_log(10) }

  /// The factor of a level in dB.
  public static func factor(_ decibels: Double) -> Double { backline_pow(10, decibels / 20) }

  /// The response in dB at a frequency, from an impulse response.
  public static func response(at frequency: Double, _ impulseResponse: [Float], sampleRate: Double) -> Double {
    decibels(
      Signals.amplitude(of: frequency, in: impulseResponse, sampleRate: sampleRate) * Double(impulseResponse.count) / 2)
  }

  /// The largest magnitude of the band-limited signal through the samples, looked for at `factor` places a sample: a sinc
  /// under a Kaiser window (β 9) of 128 samples.
  public static func truePeak(_ samples: [Float], factor: Int) -> Double {
    let half = 64
    var largest = 0.0
    for phase in 0..<factor {
      let shift = Double(phase) / Double(factor)
      let taps = (-half + 1...half).map { tap in
        let x = Double(tap) - shift
        let window = kaiser(x / Double(half), beta: 9)
        return window * (abs(x) < 1e-12 ? 1 : backline_sin(.pi * x) / (.pi * x))
      }
      taps.withUnsafeBufferPointer { taps in
        samples.withUnsafeBufferPointer { samples in
          for centre in 0..<samples.count {
            let from = max(0, centre - half + 1), to = min(samples.count - 1, centre + half)
            if from > to { continue }
            var sum = 0.0
            for i in from...to { sum += Double(samples[i]) * taps[i - centre + half - 1] }
            largest = max(largest, abs(sum))
          }
        }
      }
    }
    return largest
  }

  private static func kaiser(_ x: Double, beta: Double) -> Double {
    abs(x) >= 1 ? 0 : bessel(beta * backline_sqrt(1 - x * x)) / bessel(beta)
  }

  /// The modified Bessel function of order 0, by its series.
  private static func bessel(_ x: Double) -> Double {
    var term = 1.0, sum = 1.0
    for k in 1..<60 {
      term *= (x / 2 / Double(k)) * (x / 2 / Double(k))
      sum += term
    }
    return sum
  }

  /// A number with this many decimal places, for a line of output.
  public static func text(_ value: Double, _ places: Int = 3) -> String {
    var scale = 1.0
    for _ in 0..<places { scale *= 10 }
    return "\((value * scale).rounded() / scale)"
  }
}
