import BacklineDSP
import BacklineEngine
import CBackline
import Synchronization

/// A host that renders when a test says so, on the test's own thread.
public final class ManualHost: AudioHost, @unchecked Sendable {
  public let kind = "manual"
  public let sampleRate: Int
  public let period: Int
  private var render: HostRender?
  private var state: UnsafeMutableRawPointer?
  private var onEvent: (@Sendable (HostEvent) -> Void)?
  public private(set) var configuration: HostConfiguration?
  public private(set) var isStarted = false
  public private(set) var latencies = LatencyMap([])

  public init(sampleRate: Int = 48_000, period: Int = 64) {
    self.sampleRate = sampleRate
    self.period = period
  }

  public func open(
    _ configuration: HostConfiguration, render: @escaping HostRender, state: UnsafeMutableRawPointer,
    onEvent: @escaping @Sendable (HostEvent) -> Void
  ) {
    self.configuration = configuration
    self.render = render
    self.state = state
    self.onEvent = onEvent
    onEvent(.opened(name: configuration.name, sampleRate: sampleRate, period: period))
  }

  public func start() {
    isStarted = true
    onEvent?(.started)
  }

  public func close(completion: @escaping @Sendable (Bool) -> Void) {
    isStarted = false
    completion(true)
  }

  public func setPorts(_ configuration: HostConfiguration) { self.configuration = configuration }
  public func setLatencies(_ latencies: LatencyMap) { self.latencies = latencies }

  /// A frame and the time of CLOCK_MONOTONIC at which it plays, for events with a time; `nil` knows of no time.
  public var anchor: (frame: Int64, time: Int64)? {
    get { clock.withLock { $0 } }
    set { clock.withLock { $0 = newValue } }
  }
  private let clock = Mutex<(frame: Int64, time: Int64)?>(nil)

  public func frame(at nanoseconds: Int64) -> Int64? {
    anchor.map { $0.frame + Int64((Double(nanoseconds - $0.time) * Double(sampleRate) * 1e-9).rounded()) }
  }
  public var lateCounts: (own: Int, server: Int) { (0, 0) }
  public var load: (mean: Float, largest: Float) { (0, 0) }
  public var isRealtime: Bool { false }

  /// Tells the engine something as a server would.
  public func send(_ event: HostEvent) { onEvent?(event) }

  /// Renders one cycle; a channel an entry, all of one length.
  public func cycle(_ inputs: [[Float]], outputs outputCount: Int = 2, frames: Int) -> [[Float]] {
    guard let render, let state else { return [] }
    let ins = inputs.map { channel in
      let memory = UnsafeMutablePointer<Float>.allocate(capacity: max(1, frames))
      for i in 0..<frames { (memory + i).initialize(to: i < channel.count ? channel[i] : 0) }
      return memory
    }
    let outs = (0..<outputCount).map { _ in UnsafeMutablePointer<Float>.allocate(capacity: max(1, frames)) }
    for out in outs { out.initialize(repeating: .nan, count: max(1, frames)) }
    defer { for memory in ins + outs { memory.deallocate() } }
    let before = backline_flush_denormals()
    defer { backline_restore_denormals(before) }
    let inputTable = ins.map { UnsafePointer($0) }
    inputTable.withUnsafeBufferPointer { inputTable in
      outs.withUnsafeBufferPointer { outputTable in
        var cycle = HostCycle(
          inputs: inputTable.baseAddress, outputs: outputTable.baseAddress, inputCount: Int32(ins.count),
          outputCount: Int32(outs.count), frameCount: Int32(frames))
        backline_realtime_enter()
        render(state, &cycle)
        backline_realtime_exit()
      }
    }
    return outs.map { out in (0..<frames).map { out[$0] } }
  }
}

/// An engine on a manual host, driven from a test frame by frame.
public final class EngineHarness: @unchecked Sendable {
  public let engine: Engine
  public let host: ManualHost
  /// Frames rendered so far.
  public private(set) var frame = 0

  /// A running engine. Its outputs have faded in.
  public init(
    catalog: UnitCatalog = .standard, ports: PortLayout = .stereo, sampleRate: Int = 48_000, rampTime: Double = 0.01,
    startFrame: Int64 = 0
  ) async throws {
    engine = Engine(catalog: catalog, rampTime: rampTime, startFrame: startFrame)
    host = ManualHost(sampleRate: sampleRate)
    if ports != .stereo {
      try await engine.perform([.load(GraphDescription(ports: ports, nodes: [], connections: []))])
    }
    await engine.start(host, name: "test")
    try await waitUntil { [host] in host.isStarted }
    _ = render(frames: Int(Double(sampleRate) * rampTime) + 64)
    await settle()
  }

  /// Renders in cycles of the given lengths in turn; `input` is called with the frame counted from the harness's start.
  public func render(
    _ inputs: [[Float]] = [], frames: Int? = nil, cuts: [Int] = [64], outputs: Int = 2
  ) -> [[Float]] {
    let total = frames ?? inputs.map(\.count).max() ?? 0
    var result = [[Float]](repeating: [], count: outputs)
    var position = 0
    var cut = 0
    while position < total {
      let count = min(cuts[cut % cuts.count], total - position)
      cut += 1
      if count == 0 { continue }
      let part = inputs.map { channel in
        Array(channel[min(position, channel.count)..<min(position + count, channel.count)])
      }
      let out = host.cycle(part, outputs: outputs, frames: count)
      for channel in out.indices { result[channel] += out[channel] }
      position += count
      frame += count
    }
    return result
  }

  /// Applies commands and publishes them, so that the next cycle takes them.
  public func perform(_ commands: [Command], at frame: Int64? = nil) async throws {
    try await engine.perform(commands, at: frame)
    await engine.flush()
  }

  /// Lets the control queue draw what has ended out of the plan.
  public func settle() async { await engine.tidyNow() }
}

/// Waits until a condition holds; throws when it does not within `seconds`.
public func waitUntil(_ seconds: Double = 5, _ condition: @Sendable () async -> Bool) async throws {
  let end = backline_now() + Int64(seconds * 1e9)
  while await !condition() {
    if backline_now() > end { throw TimedOut() }
    try await Task.sleep(nanoseconds: 1_000_000)
  }
}

/// A condition did not come true in time.
public struct TimedOut: Error {}
