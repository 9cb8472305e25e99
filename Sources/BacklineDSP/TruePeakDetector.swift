import BacklineRealtime
import CBackline

/// The true peak of both channels (`TruePeak.h`). Memory is allocated at creation and freed by `deallocate()`.
struct TruePeakDetector {
  /// The most frames that it takes at a time.
  static var chunk: Int { @_noLocks get { Int(backline_true_peak_chunk) } }

  /// The frames by which what it finds lags behind the input.
  let delay: Int
  /// The frames after which a past sample has left it.
  let length: Int64
  /// What was found for each frame of a chunk: the largest magnitude between the frames `delay` and `delay - 1` before it.
  let left: UnsafeMutablePointer<Float>
  let right: UnsafeMutablePointer<Float>

  private let filter: UnsafeMutablePointer<TruePeakFilter>
  private let states: UnsafeMutablePointer<TruePeakState>

  /// With this many coefficients for each point between two samples: even, at most 96.
  init(taps: Int32) {
    delay = Int(taps) / 2
    length = Int64(taps) + 2
    left = SampleMemory.allocate(Self.chunk)
    right = SampleMemory.allocate(Self.chunk)
    filter = .allocate(capacity: 1)
    filter.initialize(to: TruePeakFilter())
    backline_true_peak_design(filter, taps)
    states = .allocate(capacity: 2)
    states.initialize(repeating: TruePeakState(), count: 2)
  }

  func deallocate() {
    SampleMemory.free(left)
    SampleMemory.free(right)
    filter.deallocate()
    states.deallocate()
  }

  /// Takes a chunk. What stays below the floor of its channel may be found too low.
  @_noLocks
  func run(_ x: UnsafePointer<Float>, _ y: UnsafePointer<Float>, count: Int, floors: SIMD2<Float>) {
    backline_true_peak_run(states, filter, x, left, Int32(truncatingIfNeeded: count), floors.x)
    backline_true_peak_run(states + 1, filter, y, right, Int32(truncatingIfNeeded: count), floors.y)
  }

  @_noLocks
  func reset() {
    states[0] = TruePeakState()
    states[1] = TruePeakState()
  }
}
