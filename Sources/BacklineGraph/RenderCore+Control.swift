import BacklineRealtime
import CBackline
import Synchronization

/// The control queue's side of the mailboxes.
extension RenderCore {
  /// Offers a plan, to be taken at the next quantum edge. The mailbox has to be empty.
  public func offer(_ plan: UnsafeMutablePointer<RenderPlan>) {
    exchange.next.store(UInt(bitPattern: plan), ordering: .releasing)
  }

  /// Offers a plan that was made after all others, to be taken at its own frame. Its mailbox has to be empty.
  public func offerTimed(_ plan: UnsafeMutablePointer<RenderPlan>) {
    exchange.timedFrame.store(plan.pointee.applyFrame, ordering: .releasing)
    exchange.timed.store(UInt(bitPattern: plan), ordering: .releasing)
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
  public var scheduledTaken: Int { exchange.scheduledTaken.load(ordering: .relaxed) }

  /// Takes an offered plan back; `nil` when the render thread has it.
  public func retract() -> UnsafeMutablePointer<RenderPlan>? {
    UnsafeMutablePointer(bitPattern: exchange.next.exchange(0, ordering: .acquiringAndReleasing))
  }

  /// How many events wait in the queue.
  public var waitingEvents: Int { events.pointee.count }

  /// The next report.
  public func takeReport() -> RenderReport? { reports.pointee.pop() }

  /// Asks for a wake at the beginning of the coming cycle.
  ///
  /// What is asked of this core after it is not older than what a cycle has taken that saw no wish: both sides write first and read then.
  public func wantWake() { exchange.isWakeWanted.store(true, ordering: .sequentiallyConsistent) }

  /// The next frame to be rendered.
  public var currentFrame: Int64 { exchange.frame.load(ordering: .acquiring) }

  /// The serial number of the plan that runs.
  public var currentSerial: Int32 { exchange.serial.load(ordering: .acquiring) }

  /// Events that came after their frame; events whose node was gone; input samples that were not finite.
  public var counts: (lateEvents: Int, droppedEvents: Int, nonFiniteInputs: Int) {
    (
      exchange.lateEvents.load(ordering: .relaxed), exchange.droppedEvents.load(ordering: .relaxed),
      exchange.nonFiniteInputs.load(ordering: .relaxed)
    )
  }

  /// Reports that had no room.
  public var droppedReports: Int { exchange.droppedReports.load(ordering: .relaxed) }

  /// Does what a host would do at the beginning of a cycle. Only while none renders.
  public mutating func takeInWhileIdle() { takeInIdle() }

  /// Sets the level of all outputs to move from one value to another. Only while nothing renders.
  public mutating func setMaster(_ target: Float, from start: Float, over frames: Int32) {
    moveMaster(target, from: start, over: frames)
  }
}
