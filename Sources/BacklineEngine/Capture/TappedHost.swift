import BacklineRealtime
import CBackline
import Synchronization

/// A host around another that keeps a copy of everything that comes in, frame by frame, for somebody to write down.
public final class TappedHost: AudioHost, @unchecked Sendable {
  // Why unchecked: the tap is made before rendering begins and freed with this.

  private let host: any AudioHost
  private let tap: UnsafeMutablePointer<InputTap>

  /// `channelCount` input ports are kept, in a ring of `frames` frames.
  public init(_ host: any AudioHost, channelCount: Int, frames: Int = 1 << 18) {
    self.host = host
    tap = .allocate(capacity: 1)
    tap.initialize(to: InputTap(channelCount: channelCount, frames: frames))
  }

  deinit {
    tap.deinitialize(count: 1)
    tap.deallocate()
  }

  /// Takes up to `count` interleaved frames that came in; one thread only. Returns how many.
  public func takeInput(_ samples: UnsafeMutablePointer<Float>, count: Int) -> Int {
    tap.pointee.ring.read(samples, frames: count)
  }

  /// The frames that have come in, those that nobody has taken yet included.
  public var inputFrames: Int64 { Int64(tap.pointee.frames.load(ordering: .acquiring)) }

  /// True when somebody was too slow to take them, and some are lost.
  public var hasLostInput: Bool { tap.pointee.hasLost.load(ordering: .acquiring) }

  public var kind: String { host.kind }

  public func open(
    _ configuration: HostConfiguration, render: @escaping HostRender, state: UnsafeMutableRawPointer,
    onEvent: @escaping @Sendable (HostEvent) -> Void
  ) {
    tap.pointee.render = render
    tap.pointee.state = state
    host.open(configuration, render: renderTapped, state: UnsafeMutableRawPointer(tap), onEvent: onEvent)
  }

  public func start() { host.start() }
  public func close(completion: @escaping @Sendable (_ isClean: Bool) -> Void) { host.close(completion: completion) }
  public func cut() -> Bool { host.cut() }
  public func setPorts(_ configuration: HostConfiguration) { host.setPorts(configuration) }
  public func setLatencies(_ latencies: LatencyMap) { host.setLatencies(latencies) }
  public func frame(at nanoseconds: Int64) -> Int64? { host.frame(at: nanoseconds) }
  public var lateCounts: (own: Int, server: Int) { host.lateCounts }
  public var load: (mean: Float, largest: Float) { host.load }
  public func load(ofCycles part: Double) -> Float { host.load(ofCycles: part) }
  public var isRealtime: Bool { host.isRealtime }
  public var hasDeadline: Bool { host.hasDeadline }
  public func employ(_ workers: WorkerThreads) { host.employ(workers) }
  public var outsideLatencies: (input: Int, output: Int) { host.outsideLatencies }
  public var isOffline: Bool { host.isOffline }
  public var fades: Bool { host.fades }
  public var renderedFrames: Int64 { host.renderedFrames }
}

/// What the render thread does beside rendering, and the ring that it fills.
struct InputTap: ~Copyable {
  var render: HostRender?
  var state: UnsafeMutableRawPointer?
  let channelCount: Int
  let ring: SampleRing
  let frames = Atomic<Int>(0)
  let hasLost = Atomic<Bool>(false)

  init(channelCount: Int, frames: Int) {
    self.channelCount = channelCount
    ring = SampleRing(channelCount: channelCount, frames: frames)
  }

  @_noLocks
  func take(_ cycle: borrowing HostCycle) {
    let count = Int(cycle.frameCount)
    if !hasLost.load(ordering: .relaxed) {
      let hasRoom = ring.write(cycle.inputs, channelCount: Int(cycle.inputCount), frames: count)
      if !hasRoom { hasLost.store(true, ordering: .releasing) }
    }
    frames.store(frames.load(ordering: .relaxed) &+ count, ordering: .releasing)
  }
}

@_noLocks
private func renderTapped(_ state: UnsafeMutableRawPointer, _ cycle: UnsafePointer<HostCycle>) {
  let tap = state.assumingMemoryBound(to: InputTap.self)
  tap.pointee.take(cycle.pointee)
  guard let render = tap.pointee.render, let inner = tap.pointee.state else { return }
  backline_render_cycle(render, inner, cycle)
}
