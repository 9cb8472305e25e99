import BacklineRealtime
import CBackline

/// Takes every so manieth frame of a signal whose upper part a Butterworth filter of the eighth order has taken away; for
/// measurements. Memory is allocated at creation and freed by `deallocate()`.
struct Decimator {
  private static var sectionCount: Int { @_noLocks get { 4 } }

  /// The frames from one that is taken to the next.
  let factor: Int
  private let sections: UnsafeMutablePointer<BiquadSection>
  private let order: UnsafeMutablePointer<UInt8>
  private var position = 0

  /// Keeps what is below `cutoff` Hz.
  init(factor: Int, cutoff: Double, sampleRate: Double) {
    self.factor = max(1, factor)
    sections = .allocate(capacity: Self.sectionCount)
    order = .allocate(capacity: Self.sectionCount)
    for index in 0..<Self.sectionCount {
      // The pole pairs of a Butterworth filter of the order 8.
      let q = 0.5 / backline_cos(.pi * Double(2 * index + 1) / 16)
      var section = BiquadSection.identity
      section.coefficients = StereoBiquad(
        BiquadCoefficients(.resonantLowPass, frequency: cutoff, gain: 0, q: q, sampleRate: sampleRate))
      (sections + index).initialize(to: section)
      (order + index).initialize(to: UInt8(index))
    }
  }

  func deallocate() {
    sections.deallocate()
    order.deallocate()
  }

  /// Filters `count` frames in place.
  @_noLocks
  func filter(_ samples: UnsafeMutablePointer<SIMD2<Double>>, _ count: Int) {
    backline_sections_run(sections, order, Int32(Self.sectionCount), samples, Int32(truncatingIfNeeded: count))
  }

  /// To be called once a frame: true for those to be taken.
  @inline(__always) @_noLocks
  mutating func takes() -> Bool {
    position &+= 1
    if position < factor { return false }
    position = 0
    return true
  }

  @_noLocks
  mutating func reset() {
    position = 0
    for index in 0..<Self.sectionCount { sections[index].clear() }
  }
}
