import BacklineRealtime
import CBackline

/// The short-time spectra of a stereo signal and the way back: what pitch shifting and freezing work on.
///
/// Frames of 43 ms (at 44.1 and 48 kHz 2048 samples; twice as many for each doubling of the rate), a quarter apart, on
/// absolute frames that are multiples of that distance. Hann windows both ways, whose squares add up to a constant. The
/// transform is twice as long as a frame, with the middle of the frame at its first sample, so that spectra are smooth enough to
/// be read between their bins. What goes out is late by the length of a frame.
struct SpectralFrames {
  /// The length of a frame, which is the latency.
  let length: Int
  /// The distance of frames.
  let hop: Int
  /// The bins of a spectrum, 0 to half the rate, both included.
  let binCount: Int
  private let transform: FourierTransform
  private let stride: Int
  private let window: UnsafeMutablePointer<Float>
  /// The last `length` frames of each channel, as rings.
  private let inputs: UnsafeMutablePointer<Float>
  /// What is still to come of each channel, as rings.
  private let outputs: UnsafeMutablePointer<Float>
  private let work: UnsafeMutablePointer<Float>
  /// Real and imaginary parts, left and right.
  private let analysed: UnsafeMutablePointer<Float>
  private let synthesised: UnsafeMutablePointer<Float>
  private var position = 0

  /// The length of a frame at a sample rate.
  static func length(_ sampleRate: Double) -> Int {
    var length = 2048
    while Double(length) < 0.030 * sampleRate { length *= 2 }
    while length > 256 && Double(length) > 0.060 * sampleRate { length /= 2 }
    return length
  }

  /// Frames of `factor` (a power of 2) times the length.
  init(sampleRate: Double, factor: Int = 1) {
    length = Self.length(sampleRate) * factor
    hop = length / 4
    binCount = length + 1
    transform = FourierTransform.of(length: 2 * length)
    stride = FourierTransform.stride(2 * length)
    window = SampleMemory.allocate(length)
    inputs = SampleMemory.allocate(2 * length)
    outputs = SampleMemory.allocate(2 * length)
    work = SampleMemory.allocate(2 * length)
    analysed = SampleMemory.allocate(4 * stride)
    synthesised = SampleMemory.allocate(4 * stride)
    for i in 0..<length { window[i] = Float(0.5 - 0.5 * backline_cos(2 * .pi * (Double(i) + 0.5) / Double(length))) }
  }

  func deallocate() {
    for memory in [window, inputs, outputs, work, analysed, synthesised] { SampleMemory.free(memory) }
  }

  /// The real part of a channel's spectrum.
  @inline(__always) @_noLocks
  func real(_ channel: Int) -> UnsafeMutablePointer<Float> { analysed + 2 &* channel &* stride }

  @inline(__always) @_noLocks
  func imaginary(_ channel: Int) -> UnsafeMutablePointer<Float> { analysed + (2 &* channel &+ 1) &* stride }

  /// The spectrum that goes back.
  @inline(__always) @_noLocks
  func newReal(_ channel: Int) -> UnsafeMutablePointer<Float> { synthesised + 2 &* channel &* stride }

  @inline(__always) @_noLocks
  func newImaginary(_ channel: Int) -> UnsafeMutablePointer<Float> { synthesised + (2 &* channel &+ 1) &* stride }

  /// Takes a frame of sound, gives the one that is due.
  @inline(__always) @_noLocks
  mutating func exchange(_ input: SIMD2<Float>) -> SIMD2<Float> {
    let mask = length &- 1
    let output = SIMD2(outputs[position], outputs[length &+ position])
    outputs[position] = 0
    outputs[length &+ position] = 0
    inputs[position] = input.x
    inputs[length &+ position] = input.y
    position = (position &+ 1) & mask
    return output
  }

  /// True at the absolute frames where spectra are due, before `exchange` of that frame.
  @inline(__always) @_noLocks
  func isDue(_ frame: Int64) -> Bool { frame & Int64(hop &- 1) == 0 }

  /// Analyses the last `length` frames of both channels; false where they are silent, and then the spectra are left alone.
  @_noLocks
  func analyse() -> Bool {
    var sounds = false
    for channel in 0..<2 {
      let ring = inputs + channel &* length
      if backline_active_length(ring, Int64(length)) > 0 { sounds = true }
    }
    if !sounds { return false }
    let half = length / 2, mask = length &- 1
    for channel in 0..<2 {
      let ring = inputs + channel &* length
      backline_zero(work, Int64(2 &* length))
      for i in 0..<half {
        work[i] = ring[(position &+ half &+ i) & mask] * window[half &+ i]
        work[2 &* length &- half &+ i] = ring[(position &+ i) & mask] * window[i]
      }
      transform.transform(work, real(channel), imaginary(channel))
    }
    return true
  }

  /// Empties the spectra that go back.
  @_noLocks
  func clearNew() { backline_zero(synthesised, Int64(4 &* stride)) }

  /// Lets the new spectra sound, `gain` times as loud on each side, from the coming frame on for `length` frames.
  @_noLocks
  func synthesise(_ gains: SIMD2<Float>) {
    let half = length / 2, mask = length &- 1
    // The transform's length, and the sum of the squared windows, 1.5.
    let scale = 1 / (1.5 * Float(2 &* length))
    for channel in 0..<2 {
      transform.invert(newReal(channel), newImaginary(channel), work)
      let ring = outputs + channel &* length
      let gain = gains[channel] * scale
      for i in 0..<half {
        ring[(position &+ i) & mask] += work[2 &* length &- half &+ i] * window[i] * gain
        ring[(position &+ half &+ i) & mask] += work[i] * window[half &+ i] * gain
      }
    }
  }

  /// Forgets the past.
  @_noLocks
  mutating func clear() {
    backline_zero(inputs, Int64(2 &* length))
    backline_zero(outputs, Int64(2 &* length))
    position = 0
  }
}
