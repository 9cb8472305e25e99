import BacklineRealtime
import CBackline

/// Raises the sample rate of one channel by 2, 4 or 8 and lowers it again, with what happens between left to the caller.
///
/// Three polyphase halfband stages, flat up to 0.417 of the sample rate (20 kHz at 48 kHz), 100 dB down from 0.583 on.
/// Whatever the factor, the delay is `latency` frames of the low rate, one frame of the high rate for a shaper included.
struct Oversampler {
  /// The longest piece in frames of the low rate.
  static var longestPiece: Int { @_noLocks get { 32 } }
  static var largestFactor: Int { @_noLocks get { 8 } }
  /// The delay of everything in frames of the low rate.
  static var latency: Int { @_noLocks get { 47 } }

  private let first: HalfbandStage
  private let second: HalfbandStage
  private let third: HalfbandStage
  /// The signal at the high rate.
  let samples: UnsafeMutablePointer<Float>
  private let work: UnsafeMutablePointer<Float>
  private let scratch: UnsafeMutablePointer<Float>
  private let padding: UnsafeMutablePointer<Float>
  /// A frame of the high rate that makes the whole delay a whole number of frames.
  private var held: Float = 0
  private var position = 0

  init() {
    let piece = Self.longestPiece
    first = HalfbandStage(pairs: 20, longest: piece)
    second = HalfbandStage(pairs: 6, longest: 2 * piece)
    third = HalfbandStage(pairs: 5, longest: 4 * piece)
    samples = SampleMemory.allocate(piece * Self.largestFactor)
    work = SampleMemory.allocate(piece * Self.largestFactor)
    scratch = SampleMemory.allocate(piece * Self.largestFactor)
    padding = SampleMemory.allocate(8)
  }

  func deallocate() {
    first.deallocate()
    second.deallocate()
    third.deallocate()
    for memory in [samples, work, scratch, padding] { SampleMemory.free(memory) }
  }

  /// Fills `samples` with `count` times `factor` (2, 4 or 8) frames.
  @_noLocks
  func up(_ input: UnsafePointer<Float>, factor: Int, count: Int) {
    if factor == 2 {
      first.up(input, samples, scratch, count: count)
    } else if factor == 4 {
      first.up(input, work, scratch, count: count)
      second.up(work, samples, scratch, count: 2 &* count)
    } else {
      first.up(input, samples, scratch, count: count)
      second.up(samples, work, scratch, count: 2 &* count)
      third.up(work, samples, scratch, count: 4 &* count)
    }
  }

  /// Writes the `count` frames that `samples` has become to `output`.
  @_noLocks
  mutating func down(_ output: UnsafeMutablePointer<Float>, factor: Int, count: Int) {
    let last = count &* factor &- 1
    if last < 0 { return }
    let next = samples[last]
    var i = last
    while i > 0 {
      samples[i] = samples[i &- 1]
      i &-= 1
    }
    samples[0] = held
    held = next
    if factor == 2 {
      first.down(samples, output, count: count)
    } else if factor == 4 {
      second.down(samples, work, count: 2 &* count)
      first.down(work, output, count: count)
    } else {
      third.down(samples, work, count: 4 &* count)
      second.down(work, samples, count: 2 &* count)
      first.down(samples, output, count: count)
    }
    pad(output, factor == 2 ? 7 : factor == 4 ? 2 : 0, count)
  }

  @_noLocks
  mutating func clear() {
    first.clear()
    second.clear()
    third.clear()
    backline_zero(padding, 8)
    held = 0
    position = 0
  }

  /// Delays by up to 7 frames what lower factors are ahead.
  @_noLocks
  private mutating func pad(_ output: UnsafeMutablePointer<Float>, _ frames: Int, _ count: Int) {
    if frames == 0 { return }
    for i in 0..<max(0, count) {
      padding[position & 7] = output[i]
      output[i] = padding[(position &- frames) & 7]
      position &+= 1
    }
  }
}
