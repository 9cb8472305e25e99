import BacklineRealtime
import CBackline
import Glibc
import Synchronization

/// One opening of the timer host: the memory and the thread that renders.
final class TimerSession: @unchecked Sendable {
  /// The most ports in one direction; memory for all is there from the start.
  private static let mostPorts = 64

  let gate: UnsafeMutablePointer<RenderGate>
  let hasBegun = Atomic<Bool>(false)
  let isRealtime = Atomic<Bool>(false)
  let isStopping = Atomic<Bool>(false)
  let hasEnded = Atomic<Bool>(false)
  private let record: HostRecord  // keeps the next two
  private let clock: UnsafeMutablePointer<FrameClock>
  private let meter: UnsafeMutablePointer<CycleMeter>
  private let sampleRate: Int
  private let period: Int
  /// Held, so that its descriptor stays open for as long as this session's thread may wake it.
  private let events: SerialThread
  private let wakeDescriptor: Int32
  private let render: HostRender
  private let state: UnsafeMutableRawPointer
  private let inputCount = Atomic<Int>(0)
  private let outputCount = Atomic<Int>(0)
  private let inputs: UnsafeMutablePointer<UnsafePointer<Float>>
  private let outputs: UnsafeMutablePointer<UnsafeMutablePointer<Float>>
  private let silence: UnsafeMutablePointer<Float>
  private let discarded: UnsafeMutablePointer<Float>

  init(
    _ configuration: HostConfiguration, sampleRate: Int, period: Int, record: HostRecord, events: SerialThread,
    render: @escaping HostRender, state: UnsafeMutableRawPointer
  ) {
    self.sampleRate = sampleRate
    self.period = period
    self.record = record
    clock = record.clock
    meter = record.meter
    self.events = events
    wakeDescriptor = events.wakeDescriptor
    self.render = render
    self.state = state
    gate = .allocate(capacity: 1)
    gate.initialize(to: RenderGate())
    silence = SampleMemory.allocate(period)
    discarded = SampleMemory.allocate(period * Self.mostPorts)
    inputs = .allocate(capacity: Self.mostPorts)
    inputs.initialize(repeating: UnsafePointer(silence), count: Self.mostPorts)
    outputs = .allocate(capacity: Self.mostPorts)
    outputs.initialize(repeating: discarded, count: Self.mostPorts)
    for index in 0..<Self.mostPorts { outputs[index] = discarded + index * period }
    setPorts(configuration)
  }

  /// Offers so many ports from the coming cycle on.
  func setPorts(_ configuration: HostConfiguration) {
    inputCount.store(min(Self.mostPorts, configuration.inputPorts.count), ordering: .relaxed)
    outputCount.store(min(Self.mostPorts, configuration.outputPorts.count), ordering: .relaxed)
  }

  deinit {
    gate.deinitialize(count: 1)
    gate.deallocate()
    inputs.deallocate()
    outputs.deallocate()
    SampleMemory.free(silence)
    SampleMemory.free(discarded)
  }

  /// Starts threads that help this session's, as that one is scheduled.
  func employ(_ workers: WorkerThreads) {
    for _ in 0..<workers.wanted {
      let context = Unmanaged.passRetained(workers)
      if !startDetachedThread(timerWorker, context.toOpaque()) { context.release() }
    }
  }

  /// Starts the thread; false when the system has none left.
  func start() -> Bool {
    let context = Unmanaged.passRetained(self)
    if startDetachedThread(timerThread, context.toOpaque()) { return true }
    context.release()
    return false
  }

  /// Renders a period each period's time until told to stop.
  fileprivate func run() {
    backline_name_thread("timer")
    _ = backline_flush_denormals()
    isRealtime.store(backline_set_realtime_priority(timerPriority), ordering: .relaxed)
    let length = Int64(period) * 1_000_000_000 / Int64(sampleRate)
    let start = backline_now()
    var cycle: Int64 = 0
    while !isStopping.load(ordering: .acquiring) {
      var due = start + time(of: cycle)
      sleep(until: due)
      let behind = (backline_now() - due) / max(1, length)
      if behind > 4 {
        // Too far behind to catch up by rendering faster: what was missed is left out, as a sound card would.
        meter.pointee.xruns.wrappingAdd(1, ordering: .relaxed)
        backline_wake(wakeDescriptor)
        cycle += behind
        due = start + time(of: cycle)
      }
      renderCycle(due: due, length: length)
      cycle += 1
    }
    hasEnded.store(true, ordering: .releasing)
    backline_wake(wakeDescriptor)
  }

  /// Nanoseconds from the start to a cycle, without the drift of a rounded period.
  private func time(of cycle: Int64) -> Int64 {
    let (seconds, frames) = (cycle * Int64(period)).quotientAndRemainder(dividingBy: Int64(sampleRate))
    return seconds * 1_000_000_000 + frames * 1_000_000_000 / Int64(sampleRate)
  }

  private func sleep(until due: Int64) {
    var time = timespec(tv_sec: Int(due / 1_000_000_000), tv_nsec: Int(due % 1_000_000_000))
    while clock_nanosleep(CLOCK_MONOTONIC, Int32(TIMER_ABSTIME), &time, nil) == EINTR {}
  }

  @_noLocks
  private func renderCycle(due: Int64, length: Int64) {
    guard gate.pointee.enter() else { return }
    backline_realtime_enter()
    let begin = backline_now()
    clock.pointee.update(frame: meter.pointee.advance(by: period), time: due, sampleRate: Double(sampleRate))
    var cycle = HostCycle(
      inputs: UnsafePointer(inputs), outputs: UnsafePointer(outputs),
      inputCount: Int32(truncatingIfNeeded: inputCount.load(ordering: .relaxed)),
      outputCount: Int32(truncatingIfNeeded: outputCount.load(ordering: .relaxed)),
      frameCount: Int32(truncatingIfNeeded: period), lostFrames: 0)
    backline_render_cycle(render, state, &cycle)
    meter.pointee.take(begin: begin, finish: backline_now(), deadline: due &+ length, length: length)
    if !hasBegun.load(ordering: .relaxed) {
      hasBegun.store(true, ordering: .releasing)
      backline_wake(wakeDescriptor)
    }
    backline_realtime_exit()
    gate.pointee.leave()
  }
}

/// The real-time priority of the timer's threads, where the system allows one.
private let timerPriority: Int32 = 60

private func timerWorker(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
  guard let context else { return nil }
  backline_name_thread("timer worker")
  _ = backline_set_realtime_priority(timerPriority)
  Unmanaged<WorkerThreads>.fromOpaque(context).takeRetainedValue().serve(needsRealtime: true)
  return nil
}

private func timerThread(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
  guard let context else { return nil }
  Unmanaged<TimerSession>.fromOpaque(context).takeRetainedValue().run()
  return nil
}
