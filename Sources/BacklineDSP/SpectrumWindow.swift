import BacklineRealtime
import CBackline

/// The power spectrum of both channels' last samples, anew every half of its length. Memory is allocated at creation and
/// freed by `deallocate()`.
struct SpectrumWindow {
  private let fourier: FourierTransform
  private let length: Int
  private let binWidth: Double
  /// The seconds from one transform to the next.
  let hopSeconds: Double
  private let history: UnsafeMutablePointer<SIMD2<Float>>
  private let window: UnsafeMutablePointer<Float>
  private let windowed: UnsafeMutablePointer<Float>
  private let real: UnsafeMutablePointer<Float>
  private let imaginary: UnsafeMutablePointer<Float>
  /// The mean power of both channels in each bin.
  private let bins: UnsafeMutablePointer<Float>
  private let scale: Float
  private var position = 0
  private var untilTransform: Int

  /// Of `length` samples, a power of 2, at `sampleRate` Hz. Control threads.
  init(length: Int, sampleRate: Double) {
    self.length = length
    fourier = .of(length: length)
    binWidth = sampleRate / Double(length)
    hopSeconds = Double(length / 2) / sampleRate
    history = .allocate(capacity: length)
    history.initialize(repeating: .zero, count: length)
    window = SampleMemory.allocate(length)
    var sum = 0.0
    for i in 0..<length {
      let value = 0.5 - 0.5 * backline_cos(2 * .pi * Double(i) / Double(length))
      window[i] = Float(value)
      sum += value * value
    }
    windowed = SampleMemory.allocate(length)
    real = SampleMemory.allocate(FourierTransform.stride(length))
    imaginary = SampleMemory.allocate(FourierTransform.stride(length))
    bins = SampleMemory.allocate(length / 2 + 1)
    // Both halves of the spectrum, half of it for each channel.
    scale = Float(1 / (Double(length) * sum))
    untilTransform = length / 2
  }

  func deallocate() {
    history.deallocate()
    for memory in [window, windowed, real, imaginary, bins] { SampleMemory.free(memory) }
  }

  /// Takes a frame; true when a transform is due.
  @inline(__always) @_noLocks
  mutating func take(_ frame: SIMD2<Double>) -> Bool {
    // What is louder than 120 dB above full scale is no sound, and its power no Float.
    history[position] = SIMD2(Float(max(-1e6, min(frame.x, 1e6))), Float(max(-1e6, min(frame.y, 1e6))))
    position = (position &+ 1) & (length &- 1)
    untilTransform &-= 1
    if untilTransform > 0 { return false }
    untilTransform = length / 2
    return true
  }

  /// Computes the spectrum of what was taken.
  @_noLocks
  func transform() {
    for i in 0..<length { windowed[i] = history[(position &+ i) & (length &- 1)].x * window[i] }
    fourier.transform(windowed, real, imaginary)
    for bin in 0...length / 2 { bins[bin] = (real[bin] * real[bin] + imaginary[bin] * imaginary[bin]) * scale }
    for i in 0..<length { windowed[i] = history[(position &+ i) & (length &- 1)].y * window[i] }
    fourier.transform(windowed, real, imaginary)
    for bin in 0...length / 2 { bins[bin] += (real[bin] * real[bin] + imaginary[bin] * imaginary[bin]) * scale }
  }

  /// The mean square of both channels between two frequencies in Hz, held to half the rate.
  @_noLocks
  func power(from low: Double, to high: Double) -> Double {
    let first = low / binWidth + 0.5, end = min(high / binWidth + 0.5, Double(length / 2))
    if !(first < end) { return 0 }
    var bin = Int(first)
    var sum = 0.0
    while Double(bin) < end {
      let share = min(end, Double(bin &+ 1)) - max(first, Double(bin))
      sum += share * Double(bins[bin])
      bin &+= 1
    }
    return sum
  }

  @_noLocks
  mutating func reset() {
    for i in 0..<length { history[i] = .zero }
    position = 0
    untilTransform = length / 2
  }
}
