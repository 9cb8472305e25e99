import BacklineDSP
import BacklineRealtime
import CBackline
import Synchronization

/// The render side as a whole: all that the process callback touches hangs on this one structure.
///
/// It belongs to whoever renders: the host's thread while a host runs, else the control queue, which reaches it through
/// `exchange` only.
public struct RenderCore: ~Copyable {
  /// What passes between the control queue and the render thread, apart from what belongs to one of them.
  public let exchange: UnsafeMutablePointer<RenderExchange>
  private let events: UnsafeMutablePointer<RingQueue<RenderEvent>>
  private let retired: UnsafeMutablePointer<RingQueue<UInt>>
  private var plan: UnsafeMutablePointer<RenderPlan>?
  private var heap: EventHeap
  private let slots: UnsafeMutablePointer<Slot>
  private var frame: Int64 = 0
  private var master = Ramp(1)
  private var recorder: UnsafeMutablePointer<RecordRing>?
  /// The threads that render beside the host's; `nil` where there are none. Changed while nothing renders.
  private var crew: UnsafeMutablePointer<RenderCrew>?
  private var sampler = SliceSampler()
  /// What the server has lost and the recorder has not been told yet: a cycle may have no frames.
  private var lostFrames: Int64 = 0

  struct Slot {
    var node: UnsafeMutablePointer<NodeState>?
    var generation: UInt32
  }

  /// Nodes that there can be.
  public static var slotCount: Int { @_noLocks get { 32_768 } }
  /// Events that can wait for a later frame.
  static let scheduledCapacity = 16_384
  /// Events taken in one cycle, so that a flood costs a bounded time.
  static var eventsPerCycle: Int { @_noLocks get { 1_024 } }

  /// An empty core whose first frame is `startFrame`; `wakeDescriptor` is an eventfd.
  public init(wakeDescriptor: Int32, startFrame: Int64 = 0) {
    frame = startFrame
    exchange = .allocate(capacity: 1)
    exchange.initialize(to: RenderExchange(wakeDescriptor: wakeDescriptor, startFrame: startFrame))
    events = exchange.pointee.events
    retired = exchange.pointee.retired
    heap = EventHeap(capacity: Self.scheduledCapacity)
    slots = .allocate(capacity: Self.slotCount)
    slots.initialize(repeating: Slot(node: nil, generation: 0), count: Self.slotCount)
  }

  deinit {
    if let plan { RenderPlan.free(plan) }
    exchange.deinitialize(count: 1)
    exchange.deallocate()
    heap.deallocate()
    slots.deallocate()
  }

  // MARK: A cycle

  /// Renders one host cycle of any length.
  @_noLocks
  public mutating func render(_ cycle: borrowing HostCycle) {
    takeIn()
    lostFrames &+= Int64(cycle.lostFrames)
    var offset = 0
    let total = Int(cycle.frameCount)
    while offset < total {
      adoptDue()
      takeDue()
      let count = sliceLength(limit: total &- offset)
      if let plan {
        recorder?.pointee.begin(frame, count, serverFrames: lostFrames)
        lostFrames = 0
        run(plan, cycle, offset: offset, count: count)
        recorder?.pointee.end(count)
      } else {
        for port in 0..<Int(cycle.outputCount) {
          backline_zero(cycle.outputs.unsafelyUnwrapped[port] + offset, Int64(count))
        }
      }
      frame &+= Int64(count)
      offset &+= count
    }
    exchange.pointee.frame.store(frame, ordering: .releasing)
  }

  /// Takes what waits at the beginning of a cycle.
  @_noLocks
  mutating func takeIn() {
    adoptDue()
    takeEvents()
    // An exchange and no load, since it must not pass the stores of what has been taken: see `wantWake()`.
    if exchange.pointee.isWakeWanted.exchange(false, ordering: .sequentiallyConsistent) {
      backline_wake(exchange.pointee.wakeDescriptor)
    }
  }

  /// Takes what waits while no host renders: plans at once, wherever in a quantum the last host has ended.
  mutating func takeInIdle() {
    takeNext()
    takeTimed()
    takeEvents()
  }

  mutating func moveMaster(_ target: Float, from start: Float, over frames: Int32) {
    master = Ramp(start)
    master.move(to: target, over: frames)
  }

  mutating func employ(_ crew: UnsafeMutablePointer<RenderCrew>?) { self.crew = crew }

  mutating func moveToQuantum() {
    frame = Quantum.ceiling(frame)
    exchange.pointee.frame.store(frame, ordering: .releasing)
  }

  /// The frames until something has to happen, at most a slice.
  @_noLocks
  private func sliceLength(limit: Int) -> Int {
    var length = min(limit, plan == nil ? RenderPlan.maximumSlice : Int(plan.unsafelyUnwrapped.pointee.sliceLimit))
    let event = heap.firstFrame
    if event > frame { length = Int(min(Int64(length), event &- frame)) }
    let planFrame = nextPlanFrame()
    if planFrame > frame { length = Int(min(Int64(length), planFrame &- frame)) }
    return length
  }

  // MARK: Plans

  /// The frame at which a waiting plan has to be taken; the largest number where none waits.
  @_noLocks
  private func nextPlanFrame() -> Int64 {
    let edge = exchange.pointee.next.load(ordering: .acquiring) == 0 ? Int64.max : Quantum.ceiling(frame)
    return min(edge, timedPlanFrame())
  }

  /// A plan with a frame of its own gets exactly that one, and the next quantum edge where it has passed.
  @_noLocks
  private func timedPlanFrame() -> Int64 {
    if exchange.pointee.timed.load(ordering: .acquiring) == 0 { return Int64.max }
    let wanted = exchange.pointee.timedFrame.load(ordering: .acquiring)
    return wanted >= frame ? wanted : Quantum.ceiling(frame)
  }

  @_noLocks
  private mutating func adoptDue() {
    while nextPlanFrame() <= frame {
      let isTimed = timedPlanFrame() <= frame
      // The timed plan was made after the other one, which therefore comes first, on an edge or not.
      let hasTaken = takeNext()
      let hasTakenTimed = isTimed && takeTimed()
      if !hasTaken && !hasTakenTimed { return }
      // Values that waited for this plan may have their frames within this very cycle.
      takeEvents()
    }
  }

  /// Takes the plan that has no frame of its own; false where there is none, or no room to give the present one back.
  @_noLocks
  @discardableResult
  private mutating func takeNext() -> Bool {
    if retired.pointee.count == retired.pointee.capacity { return false }
    guard
      let plan = UnsafeMutablePointer<RenderPlan>(bitPattern: exchange.pointee.next.exchange(0, ordering: .acquiring))
    else { return false }
    adopt(plan)
    return true
  }

  /// Takes the plan that has one.
  @_noLocks
  @discardableResult
  private mutating func takeTimed() -> Bool {
    if retired.pointee.count == retired.pointee.capacity { return false }
    guard
      let plan = UnsafeMutablePointer<RenderPlan>(bitPattern: exchange.pointee.timed.exchange(0, ordering: .acquiring))
    else { return false }
    adopt(plan)
    return true
  }

  @_noLocks
  private mutating func adopt(_ next: UnsafeMutablePointer<RenderPlan>) {
    for index in 0..<next.pointee.actionCount { perform(next.pointee.actions + index) }
    if let plan { _ = retired.pointee.push(UInt(bitPattern: plan)) }
    plan = next
    exchange.pointee.serial.store(next.pointee.serial, ordering: .releasing)
    report(RenderReport(.adopted, value: next.pointee.serial, frame: frame))
  }

  @_noLocks
  private mutating func perform(_ action: UnsafeMutablePointer<AdoptionAction>) {
    let edge = action.pointee.edge
    switch action.pointee.kind {
    case .setSlot:
      let at = slots + Int(action.pointee.index)
      at.initialize(to: Slot(node: action.pointee.node, generation: action.pointee.generation))
    case .fade:
      edge?.pointee.hold = action.pointee.hold
      edge?.pointee.fade.move(to: action.pointee.value, over: action.pointee.frames)
    case .endLater:
      edge?.pointee.endIn = action.pointee.hold
      edge?.pointee.endRamp = action.pointee.frames
    case .installLine:
      if let old = edge?.pointee.line, let new = action.pointee.line { new.pointee.adopt(old) }
      edge?.pointee.line = action.pointee.line
    case .align:
      edge?.pointee.line?.pointee.move(to: Int(action.pointee.index), over: action.pointee.frames)
    case .removeLine:
      edge?.pointee.line = nil
    case .setLatency:
      action.pointee.node?.pointee.setLatency(action.pointee.index, action.pointee.line, over: action.pointee.frames)
    case .event:
      take(action.pointee.event)
    case .setRecorder:
      if let old = recorder, let new = action.pointee.recorder { new.pointee.follow(old) }
      recorder = action.pointee.recorder
    }
  }

  // MARK: Events

  @_noLocks
  private mutating func takeEvents() {
    var left = Self.eventsPerCycle
    let serial = exchange.pointee.serial.load(ordering: .relaxed)
    var isContinuing = false
    while left > 0 || isContinuing, let event = events.pointee.peek() {
      isContinuing = event.isContinued
      // An event for a plan that has not been taken yet waits for it, here or at its frame.
      if event.serial &- serial > 0 && event.frame <= frame { return }
      if event.frame > frame {
        if heap.isFull { return }
        heap.insert(event)
      } else {
        take(event)
        if event.frame != Int64.min { noteTaken(event) }
        if event.id != 0 { report(RenderReport(.captured, value: event.id, frame: frame)) }
      }
      _ = events.pointee.pop()
      left &-= 1
    }
  }

  @_noLocks
  private mutating func takeDue() {
    while heap.firstFrame <= frame {
      var event = heap.removeFirst()
      if event.serial &- exchange.pointee.serial.load(ordering: .relaxed) > 0 {
        // Its plan came too late for its own frame; it follows within a quantum.
        event.frame = Quantum.ceiling(frame &+ 1)
        heap.insert(event)
        continue
      }
      take(event)
      noteTaken(event)
      if event.id != 0 { report(RenderReport(.captured, value: event.id, frame: frame)) }
    }
  }

  @_noLocks
  private func noteTaken(_ event: RenderEvent) {
    let late = frame &- event.frame
    exchange.pointee.taken.add(1, ordering: .relaxed)
    if late > 0 { exchange.pointee.lateEvents.add(1, ordering: .relaxed) }
    report(
      RenderReport(.eventTaken, value: Int32(truncatingIfNeeded: min(late, Int64(Int32.max))), frame: frame))
  }

  @_noLocks
  private mutating func take(_ event: RenderEvent) {
    if event.slot == RenderEvent.master {
      master.move(to: event.value, over: event.rampFrames)
      return
    }
    let slot = slots[Int(event.slot)]
    guard slot.generation == event.generation, let node = slot.node else {
      exchange.pointee.droppedEvents.add(1, ordering: .relaxed)
      return
    }
    node.pointee.take(event, at: frame)
  }

  @_noLocks
  private func report(_ report: RenderReport) {
    if !exchange.pointee.reports.pointee.push(report) { exchange.pointee.droppedReports.add(1, ordering: .relaxed) }
  }

  // MARK: Steps

  @_noLocks
  private mutating func run(
    _ plan: UnsafeMutablePointer<RenderPlan>, _ cycle: borrowing HostCycle, offset: Int, count: Int
  ) {
    let masterNow = master
    var written = 0
    let runner = StepRunner(plan, thread: 0, frame: frame, count: count, isMetered: sampler.next())
    if let crew, let tasks = plan.pointee.tasks, crew.pointee.wants(plan) {
      run(runner, 0, tasks.pointee.firstStep, cycle, offset: offset, written: &written)
      crew.pointee.run(tasks, runner)
      if crew.pointee.takeFailure() { reportFailures(plan, tasks) }
      run(runner, tasks.pointee.endStep, plan.pointee.stepCount, cycle, offset: offset, written: &written)
    } else {
      let begin = crew == nil ? 0 : backline_now()
      run(runner, 0, plan.pointee.stepCount, cycle, offset: offset, written: &written)
      crew?.pointee.noteSerial(backline_now() &- begin, frames: count)
    }
    // The host may have more ports than the plan knows.
    while written < Int(cycle.outputCount) {
      backline_zero(cycle.outputs.unsafelyUnwrapped[written] + offset, Int64(count))
      written &+= 1
    }
    if !masterNow.isSettled {
      // Each output step moved a copy by the slice's frames; all end alike.
      for _ in 0..<count { master.advance() }
    }
  }

  /// Runs steps of every kind on this thread.
  @_noLocks
  private func run(
    _ runner: StepRunner, _ first: Int, _ end: Int, _ cycle: borrowing HostCycle, offset: Int, written: inout Int
  ) {
    let plan = runner.plan, count = runner.count
    let buses = plan.pointee.buses
    var begin = runner.isMetered ? backline_now() : 0
    for index in first..<end {
      let step = plan.pointee.steps + index
      runner.prefetch(index, end)
      switch step.pointee.kind {
      case .render, .gather, .accumulate, .keep:
        if runner.perform(step) {
          report(RenderReport(.nonFinite, value: step.pointee.node.unsafelyUnwrapped.pointee.slot, frame: frame))
        }
      case .input:
        copyInputs(buses + Int(step.pointee.target), runner.scratch, step, cycle, offset: offset, count: count)
      case .output:
        written = copyOutputs(buses, step, cycle, offset: offset, count: count, written: written)
      case .record, .recordInput, .recordOutput:
        record(buses, step, cycle, offset: offset, count: count)
      }
      if runner.isMetered { begin = runner.meter(step, from: begin) }
    }
  }

  /// Tells of the nodes that gave samples that are not finite while several threads rendered.
  @_noLocks
  private func reportFailures(_ plan: UnsafeMutablePointer<RenderPlan>, _ tasks: UnsafeMutablePointer<TaskGraph>) {
    for index in tasks.pointee.firstStep..<tasks.pointee.endStep {
      guard case .render = plan.pointee.steps[index].kind else { continue }
      guard let node = plan.pointee.steps[index].node, node.pointee.hasFailed else { continue }
      node.pointee.hasFailed = false
      report(RenderReport(.nonFinite, value: node.pointee.slot, frame: frame))
    }
  }

  @_noLocks
  private func copyInputs(
    _ bus: UnsafeMutablePointer<PlanBus>, _ scratch: RenderScratch, _ step: UnsafeMutablePointer<RenderStep>,
    _ cycle: borrowing HostCycle, offset: Int, count: Int
  ) {
    bus.pointee.buffer.channels = UnsafePointer(bus.pointee.own)
    var isSilent = true
    for channel in 0..<Int(bus.pointee.buffer.channelCount) {
      let to = bus.pointee.own[channel]
      let port = Int(step.pointee.firstInput) &+ channel
      if port >= Int(cycle.inputCount) {
        backline_zero(to, Int64(count))
        continue
      }
      backline_copy(to, cycle.inputs.unsafelyUnwrapped[port] + offset, Int64(count))
      if backline_has_non_finite(to, Int64(count)) {
        for i in 0..<count where !to[i].isFinite {
          to[i] = 0
          exchange.pointee.nonFiniteInputs.add(1, ordering: .relaxed)
        }
      }
      if backline_active_length(to, Int64(count)) > 0 { isSilent = false }
    }
    bus.pointee.buffer.isSilent = isSilent
    if isSilent { bus.pointee.buffer.channels = UnsafePointer(scratch.silentChannels) }
  }

  /// Writes a bus to its ports; adds it to the first `written` ports, which have their sound already. Returns how many have it
  /// now: a bus begins at or before the first port that has none.
  @_noLocks
  private func copyOutputs(
    _ buses: UnsafeMutablePointer<PlanBus>, _ step: UnsafeMutablePointer<RenderStep>, _ cycle: borrowing HostCycle,
    offset: Int, count: Int, written: Int
  ) -> Int {
    let start = master
    var next = written
    for channel in 0..<Int(step.pointee.outputCount) {
      let port = Int(step.pointee.firstInput) &+ channel
      if port >= Int(cycle.outputCount) { break }
      let to = cycle.outputs.unsafelyUnwrapped[port] + offset
      let isFirst = port >= next
      if isFirst { next = port &+ 1 }
      if step.pointee.source < 0 || buses[Int(step.pointee.source)].buffer.isSilent {
        if isFirst { backline_zero(to, Int64(count)) }
        continue
      }
      let from = buses[Int(step.pointee.source)].buffer.channels[channel]
      // Adding zero makes a negative zero positive: which silent paths were skipped must not show in the bits.
      if start.isSettled {
        let gain = start.value
        if isFirst {
          backline_scale(to, from, gain, Int64(count))
        } else {
          for i in 0..<count { to[i] += from[i] * gain }
        }
      } else {
        if isFirst { backline_zero(to, Int64(count)) }
        var level = start
        for i in 0..<count { to[i] += from[i] * level.next() }
      }
    }
    return next
  }
}

extension RenderCore {
  /// Gives one track its part of the slice. Channels as in R8: one stands for all, others that are missing are silent.
  @_noLocks
  private func record(
    _ buses: UnsafeMutablePointer<PlanBus>, _ step: UnsafeMutablePointer<RenderStep>, _ cycle: borrowing HostCycle,
    offset: Int, count: Int
  ) {
    guard let recorder else { return }
    let first = Int(step.pointee.bus)
    for index in 0..<Int(step.pointee.outputCount) {
      let port = Int(step.pointee.firstInput) &+ index
      var source: UnsafePointer<Float>?
      switch step.pointee.kind {
      case .recordInput:
        if port < Int(cycle.inputCount), let inputs = cycle.inputs { source = inputs[port] + offset }
      case .recordOutput:
        if port < Int(cycle.outputCount), let outputs = cycle.outputs { source = UnsafePointer(outputs[port] + offset) }
      default:
        guard step.pointee.source >= 0 else { break }
        let buffer = buses[Int(step.pointee.source)].buffer
        if buffer.isSilent { break }
        if buffer.channelCount == 1 {
          source = UnsafePointer(buffer.channels[0])
        } else if index < Int(buffer.channelCount) {
          source = UnsafePointer(buffer.channels[index])
        }
      }
      recorder.pointee.write(first &+ index, source, count: count)
    }
  }
}

/// The render entry that every host calls: `state` is the core.
@_noLocks
public func renderCycle(_ state: UnsafeMutableRawPointer, _ cycle: UnsafePointer<HostCycle>) {
  state.assumingMemoryBound(to: RenderCore.self).pointee.render(cycle.pointee)
}
