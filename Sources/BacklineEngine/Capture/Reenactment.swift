import BacklineGraph

/// What a performance that is done again has made and the render thread has still to take.
///
/// Live, the control queue makes plans and events while the render thread goes on, and takes each whenever it gets to it. So
/// a capture knows two orders: that in which control did things, and that in which they were taken, each at its frame. Done
/// again, everything is made in the first order, kept here, and given to the render thread by the second.
struct Reenactment: @unchecked Sendable {
  // Why unchecked: of the control queue, and freed with the engine.

  /// The change that is being made, by its place in the order of control.
  var order = 0
  /// True where its events went to the render thread by themselves, false where they went with a plan.
  var isQueued = false
  var groups: [Int: [RenderEvent]] = [:]
  var plans: [Int: UnsafeMutablePointer<RenderPlan>] = [:]
  /// The last plan, where the next one took its place before it was taken.
  var replaced: (plan: UnsafeMutablePointer<RenderPlan>, actions: [AdoptionAction])?

  /// Frees what nobody has taken.
  func free() {
    for plan in plans.values { RenderPlan.free(plan) }
    if let replaced { RenderPlan.free(replaced.plan) }
  }
}

/// A performance done again by its capture. The thread that renders calls all this between two blocks, through the control
/// queue.
extension Engine {
  /// Keeps everything from now on until it is said to be taken. While nothing has been changed since the last plan.
  public func beginReenactment() { reenactment = Reenactment() }

  /// Says which change comes next, and whether its events went to the render thread by themselves.
  public func reenact(order: Int, isQueued: Bool) {
    reenactment?.order = order
    reenactment?.isQueued = isQueued
  }

  /// Makes a plan of all changes since the last one, as it was made then; `isAdopted` is false where the next one took its
  /// place.
  public func reenactPublication(order: Int, isAdopted: Bool) {
    guard reenactment != nil, store.isDirty else { return }
    var carried: [AdoptionAction] = []
    if let replaced = reenactment?.replaced {
      carried = replaced.actions
      release(replaced.plan)
      reenactment?.replaced = nil
    }
    let made = makePlan(frame: .min, carrying: carried)
    if isAdopted {
      reenactment?.plans[order] = made.plan
    } else {
      reenactment?.replaced = (made.plan, made.actions)
    }
    layPorts()
    publishLatencies(made.outputReach, made.outputLatency)
  }

  /// Has the render thread take what a change has made, at the frame where it stands. While nothing renders.
  public func reenactTaking(order: Int) {
    if let plan = reenactment?.plans.removeValue(forKey: order) { exchange.pointee.offer(plan) }
    if let group = reenactment?.groups.removeValue(forKey: order), exchange.pointee.send(together: group) {
      sentEvents += group.count
    }
    core.pointee.takeInWhileIdle()
    collect()
  }
}
