import BacklineRealtime
import CBackline

/// Finds the pitch of a single note.
///
/// P. McLeod and G. Wyvill, "A smarter way to find pitch", ICMC 2005: the normalised square difference function of the last
/// samples, by a Fourier transform, and in it the first peak that nearly reaches the highest. A period is then measured over
/// as many periods as the window holds: each multiple is looked for where the ones before say, which makes it exact to a
/// fraction of a cent even where a period is a few samples. Memory is allocated at creation and freed by `deallocate()`.
struct PitchTracker {
  private static var length: Int { @_noLocks get { 1024 } }
  private static var longestLag: Int { @_noLocks get { 512 } }
  private static var hop: Int { @_noLocks get { 256 } }
  /// How near the highest peak the first one has to come.
  private static var nearness: Float { @_noLocks get { 0.9 } }
  /// What is softer than -70 dBFS is no note.
  private static var silence: Float { @_noLocks get { 1e-7 } }
  /// Below this, nothing periodic is there.
  private static var leastConfidence: Float { @_noLocks get { 0.5 } }

  private let sampleRate: Double
  private let fourier: FourierTransform
  private let history: UnsafeMutablePointer<Float>
  private let padded: UnsafeMutablePointer<Float>
  private let real: UnsafeMutablePointer<Float>
  private let imaginary: UnsafeMutablePointer<Float>
  private let likeness: UnsafeMutablePointer<Float>
  private var position = 0
  private var untilTrack = Self.hop

  /// The pitch in Hz; 0 while there is none.
  private(set) var frequency = 0.0
  /// How periodic the sound is, 0 to 1.
  private(set) var confidence: Float = 0

  /// For samples at `sampleRate` Hz, of which a low-pass filter has left a quarter of the spectrum. Control threads.
  init(sampleRate: Double) {
    self.sampleRate = sampleRate
    fourier = .of(length: 2 * Self.length)
    history = SampleMemory.allocate(Self.length)
    padded = SampleMemory.allocate(2 * Self.length)
    real = SampleMemory.allocate(FourierTransform.stride(2 * Self.length))
    imaginary = SampleMemory.allocate(FourierTransform.stride(2 * Self.length))
    likeness = SampleMemory.allocate(Self.longestLag + 2)
  }

  func deallocate() { for memory in [history, padded, real, imaginary, likeness] { SampleMemory.free(memory) } }

  /// Takes a sample; true when the pitch is to be found anew.
  @inline(__always) @_noLocks
  mutating func take(_ sample: Float) -> Bool {
    history[position] = sample
    position = (position &+ 1) & (Self.length &- 1)
    untilTrack &-= 1
    if untilTrack > 0 { return false }
    untilTrack = Self.hop
    return true
  }

  /// Finds the pitch of what was taken.
  @_noLocks
  mutating func track() {
    frequency = 0
    confidence = 0
    if !compareWithItself() { return }
    guard let first = firstPeak() else { return }
    confidence = max(0, min(likeness[first], 1))
    if confidence < Self.leastConfidence { return }
    frequency = sampleRate / period(first)
  }

  /// Fills `likeness` with the normalised square difference function; false in silence.
  @_noLocks
  private func compareWithItself() -> Bool {
    var mean = 0.0
    for i in 0..<Self.length { mean += Double(history[i]) }
    mean /= Double(Self.length)
    var power = 0.0
    for i in 0..<Self.length {
      let sample = history[(position &+ i) & (Self.length &- 1)] - Float(mean)
      padded[i] = sample
      power += Double(sample) * Double(sample)
    }
    if !(power > Double(Self.silence) * Double(Self.length)) { return false }
    // Scaled to a power of 1, so that no square of a square overflows.
    let scale = Float(1 / backline_sqrt(power))
    for i in 0..<Self.length {
      padded[i] *= scale
      padded[Self.length &+ i] = 0
    }
    var rest = 2.0
    fourier.transform(padded, real, imaginary)
    // The samples are needed for the normalisation, and the inverse transform takes their place.
    for lag in 0...Self.longestLag {
      if lag > 0 {
        let front = Double(padded[lag &- 1]), back = Double(padded[Self.length &- lag])
        rest -= front * front + back * back
      }
      likeness[lag] = Float(rest)
    }
    for bin in 0...Self.length {
      real[bin] = real[bin] * real[bin] + imaginary[bin] * imaginary[bin]
      imaginary[bin] = 0
    }
    fourier.invert(real, imaginary, padded)
    for lag in 0...Self.longestLag {
      let correlation = padded[lag] / Float(2 * Self.length)
      likeness[lag] = likeness[lag] > 1e-6 ? 2 * correlation / likeness[lag] : 0
    }
    return true
  }

  /// The first of the peaks that nearly reaches the highest; `nil` where there is none.
  @_noLocks
  private func firstPeak() -> Int? {
    var lag = 1
    while lag < Self.longestLag && likeness[lag] > 0 { lag &+= 1 }
    let start = lag
    var highest: Float = 0
    while lag < Self.longestLag {
      if isPeak(lag) && likeness[lag] > highest { highest = likeness[lag] }
      lag &+= 1
    }
    if highest <= 0 { return nil }
    lag = start
    while lag < Self.longestLag {
      if isPeak(lag) && likeness[lag] >= Self.nearness * highest { return lag }
      lag &+= 1
    }
    return nil
  }

  @inline(__always) @_noLocks
  private func isPeak(_ lag: Int) -> Bool {
    likeness[lag] > 0 && likeness[lag] > likeness[lag &- 1] && likeness[lag] >= likeness[lag &+ 1]
  }

  /// The place of a peak between the lags, by a parabola.
  @_noLocks
  private func refined(_ lag: Int) -> Double {
    let before = Double(likeness[lag &- 1]), middle = Double(likeness[lag]), after = Double(likeness[lag &+ 1])
    let bend = before - 2 * middle + after
    return bend < 0 ? Double(lag) + 0.5 * (before - after) / bend : Double(lag)
  }

  /// The period in samples, measured over as many as there are up to the longest lag.
  @_noLocks
  private func period(_ first: Int) -> Double {
    var period = refined(first)
    var count = 1.0
    while true {
      // One more while the place is uncertain, then up to twice as many.
      let next = count < 2 ? 2 : backline_floor(1.6 * count)
      let expected = next * period
      if expected > Double(Self.longestLag &- 2) { return period }
      guard let lag = peak(near: expected, within: period / 4), likeness[lag] > 0.6 * likeness[first] else {
        return period
      }
      period = refined(lag) / next
      count = next
    }
  }

  /// The highest peak not farther than `distance` from a place.
  @_noLocks
  private func peak(near place: Double, within distance: Double) -> Int? {
    var lag = max(1, Int(place - max(1, distance)))
    let end = min(Self.longestLag &- 1, Int(place + max(1, distance)) &+ 1)
    var best = 0
    var highest: Float = 0
    while lag <= end {
      if isPeak(lag) && likeness[lag] > highest {
        best = lag
        highest = likeness[lag]
      }
      lag &+= 1
    }
    return best > 0 ? best : nil
  }

  @_noLocks
  mutating func reset() {
    for i in 0..<Self.length { history[i] = 0 }
    position = 0
    untilTrack = Self.hop
    frequency = 0
    confidence = 0
  }
}
