import BacklineEngine
import CBackline
import Glibc
import Synchronization

/// The three threads of one rendering.
final class RenderPass: Sendable {
  /// The blocks on their way between two threads.
  private static let depth = 4
  /// About as many samples of all channels go into such a block, more than are rendered at once: handing over takes its time.
  private static let blockSamples = 65_536
  /// Frames between two looks at whether a tail has ended.
  private static let restFrames: Int64 = 4096
  /// How long a source that has nothing yet is asked again, in nanoseconds.
  private static let patience: Int64 = 10_000_000_000

  private let job: OfflineJob
  nonisolated(unsafe) private let graph: OfflineGraph  // of the thread that runs
  private let passage: ChannelPassage
  private let output: OutputStage
  nonisolated(unsafe) private let trim: LatencyTrim  // of the thread that runs
  private let begin: Int64
  /// The frames of a block on its way between two threads.
  private let blockFrames: Int
  private let filled = BlockQueue(capacity: depth), emptied = BlockQueue(capacity: depth)
  private let rendered = BlockQueue(capacity: depth), written = BlockQueue(capacity: depth)
  private let failure = Mutex<OfflineError?>(nil)
  private let isOver = Atomic<Bool>(false)

  init(_ job: OfflineJob, _ graph: OfflineGraph, begin: Int64) throws(OfflineError) {
    self.job = job
    self.graph = graph
    self.begin = begin
    passage = try ChannelPassage(
      from: job.source.channelCount, to: graph.inputCount, sourceName: job.source.name)
    let rate = job.source.sampleRate
    let tail: Int64? =
      switch job.tail {
      case .none: 0
      case .seconds(let seconds): TailPolicy.frames(seconds, sampleRate: rate)
      case .auto: nil
      }
    let expected = job.source.frameCount.flatMap { frames in tail.map { frames + $0 } }
    let channels = max(job.source.channelCount, graph.inputCount, graph.outputCount)
    blockFrames = max(job.blockFrames, Self.blockSamples / channels)
    output = OutputStage(
      job.destination, channelCount: graph.outputCount, sampleRate: rate, expectedFrames: expected,
      blockFrames: blockFrames)
    trim = LatencyTrim(
      graph.latencies, blockFrames: blockFrames, fadeFrames: Int(TailPolicy.frames(job.rampTime, sampleRate: rate)))
    for _ in 0..<Self.depth {
      _ = emptied.push(SampleBlock(channelCount: graph.inputCount, capacity: blockFrames))
      _ = written.push(SampleBlock(channelCount: graph.outputCount, capacity: blockFrames))
    }
  }

  var progress: OfflineProgress {
    OfflineProgress(
      frames: output.frameCount, totalFrames: output.expectedFrames, seconds: Double(backline_now() - begin) * 1e-9)
  }

  /// Ends everything that waits.
  func cancel() {
    isOver.store(true, ordering: .sequentiallyConsistent)
    for queue in [filled, emptied, rendered, written] { queue.breakOff() }
    job.source.cancel()
    job.destination.cancel()
  }

  private func fail(_ error: OfflineError) {
    failure.withLock { if $0 == nil { $0 = error } }
    cancel()
  }

  /// Renders everything; `nil` when it was cancelled.
  func run(isCancelled: () -> Bool) throws(OfflineError) -> OfflineReport? {
    try output.begin()
    let reader = try PipelineThread("render read") { self.read() }
    let writer: PipelineThread
    do throws(OfflineError) {
      writer = try PipelineThread("render write") { self.write() }
    } catch {
      cancel()
      reader.join()
      throw error
    }
    let denormals = backline_flush_denormals()
    var report = OfflineReport()
    do throws(OfflineError) {
      report = try render()
    } catch {
      fail(error)
    }
    backline_restore_denormals(denormals)
    rendered.end()
    reader.join()
    writer.join()
    if let error = failure.withLock({ $0 }) { throw error }
    if isCancelled() || isOver.load(ordering: .sequentiallyConsistent) { return nil }
    report.destination = try output.finish(keepsTail: report.tailReason == .limit)
    report.frames = output.frameCount
    report.tailFrames = max(0, report.frames - report.tailFrames)
    report.sampleRate = job.source.sampleRate
    report.channelCount = graph.outputCount
    report.latencyFrames = graph.latencies.max() ?? 0
    report.peak = output.peak
    report.nonFinite = graph.nonFiniteCount() + ((job.source as? FileSource)?.nonFiniteCount ?? 0)
    report.seconds = Double(backline_now() - begin) * 1e-9
    return report
  }

  // MARK: Reading

  private func read() {
    do throws(OfflineError) {
      let samples = UnsafeMutablePointer<Float>.allocate(capacity: blockFrames * job.source.channelCount)
      defer { samples.deallocate() }
      var isEnded = false
      while !isEnded, let block = emptied.pop() {
        block.count = 0
        while block.count < block.capacity, !isEnded {
          let wanted = block.capacity - block.count
          switch try awaited(samples, wanted) {
          case .frames(let count):
            passage.lay(samples, frames: count, in: block, from: block.count)
            block.count += count
          case .notYet, .end: isEnded = true
          }
        }
        if block.count > 0 && !filled.push(block) { return }
      }
      filled.end()
    } catch {
      fail(error)
    }
  }

  /// Asks the source until it gives something, for as long as it may have nothing.
  private func awaited(_ samples: UnsafeMutablePointer<Float>, _ count: Int) throws(OfflineError) -> OfflineRead {
    let limit = backline_now() + Self.patience
    while true {
      let read = try job.source.read(into: samples, count: count)
      if isOver.load(ordering: .relaxed) { return .end }
      if read != .notYet { return read }
      if backline_now() > limit {
        throw OfflineError(.inputOutput, "\(job.source.name) has given nothing for 10 seconds")
      }
      usleep(500)
    }
  }

  // MARK: Rendering

  /// Renders the input and the tail. `tailFrames` of what is returned is the input's length.
  private func render() throws(OfflineError) -> OfflineReport {
    var length: Int64 = 0
    while let block = filled.pop() {
      length += Int64(block.count)
      guard try render(block, block.count) != nil, emptied.push(block) else { return OfflineReport() }
    }
    if isOver.load(ordering: .relaxed) { return OfflineReport() }
    if let expected = job.source.frameCount, expected != length {
      throw OfflineError(.badData, "\(job.source.name) has \(length) frames, not \(expected)")
    }
    var report = OfflineReport()
    report.tailFrames = length
    report.tailReason = try renderTail(length)
    return report
  }

  /// Renders a block and hands it on; its peak, or `nil` when all is over.
  private func render(_ input: SampleBlock?, _ count: Int, isTail: Bool = false) throws(OfflineError) -> Float? {
    guard let block = written.pop() else { return nil }
    let before = graph.position
    try graph.render(input, count: count, to: block)
    var peak: Float = 0
    if isTail {
      for channel in 0..<block.channelCount { peak = max(peak, backline_peak(block.channels[channel], Int64(count))) }
    }
    block.count = trim.process(block, count, from: before, graph.takeLatencyChanges())
    block.isTail = isTail
    return rendered.push(block) ? peak : nil
  }

  private func renderTail(_ length: Int64) throws(OfflineError) -> TailPolicy.Reason {
    let rate = job.source.sampleRate
    if try !renderSilence(until: length) { return .none }
    switch job.tail {
    case .none: return .none
    case .seconds(let seconds):
      _ = try renderSilence(until: length + TailPolicy.frames(seconds, sampleRate: rate))
      return .seconds
    case .auto:
      let last = length + TailPolicy.frames(TailPolicy.longestAuto, sampleRate: rate)
      var peak: Float = 1
      while true {
        let limit = last + Int64(trim.lead)
        if graph.position >= limit { return .limit }
        if graph.position % Self.restFrames == 0 {
          if peak < TailPolicy.threshold, try graph.isAtRest() { return .silence }
          peak = 0
        }
        let edge = (graph.position / Self.restFrames + 1) * Self.restFrames
        let count = min(Int64(blockFrames), edge - graph.position, limit - graph.position)
        guard let part = try render(nil, Int(count), isTail: true) else { return .none }
        peak = max(peak, part)
      }
    }
  }

  /// Renders silence up to the frame `end` of the file; false when all is over.
  private func renderSilence(until end: Int64) throws(OfflineError) -> Bool {
    while true {
      // Asked each time: a latency may change meanwhile.
      let left = end + Int64(trim.lead) - graph.position
      if left <= 0 { return true }
      if try render(nil, Int(min(Int64(blockFrames), left))) == nil { return false }
    }
  }

  // MARK: Writing

  private func write() {
    var lastTold: Int64 = 0
    do throws(OfflineError) {
      while let block = rendered.pop() {
        try output.write(block)
        guard written.push(block) else { return }
        if let tell = job.onProgress {
          let now = backline_now()
          if now - lastTold > 50_000_000 {
            lastTold = now
            tell(progress)
          }
        }
      }
    } catch {
      fail(error)
    }
  }
}
