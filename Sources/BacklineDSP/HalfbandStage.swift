import BacklineRealtime
import CBackline

/// A linear-phase halfband filter of one channel in polyphase form, once up and once down by a factor of 2.
///
/// Every other coefficient of a halfband filter is zero, so that one phase is a delay and the other a symmetric filter at the
/// low rate (Crochiere and Rabiner, "Multirate Digital Signal Processing", 1983, section 7.7). Kaiser's window with 100 dB
/// of attenuation (Kaiser, "Nonrecursive digital filter design using the I0-sinh window function", ISCAS 1974).
struct HalfbandStage {
  /// The coefficients on one side, without the middle; the filter has 4 · pairs - 1.
  private let pairs: Int
  private let history: Int
  /// Coefficients times 2 for the way up, then as they are for the way down.
  private let taps: UnsafeMutablePointer<Float>
  private let input: UnsafeMutablePointer<Float>
  private let even: UnsafeMutablePointer<Float>
  private let odd: UnsafeMutablePointer<Float>

  /// A stage for pieces of at most `longest` frames at the low rate. `pairs` sets the width of the transition.
  init(pairs: Int, longest: Int) {
    self.pairs = pairs
    history = 2 * pairs
    taps = SampleMemory.allocate(2 * pairs)
    input = SampleMemory.allocate(history + longest)
    even = SampleMemory.allocate(history + longest)
    odd = SampleMemory.allocate(history + longest)
    let coefficients = Self.design(pairs)
    for i in 0..<pairs {
      taps[i] = Float(2 * coefficients[i])
      taps[pairs + i] = Float(coefficients[i])
    }
  }

  func deallocate() {
    SampleMemory.free(taps)
    SampleMemory.free(input)
    SampleMemory.free(even)
    SampleMemory.free(odd)
  }

  /// The delay of a way up and down, in frames at the high rate.
  static func delay(pairs: Int) -> Int { 4 * pairs - 2 }

  private static func design(_ pairs: Int) -> [Double] {
    let centre = Double(2 * pairs - 1), beta = 10.06
    let half = (0..<pairs).map { i in
      let k = 2 * Double(i) - centre
      let window = bessel(beta * backline_sqrt(1 - (k / (centre + 1)) * (k / (centre + 1)))) / bessel(beta)
      return backline_sin(.pi * k / 2) / (.pi * k) * window
    }
    let sum = 2 * half.reduce(0, +)
    return half.map { $0 * 0.5 / sum }
  }

  /// The modified Bessel function of the first kind, order 0.
  private static func bessel(_ x: Double) -> Double {
    var (sum, term, k) = (1.0, 1.0, 1.0)
    while term > 1e-17 * sum {
      term *= (x / (2 * k)) * (x / (2 * k))
      sum += term
      k += 1
    }
    return sum
  }

  /// Makes twice as many frames out of `count`.
  @_noLocks
  func up(
    _ from: UnsafePointer<Float>, _ to: UnsafeMutablePointer<Float>, _ scratch: UnsafeMutablePointer<Float>, count: Int
  ) {
    let now = input + history
    backline_copy(now, from, Int64(count))
    backline_symmetric_fir(scratch, now, taps, Int64(pairs), Int64(count))
    let middle = now - (pairs &- 1)
    for i in 0..<max(0, count) {
      to[2 &* i] = scratch[i]
      to[2 &* i &+ 1] = middle[i]
    }
    keep(input, count)
  }

  /// Makes half as many frames, `count`, out of twice that.
  @_noLocks
  func down(_ from: UnsafePointer<Float>, _ to: UnsafeMutablePointer<Float>, count: Int) {
    let evenNow = even + history, oddNow = odd + history
    for i in 0..<max(0, count) {
      evenNow[i] = from[2 &* i]
      oddNow[i] = from[2 &* i &+ 1]
    }
    backline_symmetric_fir(to, evenNow, taps + pairs, Int64(pairs), Int64(count))
    let middle = oddNow - pairs
    for i in 0..<max(0, count) { to[i] += 0.5 * middle[i] }
    keep(even, count)
    keep(odd, count)
  }

  @_noLocks
  func clear() {
    backline_zero(input, Int64(history))
    backline_zero(even, Int64(history))
    backline_zero(odd, Int64(history))
  }

  /// Moves the last samples to the front. In order, so that the areas may overlap.
  @inline(__always) @_noLocks
  private func keep(_ buffer: UnsafeMutablePointer<Float>, _ count: Int) {
    for i in 0..<max(0, history) { buffer[i] = buffer[i &+ count] }
  }
}
