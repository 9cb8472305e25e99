import BacklineRealtime
import CBackline
import CFFTW
import Synchronization

/// A real Fourier transform of one length by FFTW, forward to split spectra and back.
///
/// Planned once a length, by a control thread, by FFTW's estimate: its measurements would choose other algorithms, and so other
/// roundings, from run to run (R1). Executing is for any thread at once.
struct FourierTransform: @unchecked Sendable {
  // Why unchecked: plans are only read after they have been made.

  /// The length in samples, a power of 2.
  let length: Int
  /// `nil` where FFTW gave no plan, which it does for want of memory only: spectra and sounds are silent then.
  private let forward: UnsafeMutableRawPointer?
  private let inverse: UnsafeMutableRawPointer?

  /// The distance in floats from one part of a spectrum to the next: room for `length` / 2 + 1 values, aligned.
  static func stride(_ length: Int) -> Int { length / 2 + 16 }

  private static let plans = Mutex<[Int: FourierTransform]>([:])

  /// The transform of `length` samples. Control threads.
  static func of(length: Int) -> FourierTransform {
    plans.withLock { plans in
      if let known = plans[length] { return known }
      let made = FourierTransform(length)
      plans[length] = made
      return made
    }
  }

  private init(_ length: Int) {
    self.length = length
    let samples = SampleMemory.allocate(length)
    let real = SampleMemory.allocate(Self.stride(length)), imaginary = SampleMemory.allocate(Self.stride(length))
    defer {
      SampleMemory.free(samples)
      SampleMemory.free(real)
      SampleMemory.free(imaginary)
    }
    var dimension = fftwf_iodim(n: Int32(length), is: 1, os: 1)
    let forward = fftwf_plan_guru_split_dft_r2c(1, &dimension, 0, nil, samples, real, imaginary, FFTW_ESTIMATE)
    let inverse = fftwf_plan_guru_split_dft_c2r(1, &dimension, 0, nil, real, imaginary, samples, FFTW_ESTIMATE)
    self.forward = forward.map { UnsafeMutableRawPointer($0) }
    self.inverse = inverse.map { UnsafeMutableRawPointer($0) }
  }

  /// Samples to a spectrum. All memory is aligned as `SampleMemory` aligns it.
  @inline(__always) @_noLocks
  func transform(
    _ samples: UnsafeMutablePointer<Float>, _ real: UnsafeMutablePointer<Float>,
    _ imaginary: UnsafeMutablePointer<Float>
  ) {
    if let forward {
      backline_fft_forward(forward, samples, real, imaginary)
    } else {
      backline_zero(real, Int64(length / 2 &+ 1))
      backline_zero(imaginary, Int64(length / 2 &+ 1))
    }
  }

  /// A spectrum, which is lost, to samples times `length`.
  @inline(__always) @_noLocks
  func invert(
    _ real: UnsafeMutablePointer<Float>, _ imaginary: UnsafeMutablePointer<Float>,
    _ samples: UnsafeMutablePointer<Float>
  ) {
    if let inverse {
      backline_fft_inverse(inverse, real, imaginary, samples)
    } else {
      backline_zero(samples, Int64(length))
    }
  }
}
