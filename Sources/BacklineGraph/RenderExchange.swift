import BacklineRealtime
import CBackline
import Synchronization

/// The mailboxes between the control queue and the render thread.
///
/// In memory apart from the render core, which its thread changes while the control queue looks in here.
public struct RenderExchange: ~Copyable {
  /// The plan to run from the next quantum edge on; it can be taken back until then.
  let next = Atomic<UInt>(0)
  /// The plan to run after that, from a frame of its own on.
  let timed = Atomic<UInt>(0)
  /// That frame, written before the plan.
  let timedFrame = Atomic<Int64>(0)
  /// Set by the control queue when it wants to hear of the coming cycle.
  let isWakeWanted = Atomic<Bool>(false)
  /// The next frame to be rendered.
  let frame: Atomic<Int64>
  /// The serial number of the plan that runs.
  let serial = Atomic<Int32>(0)
  /// Events with a frame of their own that have been taken.
  let taken = Atomic<Int>(0)
  let lateEvents = Atomic<Int>(0)
  let droppedEvents = Atomic<Int>(0)
  let droppedReports = Atomic<Int>(0)
  let nonFiniteInputs = Atomic<Int>(0)

  let events: UnsafeMutablePointer<RingQueue<RenderEvent>>
  let reports: UnsafeMutablePointer<RingQueue<RenderReport>>
  let retired: UnsafeMutablePointer<RingQueue<UInt>>
  let wakeDescriptor: Int32

  /// Events and reports that can wait.
  static let eventCapacity = 16_384

  init(wakeDescriptor: Int32, startFrame: Int64) {
    self.wakeDescriptor = wakeDescriptor
    frame = Atomic(startFrame)
    events = .allocate(capacity: 1)
    events.initialize(to: RingQueue(capacity: Self.eventCapacity))
    reports = .allocate(capacity: 1)
    reports.initialize(to: RingQueue(capacity: Self.eventCapacity))
    retired = .allocate(capacity: 1)
    retired.initialize(to: RingQueue(capacity: 64))
  }

  /// Frees the plans that wait here, too. Nothing renders any more.
  deinit {
    for waiting in [next.load(ordering: .acquiring), timed.load(ordering: .acquiring)] {
      if let plan = UnsafeMutablePointer<RenderPlan>(bitPattern: waiting) { RenderPlan.free(plan) }
    }
    while let plan = takeRetired() { RenderPlan.free(plan) }
    events.deinitialize(count: 1)
    events.deallocate()
    reports.deinitialize(count: 1)
    reports.deallocate()
    retired.deinitialize(count: 1)
    retired.deallocate()
  }
}

/// The control queue's side.
extension RenderExchange {
  /// Offers a plan, to be taken at the next quantum edge. The mailbox has to be empty.
  public func offer(_ plan: UnsafeMutablePointer<RenderPlan>) {
    next.store(UInt(bitPattern: plan), ordering: .releasing)
  }

  /// Offers a plan that was made after all others, to be taken at its own frame. Its mailbox has to be empty.
  public func offerTimed(_ plan: UnsafeMutablePointer<RenderPlan>) {
    timedFrame.store(plan.pointee.applyFrame, ordering: .releasing)
    timed.store(UInt(bitPattern: plan), ordering: .releasing)
  }

  /// A plan that the render thread has done with.
  public func takeRetired() -> UnsafeMutablePointer<RenderPlan>? {
    retired.pointee.pop().flatMap { UnsafeMutablePointer(bitPattern: $0) }
  }

  /// Sends an event; false when the queue is full.
  public func send(_ event: RenderEvent) -> Bool { events.pointee.push(event) }

  /// Sends events that have to be taken at one frame; false, and none sent, when the queue has no room for all.
  public func send(together group: [RenderEvent]) -> Bool { events.pointee.push(contentsOf: group) }

  /// How many events with a frame of their own have been taken so far.
  public var scheduledTaken: Int { taken.load(ordering: .relaxed) }

  /// Takes an offered plan back; `nil` when the render thread has it.
  public func retract() -> UnsafeMutablePointer<RenderPlan>? {
    UnsafeMutablePointer(bitPattern: next.exchange(0, ordering: .acquiringAndReleasing))
  }

  /// How many events wait in the queue.
  public var waitingEvents: Int { events.pointee.count }

  /// The next report.
  public func takeReport() -> RenderReport? { reports.pointee.pop() }

  /// Asks for a wake at the beginning of the coming cycle.
  ///
  /// What is asked here afterwards is not older than what a cycle has taken that saw no wish: both sides write first
  /// and read then.
  public func wantWake() { isWakeWanted.store(true, ordering: .sequentiallyConsistent) }

  /// Reports that had no room.
  public var lostReports: Int { droppedReports.load(ordering: .relaxed) }

  /// The next frame to be rendered.
  public var currentFrame: Int64 { frame.load(ordering: .acquiring) }

  /// The serial number of the plan that runs.
  public var currentSerial: Int32 { serial.load(ordering: .acquiring) }

  /// Events that came after their frame; events whose node was gone; input samples that were not finite.
  public var counts: (lateEvents: Int, droppedEvents: Int, nonFiniteInputs: Int) {
    (
      lateEvents.load(ordering: .relaxed), droppedEvents.load(ordering: .relaxed),
      nonFiniteInputs.load(ordering: .relaxed)
    )
  }
}
