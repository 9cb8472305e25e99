import BacklineEngine
import BacklineRealtime
import CBackline
import CJACK
import Synchronization

/// What the process callback shares with other threads.
struct JACKProcessFlags: ~Copyable {
  let gate = RenderGate()
  let hasBegun = Atomic<Bool>(false)
  let isFreewheeling = Atomic<Bool>(false)
  /// Frames a second.
  let sampleRate = Atomic<Int>(0)
}

/// What only the process callback touches, in memory of its own.
struct JACKProcess: ~Copyable {
  /// The most frames that are rendered in one piece; longer cycles are cut.
  static var longestSlice: Int { @_noLocks get { 8_192 } }

  private let flags: UnsafeMutablePointer<JACKProcessFlags>
  /// CLOCK_MONOTONIC minus JACK's clock, in nanoseconds; 0 where they are the same.
  private let clockOffset: Int64
  private let client: OpaquePointer
  private let render: HostRender
  private let state: UnsafeMutableRawPointer
  private let clock: UnsafeMutablePointer<FrameClock>
  private let meter: UnsafeMutablePointer<CycleMeter>
  private let wakeDescriptor: Int32
  private let inputs: Side
  private let outputs: Side

  init(
    client: OpaquePointer, inputs: [OpaquePointer], outputs: [OpaquePointer], clockOffset: Int64,
    flags: UnsafeMutablePointer<JACKProcessFlags>, record: HostRecord, wakeDescriptor: Int32,
    render: @escaping HostRender, state: UnsafeMutableRawPointer
  ) {
    self.client = client
    self.render = render
    self.state = state
    self.clockOffset = clockOffset
    self.wakeDescriptor = wakeDescriptor
    self.flags = flags
    clock = record.clock
    meter = record.meter
    self.inputs = Side(inputs)
    self.outputs = Side(outputs)
  }

  deinit {
    inputs.deallocate()
    outputs.deallocate()
  }

  /// The ports of one direction, with the table of pointers that a slice is rendered from.
  private struct Side {
    let count: Int
    let ports: UnsafeMutablePointer<OpaquePointer>
    let buffers: UnsafeMutablePointer<UnsafeMutablePointer<Float>?>
    let slice: UnsafeMutablePointer<UnsafeMutablePointer<Float>>
    /// Stands in for a port that has no buffer.
    let spare: UnsafeMutablePointer<Float>

    init(_ ports: [OpaquePointer]) {
      count = ports.count
      spare = SampleMemory.allocate(JACKProcess.longestSlice)
      self.ports = .allocate(capacity: max(1, count))
      buffers = .allocate(capacity: max(1, count))
      slice = .allocate(capacity: max(1, count))
      buffers.initialize(repeating: nil, count: max(1, count))
      slice.initialize(repeating: spare, count: max(1, count))
      for (index, port) in ports.enumerated() { (self.ports + index).initialize(to: port) }
    }

    func deallocate() {
      SampleMemory.free(spare)
      ports.deallocate()
      buffers.deallocate()
      slice.deallocate()
    }

    @_noLocks
    func fetch(_ frameCount: Int) {
      for index in 0..<count {
        buffers[index] = backline_jack_buffer(ports[index], jack_nframes_t(truncatingIfNeeded: frameCount))
      }
    }

    @_noLocks
    func cut(at offset: Int) {
      for index in 0..<count {
        if let buffer = buffers[index] { slice[index] = buffer + offset } else { slice[index] = spare }
      }
    }

    @_noLocks
    func silence(_ frameCount: Int) {
      for index in 0..<count {
        if let buffer = buffers[index] { backline_zero(buffer, Int64(frameCount)) }
      }
    }
  }

  /// One cycle of any length from 0 up.
  @_noLocks
  borrowing func run(_ frameCount: Int) {
    let begin = backline_now()
    outputs.fetch(frameCount)
    guard flags.pointee.gate.enter() else { return outputs.silence(frameCount) }
    inputs.fetch(frameCount)
    let rate = Double(max(1, flags.pointee.sampleRate.load(ordering: .relaxed)))
    let length = Int64(Double(frameCount) * 1e9 / rate)
    var start = begin
    var deadline = begin &+ length
    readCycleTimes(&start, &deadline)
    let frame = meter.pointee.advance(by: frameCount)
    let isTimed = !flags.pointee.isFreewheeling.load(ordering: .relaxed)
    if isTimed { clock.pointee.update(frame: frame, time: start, sampleRate: rate) }
    renderSlices(frameCount)
    if isTimed { meter.pointee.take(begin: begin, finish: backline_now(), deadline: deadline, length: length) }
    if !flags.pointee.hasBegun.load(ordering: .relaxed) {
      flags.pointee.hasBegun.store(true, ordering: .releasing)
      backline_wake(wakeDescriptor)
    }
    flags.pointee.gate.leave()
  }

  @_noLocks
  private borrowing func readCycleTimes(_ start: inout Int64, _ deadline: inout Int64) {
    var frames: jack_nframes_t = 0
    var current: jack_time_t = 0
    var next: jack_time_t = 0
    var period: Float = 0
    if backline_jack_cycle_times(client, &frames, &current, &next, &period) == 0 && next > current {
      start = Int64(truncatingIfNeeded: current) &* 1_000 &+ clockOffset
      deadline = Int64(truncatingIfNeeded: next) &* 1_000 &+ clockOffset
    }
  }

  @_noLocks
  private borrowing func renderSlices(_ frameCount: Int) {
    var offset = 0
    repeat {
      let count = min(frameCount &- offset, Self.longestSlice)
      inputs.cut(at: offset)
      outputs.cut(at: offset)
      var cycle = HostCycle(
        inputs: UnsafeRawPointer(inputs.slice).assumingMemoryBound(to: UnsafePointer<Float>.self),
        outputs: UnsafePointer(outputs.slice), inputCount: Int32(truncatingIfNeeded: inputs.count),
        outputCount: Int32(truncatingIfNeeded: outputs.count), frameCount: Int32(truncatingIfNeeded: count))
      backline_render_cycle(render, state, &cycle)
      offset &+= count
    } while offset < frameCount
  }
}

/// JACK's process callback; the argument is a `JACKProcess`.
@_noLocks
func jackProcess(_ frameCount: jack_nframes_t, _ argument: UnsafeMutableRawPointer?) -> Int32 {
  guard let argument else { return 0 }
  backline_realtime_enter()
  // Set in thread-init too, but a server may run the callback on a thread that it did not announce.
  _ = backline_flush_denormals()
  argument.assumingMemoryBound(to: JACKProcess.self).pointee.run(Int(frameCount))
  backline_realtime_exit()
  return 0
}

/// JACK's thread-init callback.
func jackThreadInit(_ argument: UnsafeMutableRawPointer?) {
  _ = backline_flush_denormals()
}
