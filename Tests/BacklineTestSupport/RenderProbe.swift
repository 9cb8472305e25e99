import CBackline
import Synchronization

/// A render function for hosts that copies each input to the output of the same number, and counts.
public final class RenderProbe: @unchecked Sendable {
  struct Counts: ~Copyable {
    let cycles = Atomic<Int>(0)
    let frames = Atomic<Int>(0)
    let longest = Atomic<Int>(0)
    let nanosecondsToWaste = Atomic<Int64>(0)
  }

  private let counts: UnsafeMutablePointer<Counts>

  public init() {
    counts = .allocate(capacity: 1)
    counts.initialize(to: Counts())
  }

  deinit {
    counts.deinitialize(count: 1)
    counts.deallocate()
  }

  /// What to hand to a host.
  public var render: HostRender { renderProbe }
  public var state: UnsafeMutableRawPointer { UnsafeMutableRawPointer(counts) }

  public var cycles: Int { counts.pointee.cycles.load(ordering: .acquiring) }
  public var frames: Int { counts.pointee.frames.load(ordering: .acquiring) }
  public var longestCycle: Int { counts.pointee.longest.load(ordering: .acquiring) }

  /// Makes each cycle take at least this long.
  public func waste(nanoseconds: Int64) {
    counts.pointee.nanosecondsToWaste.store(nanoseconds, ordering: .relaxed)
  }
}

@_noLocks
private func renderProbe(_ state: UnsafeMutableRawPointer, _ cycle: UnsafePointer<HostCycle>) {
  let counts = state.assumingMemoryBound(to: RenderProbe.Counts.self)
  let begin = backline_now()
  let frameCount = cycle.pointee.frameCount
  if let outputs = cycle.pointee.outputs {
    for index in 0..<Int(cycle.pointee.outputCount) {
      if let inputs = cycle.pointee.inputs, index < Int(cycle.pointee.inputCount) {
        backline_copy(outputs[index], inputs[index], Int64(frameCount))
      } else {
        backline_zero(outputs[index], Int64(frameCount))
      }
    }
  }
  let waste = counts.pointee.nanosecondsToWaste.load(ordering: .relaxed)
  while backline_now() &- begin < waste {}
  counts.pointee.frames.store(
    counts.pointee.frames.load(ordering: .relaxed) &+ Int(frameCount), ordering: .releasing)
  if Int(frameCount) > counts.pointee.longest.load(ordering: .relaxed) {
    counts.pointee.longest.store(Int(frameCount), ordering: .releasing)
  }
  counts.pointee.cycles.store(counts.pointee.cycles.load(ordering: .relaxed) &+ 1, ordering: .releasing)
}
