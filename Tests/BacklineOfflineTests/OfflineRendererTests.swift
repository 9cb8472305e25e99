import BacklineDSP
import BacklineEngine
import BacklineMedia
import BacklineTestSupport
import Foundation
import Synchronization
import Testing

@testable import BacklineOffline

@Suite("Offline renderer")
struct OfflineRendererTests {
  @Test(
    "a rendering has exactly the frames that were asked for, the last one real signal (U-60)",
    arguments: [0, 1, 63, 64, 65, 4095, 4096, 4097, 48_000])
  func lengths(frames: Int) {
    for block in [64, 1000, 4096] {
      let samples = ramp(frames)
      let (result, found) = renderInMemory(MemorySource(samples), blockFrames: block)
      #expect(result.report?.frames == Int64(frames))
      #expect(found == samples)
    }
  }

  @Test("a length of minutes is exact, too, whether it is known before or not (U-60)")
  func longLength() {
    let counter = Mutex(0)
    for isKnown in [true, false] {
      let source = CountingSource(frames: 11_520_000, isLengthKnown: isKnown)
      let destination = CountingDestination { last in counter.withLock { $0 = last } }
      let result = OfflineRenderer(OfflineJob(source: source, destination: destination)).runAndWait()
      #expect(result.report?.frames == 11_520_000)
      #expect(counter.withLock { $0 } == 11_520_000)
      #expect(destination.isInOrder)
    }
  }

  @Test("no tail is the input's length, seconds are the exact sum, the latency is gone from the start (U-61)")
  func tails() throws {
    let tone = Signals.sine(441, frames: 48_000, amplitude: 0.5)
    let samples = tone.flatMap { [$0, $0] }
    let graph = chain(
      [("lookAhead", ["frames": 512]), ("reverb", ["decayTime": 5, "wetDryMix": 50])], catalog: TestUnits.catalog)
    let dry = chain([("reverb", ["decayTime": 5, "wetDryMix": 50])])
    let (plain, short) = renderInMemory(MemorySource(samples), MemoryDestination(), graph)
    #expect(plain.report?.frames == 48_000 && plain.report?.latencyFrames == 512)
    #expect(plain.report?.tailReason == TailPolicy.Reason.none)
    let (fixed, long) = renderInMemory(MemorySource(samples), MemoryDestination(), graph, tail: .seconds(6))
    #expect(fixed.report?.frames == 48_000 + 288_000 && fixed.report?.tailFrames == 288_000)
    #expect(fixed.report?.tailReason == .seconds)
    #expect(Array(long[..<short.count]) == short)
    // Without the unit that only delays there is the same sound.
    let (_, undelayed) = renderInMemory(MemorySource(samples), MemoryDestination(), dry, tail: .seconds(6))
    #expect(undelayed.count == long.count)
    let loudest = zip(undelayed, long).map { ($0 - $1).magnitude }.max() ?? 1
    #expect(loudest < 0.02)
  }

  @Test("a tail of auto ends where nothing is above -90 dBFS, and loses nothing that a minute would have (U-61)")
  func autoTail() throws {
    let samples = Signals.sine(441, frames: 24_000, amplitude: 0.5).flatMap { [$0, $0] }
    let graph = chain([("delay", ["feedback": 50, "delayTime": 0.5]), ("reverb", ["decayTime": 1])])
    let (result, found) = renderInMemory(MemorySource(samples), MemoryDestination(), graph, tail: .auto)
    let report = try #require(result.report)
    #expect(report.tailReason == .silence)
    #expect(report.frames == Int64(found.count / 2) && report.tailFrames == report.frames - 24_000)
    #expect(report.tailFrames > 48_000)
    let (_, minute) = renderInMemory(MemorySource(samples), MemoryDestination(), graph, tail: .seconds(60))
    #expect(Array(minute[..<found.count]) == found)
    #expect(minute[found.count...].allSatisfy { $0.magnitude <= TailPolicy.threshold })
    #expect(found.suffix(2).contains { $0.magnitude > TailPolicy.threshold })
  }

  @Test("a tail of auto waits through the silence between two echoes")
  func echoes() throws {
    // One second apart, each half as loud: the last above -90 dBFS is the fifteenth.
    let graph = chain([("echo", [:])], catalog: TestUnits.catalog)
    let (result, found) = renderInMemory(
      MemorySource([0.9, 0.9] + [Float](repeating: 0, count: 18)), MemoryDestination(), graph, tail: .auto)
    let report = try #require(result.report)
    #expect(report.tailReason == .silence)
    #expect(report.frames == 15 * 48_000 + 1)
    let last: Float = 0.9 / 16_384
    #expect(Array(found.suffix(2)) == [last, last])
  }

  @Test("a tail that does not end is ended after a minute, and says so")
  func endlessTail() throws {
    var graph = chain([("gain", [:])])
    graph.nodes.append(NodeSpecification(name: "o", kind: "oscillator", values: []))
    graph.connections[1] = ConnectionSpecification(from: Endpoint("o", bus: 0), to: Endpoint("output", bus: 0))
    let (result, _) = renderInMemory(
      MemorySource(ramp(100), sampleRate: 8000), MemoryDestination(), graph, tail: .auto)
    #expect(result.report?.tailReason == .limit)
    #expect(result.report?.frames == Int64(480_100))
  }

  @Test("a time becomes frames by one rule, and bad times are refused (U-65)")
  func durations() throws {
    #expect(TailPolicy.frames(15.000_090_702_947_846, sampleRate: 44_100) == 661_504)
    #expect(TailPolicy.frames(1.0 / 3, sampleRate: 44_100) == 14_700)
    #expect(TailPolicy.frames(0.5 / 48_000, sampleRate: 48_000) == 1)
    #expect(TailPolicy.frames(0.49 / 48_000, sampleRate: 48_000) == 0)
    #expect(TailPolicy.frames(36_000, sampleRate: 48_000) == 1_728_000_000)
    for text in ["nan", "-1", "inf", "1e300", "", "5s", "Auto", "0x10p900"] { #expect(TailPolicy(text) == nil) }
    #expect(TailPolicy("1.5") == .seconds(1.5) && TailPolicy("0") == .seconds(0))
    for seconds in [-1, .nan, .infinity, 1e300] {
      #expect(throws: OfflineError.self) { _ = try SilentSource(seconds: seconds, sampleRate: 48_000) }
    }
    // No break anywhere: the ramp comes through frame by frame.
    let samples = ramp(661_504)
    let (result, found) = renderInMemory(MemorySource(samples, sampleRate: 44_100))
    #expect(result.report?.frames == 661_504)
    #expect(found == samples)
  }

  @Test("a slow source is waited for, and its sound is complete from the first frame (U-63)")
  func slowSource() {
    let samples = ramp(3000)
    for isKnown in [true, false] {
      let slow = MemorySource(samples, isLengthKnown: isKnown, pause: 20_000, mostFrames: 700, stallsFirst: 3)
      let (result, found) = renderInMemory(slow, blockFrames: 512)
      #expect(result.report?.frames == 3000)
      #expect(found == samples)
    }
  }

  @Test("a source that breaks off, or is shorter than it says, ends in failure with its name (U-63)")
  func brokenSource() {
    let destination = MemoryDestination()
    let (result, _) = renderInMemory(MemorySource(ramp(10_000), failsAt: 5000), destination)
    #expect(result.error?.kind == .badData)
    #expect(result.error?.message.contains("memory") == true)
    #expect(destination.now.isDiscarded && !destination.now.isFinished)
    let short = MemoryDestination()
    let job = OfflineJob(source: CountingSource(frames: 100, claimedFrames: 200), destination: short)
    let error = OfflineRenderer(job).runAndWait().error
    #expect(error?.message.contains("counting") == true)
    #expect(!short.now.isFinished)
  }

  @Test("a destination that fails, within or only at the end, is a failure and leaves nothing (U-68)")
  func failingDestination() {
    for destination in [MemoryDestination(failsAfter: 20_000), MemoryDestination(failsAtEnd: true)] {
      let (result, _) = renderInMemory(MemorySource(ramp(50_000)), destination)
      #expect(result.error?.kind == .inputOutput)
      #expect(result.error?.message.contains("no space") == true)
      #expect(destination.now.isDiscarded && !destination.now.isFinished)
    }
  }

  @Test("progress never falls, never passes 1, and tells the frames that are written (U-68)")
  func progress() {
    let seen = Mutex<[OfflineProgress]>([])
    let (result, _) = renderInMemory(MemorySource(ramp(400_000)), MemoryDestination(pause: 20_000)) { job in
      job.onProgress = { progress in seen.withLock { $0.append(progress) } }
    }
    #expect(result.report != nil)
    let all = seen.withLock { $0 }
    #expect(all.count > 1)
    #expect(zip(all, all.dropFirst()).allSatisfy { $0.frames <= $1.frames })
    #expect(all.allSatisfy { ($0.fraction ?? 2) <= 1 && $0.totalFrames == 400_000 })
  }

  @Test("a rendering can be cancelled at any moment, and ends with nothing")
  func cancelling() async {
    for moment in [0, 1, 5000, 20_000] {
      let reached = Semaphore(moment == 0 ? 1 : 0)
      let destination = MemoryDestination(onWrite: { if $0 >= moment { reached.signal() } })
      let job = OfflineJob(source: CountingSource(frames: .max / 4, isLengthKnown: false), destination: destination)
      let renderer = OfflineRenderer(job)
      let task = Task { await renderer.run() }
      await Task.detached { reached.wait() }.value
      task.cancel()
      #expect(await task.value == .cancelled)
      #expect(destination.now.isDiscarded && !destination.now.isFinished)
    }
    let before = OfflineRenderer(OfflineJob(source: MemorySource(ramp(10)), destination: MemoryDestination()))
    before.cancel()
    #expect(before.runAndWait() == .cancelled)
  }

  @Test("channels go by the rule: one to two, two to one at half the sum, others not at all")
  func channels() {
    let mono: [Float] = [0.5, 0.25, -1]
    let stereo = chain([("gain", [:])])
    let (_, doubled) = renderInMemory(MemorySource(mono, channels: 1), MemoryDestination(), stereo)
    #expect(doubled == [0.5, 0.5, 0.25, 0.25, -1, -1])
    let one = chain(
      [("mono", [:])], ports: PortLayout(inputs: [["in"]], outputs: [["out"]]), catalog: TestUnits.catalog)
    let (_, halved) = renderInMemory(MemorySource([0.5, 0.25, 1, 0]), MemoryDestination(), one)
    #expect(halved == [0.75, 1])
    let (six, _) = renderInMemory(MemorySource(ramp(10, channels: 6), channels: 6), MemoryDestination(), stereo)
    #expect(six.error?.kind == .badData)
    let (passed, same) = renderInMemory(MemorySource(ramp(10, channels: 32), channels: 32))
    #expect(passed.report?.channelCount == 32 && same == ramp(10, channels: 32))
  }

  @Test("graphs render at several rates in one process, in mixed order, each in tune (U-66)")
  func rates() throws {
    let folder = TestFolder()
    let tone = (0..<44_100).map { Float(0.5 * sin(2 * .pi * 440 * Double($0) / 44_100)) }
    let path = folder.write("tone.wav", tone, channels: 1, rate: 44_100)
    for rate in [48_000, 96_000, 44_100, 48_000] {
      var graph = chain([("gain", [:])], ports: PortLayout(inputs: [["a"]], outputs: [["b", "c"]]))
      graph.nodes.append(NodeSpecification(name: "o", kind: "oscillator", values: []))
      let source = try FileSource(path: path, sampleRate: rate)
      let destination = FileDestination(
        path: folder.file("out.wav"), container: .wav, sampleFormat: .float32, replacing: true)
      let result = OfflineRenderer(OfflineJob(source: source, destination: destination, graph: graph)).runAndWait()
      #expect(result.report?.frames == Int64(rate) && result.report?.sampleRate == rate)
      let out = try folder.read("out.wav")
      #expect(out.rate == rate && out.samples.count == 2 * rate)
      let left = stride(from: 0, to: out.samples.count, by: 2).map { out.samples[$0] }
      #expect(abs(frequency(left, rate) - 440) < 0.5)
    }
    for (rate, index) in [(96_000, 0), (44_100, 1)] {
      let graph = GraphDescription(
        ports: PortLayout(inputs: [], outputs: [["out"]]),
        nodes: [
          NodeSpecification(
            name: "o", kind: "oscillator",
            values: UnitCatalog.standard["oscillator"]?.parameters.map {
              $0.name == "frequency" ? 440 : $0.defaultValue
            } ?? [])
        ], connections: [ConnectionSpecification(from: Endpoint("o", bus: 0), to: Endpoint("output", bus: 0))])
      let destination = MemoryDestination()
      var job = OfflineJob(
        source: try SilentSource(seconds: 1, sampleRate: rate), destination: destination, graph: graph)
      job.blockFrames = 1000 + index
      #expect(OfflineRenderer(job).runAndWait().report?.frames == Int64(rate))
      #expect(abs(frequency(destination.now.samples, rate) - 440) < 0.5)
    }
  }

  /// By the zero crossings from the first to the last one upwards, their places by straight lines.
  private func frequency(_ samples: [Float], _ rate: Int) -> Double {
    var crossings: [Double] = []
    for index in samples.indices.dropFirst() where samples[index - 1] < 0 && samples[index] >= 0 {
      let before = Double(samples[index - 1]), after = Double(samples[index])
      crossings.append(Double(index - 1) + before / (before - after))
    }
    guard let first = crossings.first, let last = crossings.last, last > first else { return 0 }
    return Double(crossings.count - 1) * Double(rate) / (last - first)
  }
}

/// A source of any length that holds nothing: the frame's number, modulo 2^20, on both channels.
final class CountingSource: OfflineSource {
  let name = "counting"
  let sampleRate = 48_000
  let channelCount = 2
  let frameCount: Int64?
  private let frames: Int64
  private let position = Mutex<Int64>(0)

  init(frames: Int64, isLengthKnown: Bool = true, claimedFrames: Int64? = nil) {
    self.frames = frames
    frameCount = claimedFrames ?? (isLengthKnown ? frames : nil)
  }

  func read(into samples: UnsafeMutablePointer<Float>, count: Int) throws(OfflineError) -> OfflineRead {
    let start = position.withLock { $0 }
    let given = Int(min(Int64(count), frames - start))
    if given <= 0 { return .end }
    for index in 0..<given {
      let value = Float((start + Int64(index)) & 0xF_FFFF) / 1_048_576
      samples[2 * index] = value
      samples[2 * index + 1] = value
    }
    position.withLock { $0 += Int64(given) }
    return .frames(given)
  }
}

/// Looks whether the frames of a `CountingSource` come one after the other.
final class CountingDestination: OfflineDestination {
  private let state = Mutex((frames: 0, isInOrder: true))
  private let onFinish: @Sendable (Int) -> Void

  init(onFinish: @escaping @Sendable (Int) -> Void) { self.onFinish = onFinish }

  var isInOrder: Bool { state.withLock { $0.isInOrder } }

  func begin(sampleRate: Int, channelCount: Int, expectedFrames: Int64?) throws(OfflineError) {}

  func write(_ samples: UnsafePointer<Float>, frames: Int) throws(OfflineError) {
    let start = state.withLock { $0.frames }
    var isInOrder = true
    for index in 0..<frames {
      let value = Float((start + index) & 0xF_FFFF) / 1_048_576
      if samples[2 * index] != value || samples[2 * index + 1] != value { isInOrder = false }
    }
    state.withLock { state in
      state.frames += frames
      if !isInOrder { state.isInOrder = false }
    }
  }

  func finish() throws(OfflineError) -> DestinationReport {
    onFinish(state.withLock { $0.frames })
    return DestinationReport()
  }

  func discard() {}
}
