import CBackline

/// The true peak of both channels (`TruePeak.h`). Memory is allocated at creation and freed by `deallocate()`.
struct TruePeakDetector {
  /// The frames by which what it returns lags behind the input.
  let delay: Int
  /// The frames after which a past sample has left it.
  let length: Int64

  private let filter: UnsafeMutablePointer<TruePeakFilter>
  private let states: UnsafeMutablePointer<TruePeakState>

  /// With this many coefficients for each of the four phases: even, at most 96.
  init(taps: Int32) {
    delay = Int(taps) / 2
    length = Int64(taps) + 2
    filter = .allocate(capacity: 1)
    filter.initialize(to: TruePeakFilter())
    backline_true_peak_design(filter, taps)
    states = .allocate(capacity: 2)
    states.initialize(repeating: TruePeakState(), count: 2)
  }

  func deallocate() {
    filter.deallocate()
    states.deallocate()
  }

  /// Takes a frame; returns the largest magnitude of each channel between the frames `delay` and `delay - 1` before it. What
  /// stays below `floor` may be read too low.
  @inline(__always) @_noLocks
  func next(_ left: Float, _ right: Float, floor: Float) -> SIMD2<Float> {
    SIMD2(
      backline_true_peak_next(states, filter, left, floor), backline_true_peak_next(states + 1, filter, right, floor))
  }

  /// To be called where `floor` has fallen: looks closely at what was too soft before.
  @_noLocks
  func wake() {
    states[0].loud = filter.pointee.taps
    states[1].loud = filter.pointee.taps
  }

  @_noLocks
  func reset() {
    states[0] = TruePeakState()
    states[1] = TruePeakState()
  }
}
