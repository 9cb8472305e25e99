import BacklineRealtime
import CBackline

/// One voice of a pitch shifter: moves every peak's region to where its frequency times the ratio lies.
///
/// Laroche and Dolson (WASPAA 1999): a region moves as a whole, by a fraction of a bin where need be, read between bins by the
/// cubic of Lagrange; and turns as a whole, by the phase that the difference of the frequencies has gone through since the start. So the
/// phases within a region stay as they are, and a ratio of 1 gives the input back.
struct SpectralShift {
  private let binCount: Int
  private let hop: Int
  /// The turn of each bin's region in turns, for the next frame; and of the frame before.
  private let turns: UnsafeMutablePointer<Float>
  private let turnsBefore: UnsafeMutablePointer<Float>

  init(binCount: Int, hop: Int) {
    self.binCount = binCount
    self.hop = hop
    turns = SampleMemory.allocate(binCount)
    turnsBefore = SampleMemory.allocate(binCount)
  }

  func deallocate() {
    SampleMemory.free(turns)
    SampleMemory.free(turnsBefore)
  }

  /// Adds the shifted spectra to the ones that go back.
  @_noLocks
  func shift(_ frames: borrowing SpectralFrames, _ peaks: borrowing SpectralPeaks, ratio: Float) {
    backline_copy(turnsBefore, turns, Int64(binCount))
    let binsPerRadian = Float(binCount &- 1) / .pi
    for index in 0..<max(0, peaks.count) {
      let peak = peaks[index]
      let difference = (ratio - 1) * peak.frequency
      var turn = turnsBefore[Int(peak.bin)] + difference * Float(hop) * (0.5 / .pi)
      turn -= backline_floorf(turn)
      for k in Int(peak.start)..<max(Int(peak.start), Int(peak.end)) { turns[k] = turn }
      let phase = UInt32(truncatingIfNeeded: Int64(turn * 0x1p32))
      move(frames, peak, by: difference * binsPerRadian, sine: Sine.value(phase), cosine: Sine.value(phase &+ 1 << 30))
    }
    if peaks.count == 0 { backline_zero(turns, Int64(binCount)) }
  }

  /// Adds a region, moved by `bins` and turned.
  @_noLocks
  private func move(
    _ frames: borrowing SpectralFrames, _ peak: SpectralPeaks.Peak, by bins: Float, sine: Float, cosine: Float
  ) {
    let floor = backline_floorf(bins)
    let whole = Int(floor)
    // The target bin j reads at j - bins, which is between j - whole - 1 and j - whole.
    let t = 1 - (bins - floor)
    let a = -t * (t - 1) * (t - 2) * (1 / 6), b = (t + 1) * (t - 1) * (t - 2) * 0.5
    let c = -(t + 1) * t * (t - 2) * 0.5, d = (t + 1) * t * (t - 1) * (1 / 6)
    let first = max(0, max(Int(peak.start), 2) &+ whole)
    let last = min(binCount, min(Int(peak.end), binCount &- 2) &+ whole)
    for channel in 0..<2 {
      let real = frames.real(channel), imaginary = frames.imaginary(channel)
      let newReal = frames.newReal(channel), newImaginary = frames.newImaginary(channel)
      for j in first..<max(first, last) {
        let k = j &- whole
        let re = a * real[k &- 2] + b * real[k &- 1] + c * real[k] + d * real[k &+ 1]
        let im = a * imaginary[k &- 2] + b * imaginary[k &- 1] + c * imaginary[k] + d * imaginary[k &+ 1]
        newReal[j] += re * cosine - im * sine
        newImaginary[j] += re * sine + im * cosine
      }
    }
  }

  /// Forgets all turns.
  @_noLocks
  func clear() { backline_zero(turns, Int64(binCount)) }
}
