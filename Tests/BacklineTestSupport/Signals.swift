import CBackline

/// Test signals, each with values that arithmetic can predict.
public enum Signals {
  /// A sine of `frequency` Hz.
  public static func sine(
    _ frequency: Double, frames: Int, amplitude: Float = 1, sampleRate: Double = 48_000
  ) -> [Float] {
    (0..<frames).map { amplitude * Float(backline_sin(2 * .pi * frequency * Double($0) / sampleRate)) }
  }

  /// One sample of height 1 at `frame`, zeros elsewhere.
  public static func impulse(at frame: Int = 0, frames: Int) -> [Float] {
    (0..<frames).map { $0 == frame ? 1 : 0 }
  }

  /// White noise from a fixed seed, uniform in ±amplitude.
  public static func noise(frames: Int, amplitude: Float = 1, seed: UInt64 = 1) -> [Float] {
    var generator = SeededGenerator(seed)
    return (0..<frames).map { _ in Float.random(in: -amplitude...amplitude, using: &generator) }
  }

  /// The root mean square.
  public static func rms<Samples: Collection<Float>>(_ samples: Samples) -> Float {
    guard !samples.isEmpty else { return 0 }
    let sum = samples.reduce(0.0) { $0 + Double($1) * Double($1) }
    return Float(backline_sqrt(sum / Double(samples.count)))
  }

  /// True when no sample is NaN or infinite.
  public static func isFinite(_ samples: [Float]) -> Bool { samples.allSatisfy(\.isFinite) }

  /// The largest magnitude.
  public static func peak<Samples: Collection<Float>>(_ samples: Samples) -> Float {
    samples.reduce(0) { max($0, abs($1)) }
  }

  /// The largest difference between neighbours.
  public static func largestStep(_ samples: [Float]) -> Float {
    zip(samples, samples.dropFirst()).reduce(0) { max($0, abs($1.1 - $1.0)) }
  }

  /// The complex amplitude of a sine of `frequency` Hz in `samples`, as magnitude (a full-scale sine gives 1).
  public static func amplitude(of frequency: Double, in samples: [Float], sampleRate: Double = 48_000) -> Double {
    var real = 0.0
    var imaginary = 0.0
    for (index, sample) in samples.enumerated() {
      let phase = 2 * .pi * frequency * Double(index) / sampleRate
      real += Double(sample) * backline_cos(phase)
      imaginary += Double(sample) * backline_sin(phase)
    }
    return 2 * backline_sqrt(real * real + imaginary * imaginary) / Double(max(1, samples.count))
  }
}

/// A small generator whose sequence is the same on every machine (xorshift64*).
public struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64

  public init(_ seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 | 1 }

  public mutating func next() -> UInt64 {
    state ^= state >> 12
    state ^= state << 25
    state ^= state >> 27
    return state &* 0x2545_F491_4F6C_DD1D
  }
}

extension Signals {
  /// One frame of the convolution of `signal` with `response`, by its definition, in Double.
  public static func convolution(_ signal: [Float], _ response: [Float], at frame: Int) -> Double {
    signal.withUnsafeBufferPointer { signal in
      response.withUnsafeBufferPointer { response in
        var sum = 0.0
        let first = max(0, frame - signal.count + 1)
        for i in first..<max(first, min(response.count, frame + 1)) {
          sum += Double(response[i]) * Double(signal[frame - i])
        }
        return sum
      }
    }
  }
}
