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

  /// Held by whoever has FFTW plan something, which it does for one thread at a time.
  static let planning = Mutex<Void>(())
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
    // A plan is for parts of a spectrum that lie this far from each other.
    let real = SampleMemory.allocate(2 * Self.stride(length)), imaginary = real + Self.stride(length)
    defer {
      SampleMemory.free(samples)
      SampleMemory.free(real)
    }
    let (forward, inverse) = Self.planning.withLock { _ in
      var dimension = fftwf_iodim(n: Int32(length), is: 1, os: 1)
      let forward = fftwf_plan_guru_split_dft_r2c(1, &dimension, 0, nil, samples, real, imaginary, FFTW_ESTIMATE)
      let inverse = fftwf_plan_guru_split_dft_c2r(1, &dimension, 0, nil, real, imaginary, samples, FFTW_ESTIMATE)
      return (forward.map { UInt(bitPattern: $0) }, inverse.map { UInt(bitPattern: $0) })
    }
    self.forward = forward.flatMap { UnsafeMutableRawPointer(bitPattern: $0) }
    self.inverse = inverse.flatMap { UnsafeMutableRawPointer(bitPattern: $0) }
  }

  /// Samples to a spectrum, whose parts are a `stride` apart. All memory is aligned as `SampleMemory` aligns it.
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
