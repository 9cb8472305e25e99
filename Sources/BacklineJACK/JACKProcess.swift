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
  /// The ports to use from the coming cycle on, and those that the last cycle used.
  let ports = Atomic<UnsafeMutablePointer<JACKPortTable>?>(nil)
  let usedPorts = Atomic<UnsafeMutablePointer<JACKPortTable>?>(nil)
  /// When the coming cycle begins unless the server loses some, in nanoseconds; 0 where nothing is known. Process callback.
  let expectedStart = Atomic<Int64>(0)
}

/// What only the process callback touches, in memory of its own.
struct JACKProcess: ~Copyable {
  private let flags: UnsafeMutablePointer<JACKProcessFlags>
  /// CLOCK_MONOTONIC minus JACK's clock, in nanoseconds; 0 where they are the same.
  private let clockOffset: Int64
  private let client: OpaquePointer
  private let render: HostRender
  private let state: UnsafeMutableRawPointer
  private let clock: UnsafeMutablePointer<FrameClock>
  private let meter: UnsafeMutablePointer<CycleMeter>
  private let wakeDescriptor: Int32

  init(
    client: OpaquePointer, clockOffset: Int64, flags: UnsafeMutablePointer<JACKProcessFlags>, record: HostRecord,
    wakeDescriptor: Int32, render: @escaping HostRender, state: UnsafeMutableRawPointer
  ) {
    self.client = client
    self.render = render
    self.state = state
    self.clockOffset = clockOffset
    self.wakeDescriptor = wakeDescriptor
    self.flags = flags
    clock = record.clock
    meter = record.meter
  }

  /// One cycle of any length from 0 up.
  @_noLocks
  borrowing func run(_ frameCount: Int) {
    let begin = backline_now()
    guard let ports = flags.pointee.ports.load(ordering: .acquiring) else { return }
    ports.pointee.outputs.fetch(frameCount)
    if flags.pointee.gate.enter() {
      ports.pointee.inputs.fetch(frameCount)
      render(ports, frameCount, begin: begin)
      flags.pointee.gate.leave()
    } else {
      ports.pointee.outputs.silence(frameCount)
    }
    flags.pointee.usedPorts.store(ports, ordering: .releasing)
  }

  @_noLocks
  private borrowing func render(
    _ ports: UnsafeMutablePointer<JACKPortTable>, _ frameCount: Int, begin: Int64
  ) {
    let rate = Double(max(1, flags.pointee.sampleRate.load(ordering: .relaxed)))
    let length = Int64(Double(frameCount) * 1e9 / rate)
    var start = begin
    var deadline = begin &+ length
    let isTold = readCycleTimes(&start, &deadline)
    let frame = meter.pointee.advance(by: frameCount)
    let isTimed = !flags.pointee.isFreewheeling.load(ordering: .relaxed)
    if isTimed { clock.pointee.update(frame: frame, time: start, sampleRate: rate) }
    let lost = isTold && isTimed ? framesLost(before: start, rate) : 0
    flags.pointee.expectedStart.store(isTold && isTimed ? deadline : 0, ordering: .relaxed)
    renderSlices(ports, frameCount, lost: lost)
    if isTimed { meter.pointee.take(begin: begin, finish: backline_now(), deadline: deadline, length: length) }
    if !flags.pointee.hasBegun.load(ordering: .relaxed) {
      flags.pointee.hasBegun.store(true, ordering: .releasing)
      backline_wake(wakeDescriptor)
    }
  }

  @_noLocks
  private borrowing func readCycleTimes(_ start: inout Int64, _ deadline: inout Int64) -> Bool {
    var frames: jack_nframes_t = 0
    var current: jack_time_t = 0
    var next: jack_time_t = 0
    var period: Float = 0
    if backline_jack_cycle_times(client, &frames, &current, &next, &period) == 0 && next > current {
      start = Int64(truncatingIfNeeded: current) &* 1_000 &+ clockOffset
      deadline = Int64(truncatingIfNeeded: next) &* 1_000 &+ clockOffset
      return true
    }
    return false
  }

  /// The frames that the server lost between the last cycle and one that begins at `start`.
  ///
  /// A server's own loop has each cycle begin where the last one ended; only when it begins anew, after an xrun, is there a
  /// gap. Less than a thousandth of a second is the loop's own correction.
  @_noLocks
  private borrowing func framesLost(before start: Int64, _ rate: Double) -> Int {
    let expected = flags.pointee.expectedStart.load(ordering: .relaxed)
    let gap = start &- expected
    if expected == 0 || gap < 1_000_000 || gap > 60_000_000_000 { return 0 }
    return Int(Double(gap) * rate / 1e9 + 0.5)
  }

  @_noLocks
  private borrowing func renderSlices(
    _ ports: UnsafeMutablePointer<JACKPortTable>, _ frameCount: Int, lost: Int
  ) {
    let inputs = ports.pointee.inputs, outputs = ports.pointee.outputs
    var offset = 0
    repeat {
      let count = min(frameCount &- offset, JACKPortTable.longestSlice)
      inputs.cut(at: offset)
      outputs.cut(at: offset)
      var cycle = HostCycle(
        inputs: UnsafeRawPointer(inputs.slice).assumingMemoryBound(to: UnsafePointer<Float>.self),
        outputs: UnsafePointer(outputs.slice), inputCount: Int32(truncatingIfNeeded: inputs.count),
        outputCount: Int32(truncatingIfNeeded: outputs.count), frameCount: Int32(truncatingIfNeeded: count),
        lostFrames: offset == 0 ? Int32(truncatingIfNeeded: lost) : 0)
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
