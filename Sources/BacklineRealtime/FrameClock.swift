import CBackline
import Synchronization

/// The mapping between CLOCK_MONOTONIC and absolute engine frames, smoothed against the jitter of wake-ups.
///
/// A second-order delay-locked loop (F. Adriaensen, "Using a DLL to filter time", Linux Audio Conference 2005), written for
/// cycles of any length: it keeps the time of one frame and the spacing of frames, predicts the start of each cycle from
/// them, and corrects both by a fraction of the error. The bandwidth starts at 1 Hz and narrows to 0.05 Hz, so that the
/// loop is right at once and quiet later. An error of more than a cycle is no jitter but a gap: the loop locks anew.
///
/// One thread, the render thread, updates it. Any thread reads it, without locks (a sequence lock over atomics: H.-J. Boehm,
/// "Can seqlocks get along with programming language memory models?", MSPC 2012).
public struct FrameClock: ~Copyable {
  /// The loop's own numbers; the render thread's.
  @usableFromInline
  struct Loop: BitwiseCopyable {
    @usableFromInline var isLocked = false
    @usableFromInline var sampleRate = 0.0
    /// The last cycle's first frame.
    @usableFromInline var frame: Int64 = 0
    /// Nanoseconds of CLOCK_MONOTONIC that `time` counts from.
    @usableFromInline var origin: Int64 = 0
    /// The filtered time of `frame` in nanoseconds.
    @usableFromInline var time = 0.0
    /// Nanoseconds from frame to frame.
    @usableFromInline var spacing = 0.0
    /// Seconds since the loop locked.
    @usableFromInline var age = 0.0

    @usableFromInline init() {}
  }

  @usableFromInline let loop: UnsafeMutablePointer<Loop>
  @usableFromInline let sequence = Atomic<Int>(0)
  @usableFromInline let frame = Atomic<Int64>(0)
  @usableFromInline let time = Atomic<Int64>(0)
  @usableFromInline let spacing = Atomic<UInt64>(0)  // bits of a Double; zero means that nothing is known

  /// A clock that knows nothing yet.
  public init() {
    loop = .allocate(capacity: 1)
    loop.initialize(to: Loop())
  }

  deinit { loop.deallocate() }

  // MARK: Render thread

  /// Takes the start of a cycle: its first frame, its time in nanoseconds of CLOCK_MONOTONIC, and the nominal rate in Hz.
  @_noLocks
  public func update(frame: Int64, time: Int64, sampleRate: Double) {
    let advance = frame &- loop.pointee.frame
    if !loop.pointee.isLocked || loop.pointee.sampleRate != sampleRate || advance < 0 {
      lock(frame: frame, time: time, sampleRate: sampleRate)
    } else if advance > 0 {
      follow(by: advance, time: time)
    }
    publish()
  }

  /// Forgets the mapping; readers get `nil` until the next update. Only while no thread updates.
  public func reset() {
    loop.pointee = Loop()
    publish()
  }

  @_noLocks
  private func lock(frame: Int64, time: Int64, sampleRate: Double) {
    loop.pointee.isLocked = true
    loop.pointee.sampleRate = sampleRate
    loop.pointee.frame = frame
    loop.pointee.origin = time
    loop.pointee.time = 0
    loop.pointee.spacing = 1e9 / sampleRate
    loop.pointee.age = 0
  }

  @_noLocks
  private func follow(by advance: Int64, time: Int64) {
    let length = Double(advance) * loop.pointee.spacing
    let predicted = loop.pointee.time + length
    let error = Double(time &- loop.pointee.origin) - predicted
    if error.magnitude > max(length, 500_000) {
      return lock(frame: loop.pointee.frame &+ advance, time: time, sampleRate: loop.pointee.sampleRate)
    }
    loop.pointee.age += length * 1e-9
    // A bandwidth that falls with the age weighs all past cycles alike, as the best estimate of a steady clock does.
    let bandwidth = min(1, max(0.05, 0.5 / loop.pointee.age))
    let omega = min(0.5, 2 * Double.pi * bandwidth * length * 1e-9)
    let nominal = 1e9 / loop.pointee.sampleRate
    let spacing = loop.pointee.spacing + omega * omega * error / Double(advance)
    loop.pointee.frame &+= advance
    loop.pointee.time = predicted + 1.414_213_562_373_095 * omega * error
    loop.pointee.spacing = min(nominal * 1.01, max(nominal * 0.99, spacing))
  }

  @_noLocks
  private func publish() {
    let before = sequence.load(ordering: .relaxed)
    sequence.store(before &+ 1, ordering: .relaxed)
    atomicMemoryFence(ordering: .releasing)
    frame.store(loop.pointee.frame, ordering: .relaxed)
    time.store(loop.pointee.origin &+ Int64(loop.pointee.time), ordering: .relaxed)
    spacing.store(loop.pointee.spacing.bitPattern, ordering: .relaxed)
    sequence.store(before &+ 2, ordering: .releasing)
  }

  // MARK: Any thread

  /// The frame, with its fraction, that a time in nanoseconds falls on; `nil` while nothing is known.
  @_noLocks
  public func position(at nanoseconds: Int64) -> Double? {
    guard let anchor = anchor() else { return nil }
    return Double(anchor.frame) + Double(nanoseconds &- anchor.time) / anchor.spacing
  }

  /// The frame nearest to a time in nanoseconds, half up; `nil` while nothing is known.
  @_noLocks
  public func frame(at nanoseconds: Int64) -> Int64? {
    guard let anchor = anchor() else { return nil }
    return anchor.frame &+ Int64(backline_floor(Double(nanoseconds &- anchor.time) / anchor.spacing + 0.5))
  }

  /// The time in nanoseconds of CLOCK_MONOTONIC at which a frame falls; `nil` while nothing is known.
  @_noLocks
  public func time(of frame: Int64) -> Int64? {
    guard let anchor = anchor() else { return nil }
    return anchor.time &+ Int64(backline_floor(Double(frame &- anchor.frame) * anchor.spacing + 0.5))
  }

  @_noLocks
  private func anchor() -> (frame: Int64, time: Int64, spacing: Double)? {
    while true {
      let before = sequence.load(ordering: .acquiring)
      let frame = frame.load(ordering: .relaxed)
      let time = time.load(ordering: .relaxed)
      let spacing = Double(bitPattern: spacing.load(ordering: .relaxed))
      atomicMemoryFence(ordering: .acquiring)
      if before & 1 == 0 && sequence.load(ordering: .relaxed) == before {
        return spacing > 0 ? (frame, time, spacing) : nil
      }
    }
  }
}
