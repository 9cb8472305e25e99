import BacklineDSP
import BacklineEngine
import BacklineMedia
import BacklineTestSupport
import Foundation
import Synchronization

@testable import BacklineOffline

/// A source in memory, as slow and as broken as a test wants it.
final class MemorySource: OfflineSource {
  let name = "memory"
  let sampleRate: Int
  let channelCount: Int
  let frameCount: Int64?
  private let samples: [Float]
  private let pause: UInt32
  private let mostFrames: Int
  private let stallsFirst: Int
  private let failsAt: Int?
  private let state = Mutex((position: 0, reads: 0))

  /// Interleaved samples. Each read waits `pause` microseconds and gives at most `mostFrames`.
  init(
    _ samples: [Float], sampleRate: Int = 48_000, channels: Int = 2, isLengthKnown: Bool = true, pause: UInt32 = 0,
    mostFrames: Int = .max, stallsFirst: Int = 0, failsAt: Int? = nil
  ) {
    self.samples = samples
    self.sampleRate = sampleRate
    channelCount = channels
    frameCount = isLengthKnown ? Int64(samples.count / channels) : nil
    self.pause = pause
    self.mostFrames = mostFrames
    self.stallsFirst = stallsFirst
    self.failsAt = failsAt
  }

  func read(into target: UnsafeMutablePointer<Float>, count: Int) throws(OfflineError) -> OfflineRead {
    if pause > 0 { usleep(pause) }
    let (position, isStalling) = state.withLock { state in
      state.reads += 1
      return (state.position, state.reads <= stallsFirst)
    }
    if isStalling { return .notYet }
    let frames = min(count, mostFrames, samples.count / channelCount - position)
    if let failsAt, position + frames > failsAt { throw OfflineError(.badData, "memory is broken at frame \(failsAt)") }
    if frames <= 0 { return .end }
    for index in 0..<frames * channelCount { target[index] = samples[position * channelCount + index] }
    state.withLock { $0.position += frames }
    return .frames(frames)
  }
}

/// A destination in memory.
final class MemoryDestination: OfflineDestination {
  struct State {
    var samples: [Float] = []
    var channelCount = 0
    var sampleRate = 0
    var expectedFrames: Int64?
    var isFinished = false
    var isDiscarded = false
  }

  private let state = Mutex(State())
  private let failsAfter: Int
  private let failsAtEnd: Bool
  private let pause: UInt32
  /// Called before each write.
  private let onWrite: @Sendable (_ frames: Int) -> Void

  init(
    failsAfter: Int = .max, failsAtEnd: Bool = false, pause: UInt32 = 0,
    onWrite: @escaping @Sendable (Int) -> Void = { _ in }
  ) {
    self.failsAfter = failsAfter
    self.failsAtEnd = failsAtEnd
    self.pause = pause
    self.onWrite = onWrite
  }

  var now: State { state.withLock { $0 } }
  var frameCount: Int { now.samples.count / max(1, now.channelCount) }

  func begin(sampleRate: Int, channelCount: Int, expectedFrames: Int64?) throws(OfflineError) {
    state.withLock { state in
      state.sampleRate = sampleRate
      state.channelCount = channelCount
      state.expectedFrames = expectedFrames
    }
  }

  func write(_ samples: UnsafePointer<Float>, frames: Int) throws(OfflineError) {
    if pause > 0 { usleep(pause) }
    let written = state.withLock { state in
      state.samples += UnsafeBufferPointer(start: samples, count: frames * state.channelCount)
      return state.samples.count / state.channelCount
    }
    onWrite(written)
    if written > failsAfter { throw OfflineError(.inputOutput, "no space is left in memory") }
  }

  func finish() throws(OfflineError) -> DestinationReport {
    if failsAtEnd { throw OfflineError(.inputOutput, "no space is left at the end") }
    state.withLock { $0.isFinished = true }
    return DestinationReport()
  }

  func discard() { state.withLock { $0.isDiscarded = true } }
}

/// Values from which a frame can be told, interleaved; odd channels are negated.
func ramp(_ frames: Int, channels: Int = 2) -> [Float] {
  (0..<frames * channels).map { index in
    let value = Float(index / channels % 65_536 + 1) / 131_072
    return index % channels % 2 == 0 ? value : -value
  }
}

/// A graph of nodes in a row, with their values by parameter name.
func chain(
  _ nodes: [(kind: String, values: [String: Float])], ports: PortLayout = .stereo, catalog: UnitCatalog = .standard
) -> GraphDescription {
  var names = ["input"]
  var made: [NodeSpecification] = []
  for (index, node) in nodes.enumerated() {
    let unit = catalog[node.kind]
    var values = unit?.parameters.map(\.defaultValue) ?? []
    for (name, value) in node.values { if let index = unit?.parameterIndex(named: name) { values[index] = value } }
    made.append(NodeSpecification(name: "n\(index)", kind: node.kind, values: values))
    names.append("n\(index)")
  }
  names.append("output")
  return GraphDescription(
    ports: ports, nodes: made,
    connections: zip(names, names.dropFirst()).map {
      ConnectionSpecification(from: Endpoint($0, bus: 0), to: Endpoint($1, bus: 0))
    })
}

/// Steps at frames, for tests.
final class TestScript: OfflineScript {
  private let steps: Mutex<[(frame: Int64, commands: [Command])]>

  init(_ steps: [(frame: Int64, commands: [Command])]) { self.steps = Mutex(steps) }

  var nextFrame: Int64? { steps.withLock { $0.first?.frame } }
  let isPlanNext = true

  func step(_ engine: Engine, at frame: Int64, isNow: Bool) throws(OfflineError) {
    let step = steps.withLock { $0.removeFirst() }
    do throws(EngineError) {
      try engine.wait { engine throws(EngineError) in
        do throws(TransactionError) {
          try engine.perform(step.commands, at: isNow ? nil : frame)
        } catch {
          throw error.error
        }
        engine.flush()
      }
    } catch {
      throw OfflineError(error)
    }
  }
}

/// Renders from memory to memory.
func renderInMemory(
  _ source: MemorySource, _ destination: MemoryDestination = MemoryDestination(), _ graph: GraphDescription? = nil,
  tail: TailPolicy = .none, blockFrames: Int = 4096, _ change: (inout OfflineJob) -> Void = { _ in }
) -> (result: OfflineResult, samples: [Float]) {
  var job = OfflineJob(source: source, destination: destination, graph: graph)
  job.tail = tail
  job.blockFrames = blockFrames
  job.catalog = TestUnits.catalog
  change(&job)
  let result = OfflineRenderer(job).runAndWait()
  return (result, destination.now.samples)
}

extension OfflineResult {
  var report: OfflineReport? { if case .completed(let report) = self { report } else { nil } }
  var error: OfflineError? { if case .failed(let error) = self { error } else { nil } }
}

/// A folder that is removed with its contents.
final class TestFolder {
  let path: String

  init() {
    path = FileManager.default.temporaryDirectory.path + "/backline-offline-\(UUID().uuidString)"
    try? FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  func file(_ name: String) -> String { path + "/" + name }
  var names: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted() }

  /// Writes a WAV file of interleaved floats.
  func write(_ name: String, _ samples: [Float], channels: Int = 2, rate: Int = 48_000) -> String {
    let destination = FileDestination(path: file(name), container: .wav, sampleFormat: .float32, replacing: true)
    var job = OfflineJob(
      source: MemorySource(samples, sampleRate: rate, channels: channels), destination: destination)
    job.blockFrames = 8192
    precondition(OfflineRenderer(job).runAndWait().report != nil)
    return file(name)
  }

  func read(_ name: String) throws -> (samples: [Float], rate: Int, channels: Int) {
    let source = try FileSource(path: file(name))
    let count = Int(source.frameCount ?? 0) * source.channelCount
    var samples = [Float](repeating: .nan, count: count + source.channelCount)
    var done = 0
    while true {
      let read = try samples.withUnsafeMutableBufferPointer {
        try source.read(into: $0.baseAddress! + done, count: 100_000)
      }
      guard case .frames(let frames) = read else { break }
      done += frames * source.channelCount
    }
    return (Array(samples[..<done]), source.sampleRate, source.channelCount)
  }
}
