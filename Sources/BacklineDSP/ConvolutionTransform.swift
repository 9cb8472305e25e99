import BacklineRealtime
import CBackline
import CFFTW
import Synchronization

/// The spectra of overlap-save convolution: of two blocks of real samples as one block of complex numbers.
///
/// The later block is the imaginary part of the earlier one, and the numbers are turned step by step through a quarter circle
/// (right-angle convolution: Nussbaumer, "Fast Fourier Transform and Convolution Algorithms", 1982, chapter 3): products of such
/// spectra convolve with what wraps around negated, and it wraps around into the earlier block only, which overlap-save throws
/// away. This takes half the length that a transform of real samples takes, and nothing has to be put together afterwards.
///
/// Planned once a length, by a control thread, by FFTW's estimate: its measurements would choose other algorithms, and so other
/// roundings, from run to run (R1). Transforming is for any thread at once.
struct ConvolutionTransform: @unchecked Sendable {
  // Why unchecked: plans and tables are only read after they have been made.

  /// The blocks' length in frames, a power of 2 from 16 on.
  let block: Int
  /// The distance in floats from the real part of a spectrum to its imaginary part; apart from each other in the cache.
  let stride: Int
  private let forward: UnsafeMutableRawPointer
  private let inverse: UnsafeMutableRawPointer
  private let cosines: UnsafeMutablePointer<Float>
  private let sines: UnsafeMutablePointer<Float>

  private static let made = Mutex<[Int: ConvolutionTransform]>([:])

  /// The transform of a length, which is kept for good. Control threads.
  static func of(block: Int) throws(ImpulseResponseError) -> ConvolutionTransform {
    if let known = made.withLock({ $0[block] }) { return known }
    let transform = try ConvolutionTransform(block)
    made.withLock { $0[block] = transform }
    return transform
  }

  private init(_ block: Int) throws(ImpulseResponseError) {
    self.block = block
    let stride = block + 16
    self.stride = stride
    let from = SampleMemory.allocate(2 * stride), to = SampleMemory.allocate(2 * stride)
    defer {
      SampleMemory.free(from)
      SampleMemory.free(to)
    }
    func plan(_ first: Int, _ second: Int) -> UnsafeMutableRawPointer? {
      var dimension = fftwf_iodim(n: Int32(block), is: 1, os: 1)
      let plan = FourierTransform.planning.withLock { _ in
        fftwf_plan_guru_split_dft(
          1, &dimension, 0, nil, from + first, from + second, to + first, to + second, FFTW_ESTIMATE
        ).map { UInt(bitPattern: $0) }
      }
      return plan.flatMap { UnsafeMutableRawPointer(bitPattern: $0) }
    }
    // With both parts exchanged, it goes backwards.
    guard let forward = plan(0, stride), let inverse = plan(stride, 0) else { throw .noTransform(frames: block) }
    self.forward = forward
    self.inverse = inverse
    cosines = SampleMemory.allocate(block)
    sines = SampleMemory.allocate(block)
    for index in 0..<block {
      let angle = Double.pi / 2 * Double(index) / Double(block)
      cosines[index] = Float(backline_cos(angle))
      sines[index] = Float(backline_sin(angle))
    }
  }

  /// Two blocks, one after the other in `samples`, to a spectrum, by way of `work`. All memory is aligned as `SampleMemory` aligns
  /// it, and spectra are `2 * stride` floats.
  @inline(__always) @_noLocks
  func transform(
    _ samples: UnsafePointer<Float>, _ spectrum: UnsafeMutablePointer<Float>, work: UnsafeMutablePointer<Float>
  ) {
    backline_twist(samples, samples + block, cosines, sines, work, work + stride, Int64(block))
    backline_fft_split(forward, work, work + stride, spectrum, spectrum + stride)
  }

  /// The later block of a spectrum, times `block`. What the spectrum held may be lost.
  @inline(__always) @_noLocks
  func invert(
    _ spectrum: UnsafeMutablePointer<Float>, _ samples: UnsafeMutablePointer<Float>,
    work: UnsafeMutablePointer<Float>
  ) {
    backline_fft_split(inverse, spectrum + stride, spectrum, work + stride, work)
    backline_untwist(work, work + stride, cosines, sines, samples, Int64(block))
  }
}
