import BacklineRealtime
import Synchronization

/// What a host's threads write and everybody reads: the clock, the meter and the ways outside, for the life of the host.
///
/// A class of its own, so that a thread that had to be left hanging still finds its memory.
public final class HostRecord: @unchecked Sendable {
  public let clock: UnsafeMutablePointer<FrameClock>
  public let meter: UnsafeMutablePointer<CycleMeter>
  /// Frames from where sound arises to the inputs, on the longest way; 0 where nothing is known.
  public let inputLatency = Atomic<Int>(0)
  /// Frames from the outputs to where sound is heard, on the longest way.
  public let outputLatency = Atomic<Int>(0)

  public init() {
    clock = .allocate(capacity: 1)
    clock.initialize(to: FrameClock())
    meter = .allocate(capacity: 1)
    meter.initialize(to: CycleMeter())
  }

  deinit {
    clock.deinitialize(count: 1)
    clock.deallocate()
    meter.deinitialize(count: 1)
    meter.deallocate()
  }

  /// The cycles finished late by this process, and the host's own gaps.
  public var lateCounts: (own: Int, server: Int) {
    (meter.pointee.ownLate.load(ordering: .relaxed), meter.pointee.xruns.load(ordering: .relaxed))
  }

  /// The frames rendered since the host's creation.
  public var renderedFrames: Int64 { meter.pointee.frames.load(ordering: .relaxed) }

  /// The part of the cycles' time that rendering takes.
  public var load: (mean: Float, largest: Float) {
    (meter.pointee.load.load(ordering: .relaxed), meter.pointee.largestLoad.load(ordering: .relaxed))
  }

  /// What rendering took in no more than a part of the cycles (0 to 1).
  public func load(ofCycles part: Double) -> Float { meter.pointee.load(ofCycles: part) }
}
