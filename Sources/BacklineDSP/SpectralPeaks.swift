import BacklineRealtime
import CBackline

/// The peaks of a stereo spectrum with the regions around them and their exact frequencies.
///
/// A peak is a bin that is higher than its two neighbours on either side, its region ends half-way to the next (Laroche and Dolson,
/// "New phase-vocoder techniques for pitch-shifting, harmonizing and other exotic effects", WASPAA 1999). The frequency comes from
/// how far the phase of the peak has turned since the spectrum before. Both channels have the same peaks, so that what is
/// done to them leaves the stereo picture as it is.
struct SpectralPeaks {
  struct Peak {
    var bin: Int32
    /// The first bin of the region, and the one behind it.
    var start: Int32
    var end: Int32
    /// Radians a frame (of sound).
    var frequency: Float
  }

  private let binCount: Int
  private let hop: Int
  private let peaks: UnsafeMutablePointer<Peak>
  private let power: UnsafeMutablePointer<Float>
  /// The spectra before: real and imaginary, left and right.
  private let before: UnsafeMutablePointer<Float>
  private(set) var count = 0

  init(binCount: Int, hop: Int) {
    self.binCount = binCount
    self.hop = hop
    peaks = .allocate(capacity: binCount / 2 + 1)
    peaks.initialize(repeating: Peak(bin: 0, start: 0, end: 0, frequency: 0), count: binCount / 2 + 1)
    power = SampleMemory.allocate(binCount)
    before = SampleMemory.allocate(4 * binCount)
  }

  func deallocate() {
    peaks.deallocate()
    SampleMemory.free(power)
    SampleMemory.free(before)
  }

  @inline(__always) @_noLocks
  subscript(_ index: Int) -> Peak { peaks[index] }

  /// Finds the peaks of the spectra just analysed.
  @_noLocks
  mutating func find(_ frames: borrowing SpectralFrames) {
    let leftReal = frames.real(0), leftImaginary = frames.imaginary(0)
    let rightReal = frames.real(1), rightImaginary = frames.imaginary(1)
    for k in 0..<binCount {
      let left = leftReal[k] * leftReal[k] + leftImaginary[k] * leftImaginary[k]
      power[k] = left + rightReal[k] * rightReal[k] + rightImaginary[k] * rightImaginary[k]
    }
    count = 0
    var k = 2
    while k < binCount &- 2 {
      let here = power[k]
      if here > power[k &- 1] && here > power[k &- 2] && here >= power[k &+ 1] && here >= power[k &+ 2] {
        let start = count == 0 ? 0 : (peaks[count &- 1].bin &+ Int32(k) &+ 1) / 2
        if count > 0 { peaks[count &- 1].end = start }
        let left = leftReal[k] * leftReal[k] + leftImaginary[k] * leftImaginary[k]
        let isLeft = left * 2 >= here
        let frequency =
          isLeft
          ? frequency(k, leftReal[k], leftImaginary[k], before[k], before[binCount &+ k])
          : frequency(k, rightReal[k], rightImaginary[k], before[2 &* binCount &+ k], before[3 &* binCount &+ k])
        peaks[count] = Peak(bin: Int32(k), start: start, end: Int32(binCount), frequency: frequency)
        count &+= 1
        k &+= 2
      }
      k &+= 1
    }
    for k in 0..<binCount {
      before[k] = leftReal[k]
      before[binCount &+ k] = leftImaginary[k]
      before[2 &* binCount &+ k] = rightReal[k]
      before[3 &* binCount &+ k] = rightImaginary[k]
    }
  }

  /// The frequency of a bin from its phase now and before, in radians a frame.
  @_noLocks
  private func frequency(_ bin: Int, _ real: Float, _ imaginary: Float, _ oldReal: Float, _ oldImaginary: Float)
    -> Float
  {
    // A bin is π / (binCount - 1) wide.
    let centre = Double(bin) * .pi / Double(binCount &- 1)
    let turn = Double(hop) * centre
    // The quotient of the two spectra, turned back by what the bin's own frequency turns: what is left is the deviation.
    let re = Double(real) * Double(oldReal) + Double(imaginary) * Double(oldImaginary)
    let im = Double(imaginary) * Double(oldReal) - Double(real) * Double(oldImaginary)
    if re == 0 && im == 0 { return Float(centre) }
    let c = backline_cos(turn), s = backline_sin(turn)
    let deviation = backline_atan2(im * c - re * s, re * c + im * s)
    return Float(centre + deviation / Double(hop))
  }

  /// Forgets the spectra before.
  @_noLocks
  mutating func clear() {
    count = 0
    backline_zero(before, Int64(4 &* binCount))
  }
}
