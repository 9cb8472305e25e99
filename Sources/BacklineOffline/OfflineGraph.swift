import BacklineDSP
import BacklineEngine
import BacklineGraph
import BacklineMedia
import BacklineRealtime
import CBackline
import Synchronization

/// An engine on a host of its own, rendered block by block by one thread.
///
/// Everything that changes the graph happens at a frame that the script or this class names, never by a clock, so that the
/// result is the same in whatever blocks it is asked for (R1).
final class OfflineGraph {
  /// Loose ends of edits are looked for at multiples of this many frames, as long as there are any.
  private static let tidyFrames: Int64 = 1024

  let engine: Engine
  private let channels: FileChannels
  /// The channels that a file gives.
  var inputCount: Int { channels.inputs.count }
  /// The channels that a file gets.
  var outputCount: Int { channels.outputs.count }
  /// The frames by which each output channel comes late at the beginning.
  let latencies: [Int]
  private var latencyChanges: [LatencyTrim.Change] = []
  /// The next frame to be rendered.
  private(set) var position: Int64 = 0
  private let host: OfflineHost
  private let blockFrames: Int
  private let script: (any OfflineScript)?
  private let media: MediaService?
  private let mediaFailure: (@Sendable () -> EngineError?)?
  /// What the script does at this frame has been given to the engine already.
  private var stepped: Int64?
  private var hasLooseEnds = false
  private let isTidiedByScript: Bool
  private let keepsLatency: Bool
  private let isBalancing: Bool
  /// The frame at which the engine is asked next whether threads share the work well.
  private var nextBalance: Int64 = 8_192
  /// The latencies of the output buses as they were found last.
  private var lastLatencies: [Int]
  private let inputs: UnsafeMutablePointer<UnsafePointer<Float>>
  private let outputs: UnsafeMutablePointer<UnsafeMutablePointer<Float>>
  private let silence: SampleBlock
  /// Where what is sent goes.
  private let unheard: SampleBlock

  init(_ job: OfflineJob, sampleRate: Int) throws(OfflineError) {
    let graph = job.graph ?? OfflineJob.passage(channelCount: job.source.channelCount)
    do throws(EngineError) {
      engine = try Engine(catalog: job.catalog, rampTime: job.rampTime)
    } catch {
      throw OfflineError(error)
    }
    host = OfflineHost(sampleRate: sampleRate, period: job.blockFrames, fades: job.fadesIn, isOffline: true)
    blockFrames = job.blockFrames
    media = job.media
    isTidiedByScript = job.isTidiedByScript
    mediaFailure = job.mediaFailure
    keepsLatency = job.keepsLatency
    let channels = FileChannels(graph, job.catalog)
    self.channels = channels
    if channels.outputs.isEmpty { throw OfflineError(.badData, "the preset has no outputs: there is nothing to write") }
    silence = SampleBlock(channelCount: 1, capacity: job.blockFrames)
    unheard = SampleBlock(channelCount: 1, capacity: job.blockFrames)
    isBalancing = job.threads != .one
    do throws(EngineError) {
      let host = host
      try engine.wait { engine throws(EngineError) in
        engine.setThreads(job.threads)
        try engine.perform(.load(graph))
        engine.start(host, name: "render")
      }
      // Opening takes a few turns of the control queue, each behind the last.
      var turns = 0
      while try engine.wait({ engine throws(EngineError) in engine.state != .running }) {
        turns += 1
        if turns > 100 { throw EngineError(.internal, "the engine does not start") }
      }
      // Asked only now, since they may depend on the rate.
      lastLatencies = engine.wait { engine in engine.outputLatencies }
      latencies = Self.byChannel(job.keepsLatency ? lastLatencies.map { _ in 0 } : lastLatencies, channels)
    } catch {
      throw OfflineError(error)
    }
    try Self.loadFiles(engine, media)
    inputs = .allocate(capacity: max(1, channels.inputCount))
    outputs = .allocate(capacity: channels.outputCount)
    script = try job.script?(engine)
  }

  /// Gives players and convolvers the files that their nodes name.
  private static func loadFiles(_ engine: Engine, _ media: MediaService?) throws(OfflineError) {
    do throws(EngineError) {
      let nodes = try engine.wait { engine throws(EngineError) in engine.nodes }
      for node in nodes {
        guard let file = node.file else { continue }
        guard let media else {
          throw EngineError(.internal, "'\(node.name)' names a file, but the job has nothing that reads files")
        }
        let failure = Mutex<EngineError?>(nil)
        let note: MediaService.Completion = { result in
          if case .failure(let error) = result {
            failure.withLock { $0 = EngineError(error.code, "node '\(node.name)': \(error.message)") }
          }
        }
        switch node.control {
        case let control as PlayerControl:
          media.load(file, into: control, sampleRate: control.sampleRate, completion: note)
        case let control as ConvolverControl: media.load(file, into: control, completion: note)
        default:
          throw EngineError(.notAllowed, "'\(node.name)' is a \(node.description.kind), which works with no file")
        }
        if let error = failure.withLock({ $0 }) { throw error }
      }
    } catch {
      throw OfflineError(error.code == .notFound ? .inputMissing : .badData, error.message)
    }
  }

  deinit {
    inputs.deallocate()
    outputs.deallocate()
  }

  /// Renders `count` frames of `input`, or of silence, to the beginning of `output`, in blocks.
  func render(_ input: SampleBlock?, count: Int, to output: SampleBlock) throws(OfflineError) {
    var done = 0
    // A step of the very frame where a block ends belongs to the block after it, where there is one.
    while done < count {
      let limit = try prepare(upTo: min(blockFrames, count - done))
      if let media {
        media.fillSynchronously()
        if let error = mediaFailure?() { throw OfflineError(error) }
      }
      for channel in 0..<channels.inputCount { (inputs + channel).initialize(to: UnsafePointer(silence.channels[0])) }
      if let input {
        for (file, channel) in channels.inputs.enumerated() {
          (inputs + channel).initialize(to: UnsafePointer(input.channels[file]) + done)
        }
      }
      for channel in 0..<channels.outputCount { (outputs + channel).initialize(to: unheard.channels[0]) }
      for (file, place) in channels.outputs.enumerated() {
        (outputs + place.channel).initialize(to: output.channels[file] + done)
      }
      cycle(limit)
      done += limit
      position += Int64(limit)
      if isBalancing && position >= nextBalance { balance() }
    }
  }

  /// Has the engine share the work anew where nodes take another time than it thought. What is heard does not depend on that.
  private func balance() {
    nextBalance = position + 65_536
    engine.wait { engine in if engine.rebalance() { engine.flush() } }
  }

  /// Does what has to be done before the next frame; returns how many frames can be rendered then, at most `count`.
  private func prepare(upTo count: Int) throws(OfflineError) -> Int {
    if hasLooseEnds && position % Self.tidyFrames == 0 { try tidy() }
    if let frame = stepped, frame <= position {
      stepped = nil
      cycle(0)
      try tidy()
    }
    while stepped == nil, let frame = try script?.nextFrame, frame <= position {
      try script?.step(engine, at: position, isNow: true)
      // A cycle without a frame: the engine takes what waits.
      cycle(0)
      try tidy()
    }
    var limit = Int64(count)
    if stepped == nil, let frame = try script?.nextFrame, frame - position <= limit {
      limit = frame - position
      if frame % Int64(Quantum.frames) != 0 && script?.isPlanNext == true {
        try script?.step(engine, at: frame, isNow: false)
        stepped = frame
      }
    }
    if let frame = stepped { limit = min(limit, frame - position) }
    if hasLooseEnds { limit = min(limit, Self.tidyFrames - position % Self.tidyFrames) }
    return Int(limit)
  }

  private func tidy() throws(OfflineError) {
    if isTidiedByScript { return }
    do throws(EngineError) {
      let (isLoose, late) = try engine.wait { engine throws(EngineError) in
        engine.tidyNow()
        return (engine.hasLooseEnds, engine.outputLatencies)
      }
      hasLooseEnds = isLoose
      if keepsLatency || late == lastLatencies { return }
      lastLatencies = late
      latencyChanges.append(LatencyTrim.Change(frame: position, latencies: Self.byChannel(late, channels)))
    } catch {
      throw OfflineError(error)
    }
  }

  /// The changes of latency since this was asked last.
  func takeLatencyChanges() -> [LatencyTrim.Change] {
    defer { latencyChanges = [] }
    return latencyChanges
  }

  /// The latencies of output buses as those of their channels.
  private static func byChannel(_ latencies: [Int], _ channels: FileChannels) -> [Int] {
    channels.outputs.map { latencies[$0.bus] }
  }

  private func cycle(_ count: Int) {
    _ = host.render(
      UnsafePointer(inputs), inputCount: channels.inputCount, UnsafePointer(outputs),
      outputCount: channels.outputCount,
      frameCount: count)
  }

  /// True while no unit holds sound.
  func isAtRest() throws(OfflineError) -> Bool {
    do throws(EngineError) {
      return try engine.wait { engine throws(EngineError) in engine.isAtRest }
    } catch {
      throw OfflineError(error)
    }
  }

  /// Samples that were not finite and have been silenced.
  func nonFiniteCount() -> Int {
    (try? engine.wait { engine throws(EngineError) in engine.counts.nonFinite }) ?? 0
  }
}
