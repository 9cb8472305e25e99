import CBackline
import CJACK
import Synchronization

/// Samples of several channels that are played or recorded once.
final class Take {
  /// What the callback works on.
  struct Memory: ~Copyable {
    let samples: [UnsafeMutablePointer<Float>]
    let frames: Int
    let repeats: Bool
    /// The recording that has to have come so far before this is played.
    let start: (recording: UnsafeMutablePointer<Memory>, frames: Int)?
    var position = 0
    let isDone = Atomic<Bool>(false)
    /// The frames that have been recorded.
    let recorded = Atomic<Int>(0)
  }

  let pointer: UnsafeMutablePointer<Memory>
  /// Kept while this may look at it.
  private let awaited: Take?

  init(_ channels: [[Float]], repeats: Bool, after awaited: Take? = nil, frames start: Int = 0) {
    self.awaited = awaited
    let frames = channels.map(\.count).max() ?? 0
    let samples = channels.map { channel in
      let memory = UnsafeMutablePointer<Float>.allocate(capacity: max(1, frames))
      memory.initialize(repeating: 0, count: max(1, frames))
      for (index, sample) in channel.enumerated() { memory[index] = sample }
      return memory
    }
    pointer = .allocate(capacity: 1)
    pointer.initialize(
      to: Memory(
        samples: samples, frames: frames, repeats: repeats,
        start: awaited.map { (recording: $0.pointer, frames: start) }))
  }

  deinit {
    for memory in pointer.pointee.samples { memory.deallocate() }
    pointer.deinitialize(count: 1)
    pointer.deallocate()
  }

  var isDone: Bool { pointer.pointee.isDone.load(ordering: .acquiring) }

  var channels: [[Float]] {
    pointer.pointee.samples.map { Array(UnsafeBufferPointer(start: $0, count: pointer.pointee.frames)) }
  }
}

/// A recording that goes on.
public final class JACKRecording: @unchecked Sendable {
  let take: Take

  init(_ take: Take) { self.take = take }

  /// The first channel as far as it has come by now.
  public var soFar: [Float] {
    let memory = take.pointer
    let count = memory.pointee.recorded.load(ordering: .acquiring)
    return memory.pointee.samples.first.map { Array(UnsafeBufferPointer(start: $0, count: count)) } ?? []
  }

  /// The channels, once all frames have come.
  public func samples(within seconds: Double = 20) async throws(JACKTestError) -> [[Float]] {
    guard await Eventually.holds(within: seconds, { take.isDone }) else { throw .timedOut("recording") }
    return take.channels
  }
}

/// A test client's memory. Takes are kept until the client has been closed, since the callback may still use them.
struct ClientState: ~Copyable {
  let inputs: [OpaquePointer]
  let outputs: [OpaquePointer]
  let addedLatency: Int?
  let playing = Atomic<UnsafeMutablePointer<Take.Memory>?>(nil)
  let recording = Atomic<UnsafeMutablePointer<Take.Memory>?>(nil)
  let xruns = Atomic<Int>(0)
  private var takes: [Take] = []

  init(inputs: [OpaquePointer], outputs: [OpaquePointer], addedLatency: Int?) {
    self.inputs = inputs
    self.outputs = outputs
    self.addedLatency = addedLatency
  }

  mutating func keep(_ take: Take) { takes.append(take) }

  func process(_ frameCount: Int) {
    for port in outputs { backline_zero(backline_jack_buffer(port, UInt32(frameCount)), Int64(frameCount)) }
    if let take = playing.load(ordering: .acquiring) { play(take, frameCount) }
    if let take = recording.load(ordering: .acquiring) { record(take, frameCount) }
  }

  private func play(_ take: UnsafeMutablePointer<Take.Memory>, _ frameCount: Int) {
    if let start = take.pointee.start, start.recording.pointee.recorded.load(ordering: .acquiring) < start.frames {
      return
    }
    var done = 0
    while done < frameCount && take.pointee.position < take.pointee.frames {
      let count = min(frameCount - done, take.pointee.frames - take.pointee.position)
      for (port, samples) in zip(outputs, take.pointee.samples) {
        guard let buffer = backline_jack_buffer(port, UInt32(frameCount)) else { continue }
        backline_copy(buffer + done, samples + take.pointee.position, Int64(count))
      }
      done += count
      take.pointee.position += count
      if take.pointee.position == take.pointee.frames && take.pointee.repeats { take.pointee.position = 0 }
    }
    if take.pointee.position == take.pointee.frames { take.pointee.isDone.store(true, ordering: .releasing) }
  }

  private func record(_ take: UnsafeMutablePointer<Take.Memory>, _ frameCount: Int) {
    let count = min(frameCount, take.pointee.frames - take.pointee.position)
    if count <= 0 { return }
    for (port, samples) in zip(inputs, take.pointee.samples) {
      guard let buffer = backline_jack_buffer(port, UInt32(frameCount)) else { continue }
      backline_copy(samples + take.pointee.position, buffer, Int64(count))
    }
    take.pointee.position += count
    take.pointee.recorded.store(take.pointee.position, ordering: .releasing)
    if take.pointee.position == take.pointee.frames { take.pointee.isDone.store(true, ordering: .releasing) }
  }

  func answerLatency(_ mode: jack_latency_callback_mode_t) {
    let isCapture = mode == JackCaptureLatency
    for (near, far) in zip(isCapture ? inputs : outputs, isCapture ? outputs : inputs) {
      var range = jack_latency_range_t()
      jack_port_get_latency_range(near, mode, &range)
      range.min += UInt32(addedLatency ?? 0)
      range.max += UInt32(addedLatency ?? 0)
      jack_port_set_latency_range(far, mode, &range)
    }
  }
}

func ignoreMessage(_ message: UnsafePointer<CChar>?) {}

func processTestClient(_ frameCount: jack_nframes_t, _ argument: UnsafeMutableRawPointer?) -> Int32 {
  argument?.assumingMemoryBound(to: ClientState.self).pointee.process(Int(frameCount))
  return 0
}

func countTestXrun(_ argument: UnsafeMutableRawPointer?) -> Int32 {
  argument?.assumingMemoryBound(to: ClientState.self).pointee.xruns.wrappingAdd(1, ordering: .relaxed)
  return 0
}

func answerTestLatency(_ mode: jack_latency_callback_mode_t, _ argument: UnsafeMutableRawPointer?) {
  argument?.assumingMemoryBound(to: ClientState.self).pointee.answerLatency(mode)
}
