import BacklineDSP
import BacklineEngine
import CBackline

extension OfflineHost {
  /// The name for one that a test drives in a sound card's place.
  public static func manual(sampleRate: Int = 48_000, period: Int = 64, isOffline: Bool = false) -> OfflineHost {
    OfflineHost(sampleRate: sampleRate, period: period, fades: true, isOffline: isOffline)
  }

  /// Renders one cycle; a channel an entry, all of one length.
  public func cycle(
    _ inputs: [[Float]], outputs outputCount: Int = 2, frames: Int, lostFrames: Int = 0
  ) -> [[Float]] {
    let ins = inputs.map { channel in
      let memory = UnsafeMutablePointer<Float>.allocate(capacity: max(1, frames))
      for i in 0..<frames { (memory + i).initialize(to: i < channel.count ? channel[i] : 0) }
      return memory
    }
    let outs = (0..<outputCount).map { _ in UnsafeMutablePointer<Float>.allocate(capacity: max(1, frames)) }
    for out in outs { out.initialize(repeating: .nan, count: max(1, frames)) }
    defer { for memory in ins + outs { memory.deallocate() } }
    var outcome = Outcome.closed
    let inputTable = ins.map { UnsafePointer($0) }
    inputTable.withUnsafeBufferPointer { inputTable in
      outs.withUnsafeBufferPointer { outputTable in
        outcome = render(
          inputTable.baseAddress, inputCount: ins.count, outputTable.baseAddress, outputCount: outs.count,
          frameCount: frames, lostFrames: lostFrames)
      }
    }
    if outcome != .rendered { return [] }
    return outs.map { out in (0..<frames).map { out[$0] } }
  }
}

/// An engine on a manual host, driven from a test frame by frame.
public final class EngineHarness: @unchecked Sendable {
  public let engine: Engine
  public let host: OfflineHost
  /// Frames rendered so far.
  public private(set) var frame = 0

  /// A running engine. Its outputs have faded in. With `isOffline` it does nothing by the clock, only what the test asks for.
  public init(
    catalog: UnitCatalog = .standard, ports: PortLayout = .stereo, sampleRate: Int = 48_000, rampTime: Double = 0.01,
    startFrame: Int64 = 0, threads: RenderThreads = .one, isOffline: Bool = false
  ) async throws {
    engine = try Engine(catalog: catalog, rampTime: rampTime, startFrame: startFrame)
    await engine.setThreads(threads)
    host = .manual(sampleRate: sampleRate, isOffline: isOffline)
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
