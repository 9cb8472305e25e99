import BacklineRealtime
import CBackline

/// Two to four bands by a tree of Linkwitz-Riley crossovers, with the all-passes that keep the branches in step: the bands
/// add up to the input with the phase of the crossovers and a flat level.
struct BandSplitter {
  static var mostBands: Int { @_noLocks get { 4 } }
  static let defaultFrequencies: [Float] = [200, 1000, 5000]

  /// The parameters `bands` and `crossover1Frequency` to `crossover3Frequency`, handed to `setCount` and `setFrequency`.
  static func parameters(bands: Int) -> [ParameterDescription] {
    [.count("bands", "How many bands there are.", 2...4, default: bands)]
      + defaultFrequencies.enumerated().map { index, frequency in
        .init(
          "crossover\(index + 1)Frequency",
          """
          Where band \(index + 1) ends and band \(index + 2) begins, both 6 dB down; never below the crossover before, \
          without effect where there are fewer bands.
          """, 20...20_000, default: frequency, measure: .hertz, taper: .logarithmic)
      }
  }

  private(set) var count: Int32
  private var wanted: (Float, Float, Float) = (200, 1000, 5000)
  private var low: LinkwitzRiley
  private var middle: LinkwitzRiley
  private var high: LinkwitzRiley
  /// The all-passes of the low and the high crossover in the branch that does not pass them.
  private var lowAll: LinkwitzRiley
  private var highAll: LinkwitzRiley

  @_noLocks
  init(count: Int32, sampleRate: Double) {
    self.count = count
    low = LinkwitzRiley(frequency: 200, sampleRate: sampleRate)
    middle = LinkwitzRiley(frequency: 1000, sampleRate: sampleRate)
    high = LinkwitzRiley(frequency: 5000, sampleRate: sampleRate)
    lowAll = low
    highAll = high
  }

  /// Sets the frequency of the crossover with this index from 0.
  @_noLocks
  mutating func setFrequency(_ index: Int, _ value: Float, over frames: Int32) {
    switch index {
    case 0: wanted.0 = value
    case 1: wanted.1 = value
    default: wanted.2 = value
    }
    let second = max(wanted.0, wanted.1), third = max(second, wanted.2)
    low.move(to: wanted.0, over: frames)
    lowAll.move(to: wanted.0, over: frames)
    middle.move(to: second, over: frames)
    high.move(to: third, over: frames)
    highAll.move(to: third, over: frames)
  }

  /// The same crossovers for another number of bands, at rest.
  @_noLocks
  func remade(count: Int32) -> BandSplitter {
    var other = self
    other.count = count
    other.clear()
    return other
  }

  /// The bands of one frame, in `bands`; those beyond the count are silent.
  @inline(__always) @_noLocks
  mutating func split(_ x: SIMD2<Double>, _ bands: inout InlineArray<4, SIMD2<Double>>) {
    switch count {
    case 2:
      (bands[0], bands[1]) = low.split(x)
      bands[2] = .zero
      bands[3] = .zero
    case 3:
      let halves = middle.split(x)
      (bands[0], bands[1]) = low.split(halves.low)
      bands[2] = lowAll.all(halves.high)
      bands[3] = .zero
    default:
      let halves = middle.split(x)
      (bands[0], bands[1]) = low.split(highAll.all(halves.low))
      (bands[2], bands[3]) = high.split(lowAll.all(halves.high))
    }
    low.advance()
    middle.advance()
    high.advance()
    lowAll.advance()
    highAll.advance()
  }

  @_noLocks
  mutating func reset() { clear() }

  @_noLocks
  private mutating func clear() {
    low.reset()
    middle.reset()
    high.reset()
    lowAll.reset()
    highAll.reset()
  }

  /// The frames until the sound has fallen below -140 dB.
  var tail: Double { @_noLocks get { low.tail + middle.tail + high.tail + max(lowAll.tail, highAll.tail) } }
}
