import BacklineDSP
import BacklineEngine
import BacklineTestSupport
import Foundation
import Synchronization
import Testing

@testable import BacklineMedia

/// A recorder on an engine that a test drives frame by frame: `input` goes through the node `flip`, which turns it
/// upside down, to `output`.
final class RecorderRig: @unchecked Sendable {
  let harness: EngineHarness
  let recorder: Recorder
  let fixtures = SoundFixtures()
  private let log: EventLog<RecordingEvent>
  /// Frames given to the engine.
  private(set) var frame = 0

  init(_ settings: RecordingSettings = RecordingSettings(), startFrame: Int64 = 0) async throws {
    harness = try await EngineHarness(rampTime: 0, startFrame: startFrame)
    let log = EventLog<RecordingEvent>()
    self.log = log
    let engine = harness.engine
    recorder = try engine.wait { _ throws(EngineError) in
      try Recorder(engine: engine, settings: settings) { log.append($0) }
    }
    try await harness.perform([
      .add(kind: "polarity", name: "flip", values: []), .connect(Endpoint("input"), Endpoint("flip")),
      .connect(Endpoint("flip"), Endpoint("output")),
    ])
    _ = harness.render(frames: 256)
    await harness.settle()
  }

  var events: [RecordingEvent] { log.all }
  var engine: Engine { harness.engine }

  func path(_ name: String) -> String { fixtures.path(name) }

  /// On the control queue.
  func control<Value: Sendable>(_ body: @Sendable () throws -> Value) throws -> Value {
    let result: Result<Value, any Error> = engine.wait { _ in Result { try body() } }
    return try result.get()
  }

  func start(_ name: String, _ sources: [String] = [], frameLimit: Int64? = nil) async throws {
    let done = AnswerBox<Result<Void, EngineError>>()
    let (target, endpoints) = (path(name), try sources.map { try Endpoint(parsing: $0) })
    try control { recorder.start(path: target, sources: endpoints, frameLimit: frameLimit) { done.put($0) } }
    try await done.value().get()
  }

  func stop() async throws -> RecordingReport {
    let done = AnswerBox<RecordingReport>()
    try control { recorder.stop { done.put($0) } }
    return try await done.value()
  }

  func arm(_ source: String, _ isArmed: Bool) async throws {
    let done = AnswerBox<Result<Void, EngineError>>()
    let endpoint = try Endpoint(parsing: source)
    try control { recorder.arm(endpoint, isArmed) { done.put($0) } }
    try await done.value().get()
  }

  /// The left input at a frame of this rig's; the right one is the negative of it. Never zero, exact in 24 bits.
  static func sample(_ frame: Int) -> Float { Float(frame % 65_521 + 1) / 131_072 }

  /// Renders frames of the signal in cycles of these lengths.
  func render(_ frames: Int, cuts: [Int] = [64], lostFrames: Int = 0) {
    var left = frames
    var cut = 0
    var lost = lostFrames
    while left > 0 {
      let count = min(cuts[cut % cuts.count], left)
      cut += 1
      let input = (0..<count).map { Self.sample(frame + $0) }
      _ = harness.host.cycle([input, input.map { -$0 }], frames: count, lostFrames: lost)
      lost = 0
      frame += count
      left -= count
    }
  }

  /// Waits until so many frames have been written.
  func written(_ frames: Int64) async throws {
    try await waitUntil(10) { [self] in recorder.writer.state.frames >= frames }
  }

  /// Waits until the writing thread has done what it was told before.
  func settleWriter() async throws {
    let done = AnswerBox<Bool>()
    recorder.writer.meet { done.put(true) }
    _ = try await done.value()
  }

  /// A file's samples, a list a channel.
  static func read(_ path: String) throws -> [[Float]] {
    let reader = try SoundFileReader(path: path, channelLimit: RecordingPlan.channelLimit)
    let channels = reader.format.channelCount, frames = Int(reader.format.frameCount)
    var samples = [Float](repeating: 0, count: frames * channels)
    var done = 0
    while done < frames {
      let read = try samples.withUnsafeMutableBufferPointer { buffer -> Int in
        guard let base = buffer.baseAddress else { return 0 }
        return try reader.read(at: Int64(done), into: base + done * channels, count: frames - done)
      }
      if read == 0 { break }
      done += read
    }
    return (0..<channels).map { channel in (0..<frames).map { samples[$0 * channels + channel] } }
  }
}

/// One answer that comes from another thread.
final class AnswerBox<Value: Sendable>: Sendable {
  private let content = Mutex<Value?>(nil)

  func put(_ value: Value) { content.withLock { $0 = value } }

  func value() async throws -> Value {
    try await waitUntil(15) { [self] in content.withLock { $0 != nil } }
    return try #require(content.withLock { $0 })
  }
}
