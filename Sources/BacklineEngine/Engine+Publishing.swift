import BacklineDSP
import BacklineGraph
import BacklineRealtime
import CBackline

/// From the store to the render thread and back: compile, offer, hear of the adoption, free.
extension Engine {
  // MARK: Publishing

  /// Compiles what has changed and offers it to the render thread.
  public func flush() {
    isFlushPlanned = false
    collect()
    if store.isDirty && reenactment == nil { publish() }
    if !isRendering { takeInNow() }
    if hasLooseEnds { planTidy() }
    answerWaiters()
  }

  /// How long a stream of edits is gathered, in times of what the last publication cost, and at most, in nanoseconds.
  private static let gathering = (costs: Int64(3), most: Int64(1_000_000))

  /// True while something will end by itself, or be taken at a frame of its own, that has to be looked for.
  public var hasLooseEnds: Bool {
    !store.unsettled.isEmpty || !store.ghosts.isEmpty || !store.deferredEdges.isEmpty || !backlog.isEmpty
      || (isRendering && offeredTimed != nil)
  }

  private func publish() {
    let begin = backline_now()
    defer {
      let end = backline_now()
      nextPublication = end + min(Self.gathering.most, Self.gathering.costs * (end - begin))
    }
    // A plan with a frame of its own keeps it; what came after waits until it has been taken.
    if isRendering && offeredTimed != nil {
      exchange.pointee.wantWake()
      return
    }
    let frame = wantedFrame ?? .min
    let isTimed = isRendering && frame > exchange.pointee.currentFrame
    wantedFrame = nil
    var carried: [AdoptionAction] = []
    if !isTimed, let offered {
      if let back = exchange.pointee.retract() {
        carried = offered.actions
        release(back)
      }
      self.offered = nil
    }
    let made = makePlan(frame: frame, carrying: carried)
    let plan = OfferedPlan(serial: made.serial, actions: made.actions, frame: frame)
    if isTimed {
      offeredTimed = plan
      exchange.pointee.offerTimed(made.plan)
    } else {
      offered = plan
      exchange.pointee.offer(made.plan)
    }
    changeLog?.published(made.serial)
    layPorts()
    publishLatencies(made.outputReach, made.outputLatency)
  }

  /// A plan as it was compiled, with what follows from it.
  struct MadePlan {
    let plan: UnsafeMutablePointer<RenderPlan>
    let serial: Int32
    let actions: [AdoptionAction]
    let outputReach: [UInt64]
    let outputLatency: [Int]
  }

  /// Compiles all that has changed, with the actions of a plan that is replaced, if any.
  func makePlan(frame: Int64, carrying carried: [AdoptionAction]) -> MadePlan {
    let serial = nextSerial
    nextSerial += 1
    let outputLatency = align(serial)
    fadeIn(serial)
    let actions = carried + store.actions
    let compiled = PlanCompiler.compile(
      store.topology, serial: serial, applyFrame: frame, actions: actions, records: recordSteps,
      parallel: parallelSettings)
    isPlanShared = compiled.plan.pointee.isShared
    if workers != nil { balanced = nodeCosts }
    livePlans += 1
    store.actions.removeAll()
    store.isDirty = false
    lastOffered = serial
    return MadePlan(
      plan: compiled.plan, serial: serial, actions: actions, outputReach: compiled.outputReach,
      outputLatency: outputLatency)
  }

  func release(_ plan: UnsafeMutablePointer<RenderPlan>) {
    livePlans -= 1
    RenderPlan.free(plan)
  }

  /// Gives connections the delays that align them (R6).
  private func align(_ serial: Int32) -> [Int] {
    let hasLines = store.topology.edges.contains { $0.isUsed && $0.lineMaximum > 0 }
    let alignment = PathAlignment(store.topology)
    if store.topology.latentCount == 0 && !hasLines { return alignment.outputLatency }
    for index in Int32(0)..<Int32(store.topology.edges.count) {
      let edge = store.topology.edges[Int(index)]
      if !edge.isUsed || edge.isLeaving || edge.isDeferred { continue }
      let wanted = alignment.delays[Int(index)]
      if wanted == edge.delay { continue }
      if edge.lineMaximum == 0 && isNew(index) {
        giveLine(index, delay: wanted, isNew: true)
        continue
      }
      if wanted > edge.lineMaximum { giveLine(index, delay: wanted, isNew: false) }
      var action = AdoptionAction(.align)
      action.edge = edge.state
      action.index = wanted
      action.frames = rampFrames()
      store.actions.append(action)
      store.topology.edges[Int(index)].delay = wanted
      store.unsettled.append(
        GraphStore.Unsettled(
          edge: index, kind: .align, frames: 2 * Int64(action.frames) + Int64(max(wanted, edge.delay)) + 1,
          serial: serial))
    }
    return alignment.outputLatency
  }

  /// True for a connection that no plan has had yet.
  private func isNew(_ index: Int32) -> Bool { store.newEdges.contains(index) }

  private func giveLine(_ index: Int32, delay: Int32, isNew: Bool) {
    let edge = store.topology.edges[Int(index)]
    let channels = store.topology.outputChannels(edge.source, edge.sourceBus)
    let line = UnsafeMutablePointer<AlignmentLine>.allocate(capacity: 1)
    line.initialize(
      to: AlignmentLine(channelCount: channels, maximum: Int(delay) * 2, delay: isNew ? Int(delay) : Int(edge.delay)))
    if let old = lines[index] { discard(old) }
    lines[index] = line
    var action = AdoptionAction(.installLine)
    action.edge = edge.state
    action.line = line
    store.actions.append(action)
    store.topology.edges[Int(index)].lineMaximum = Int32(line.pointee.maximum)
    if isNew { store.topology.edges[Int(index)].delay = delay }
  }

  /// Fades new connections in. What comes from a node that is new itself needs no fade: that node's inputs have one. Nor does
  /// what goes to a node that only listens.
  private func fadeIn(_ serial: Int32) {
    for index in store.newEdges {
      let edge = store.topology.edges[Int(index)]
      let source = edge.source == Topology.input ? nil : store.nodes[Int(edge.source)]
      let isFresh = source.map { $0.firstSerial >= serial && !$0.description.inputs.isEmpty } ?? false
      let target = edge.target == Topology.output ? nil : store.nodes[Int(edge.target)]
      let isUnheard = target.map { $0.description.outputs.isEmpty } ?? false
      var action = AdoptionAction(.fade)
      action.edge = edge.state
      action.value = 1
      action.frames = isFresh || isUnheard ? 0 : rampFrames()
      action.hold = action.frames == 0 ? 0 : edge.delay
      store.actions.append(action)
      store.unsettled.append(
        GraphStore.Unsettled(
          edge: index, kind: .fadeIn, frames: Int64(action.frames) + Int64(action.hold), serial: serial))
    }
    store.newEdges.removeAll()
  }

  func publishLatencies(_ reach: [UInt64], _ latency: [Int]) {
    var paths: [LatencyMap.Path] = []
    var firstOutput = 0
    for (bus, names) in store.ports.outputs.enumerated() {
      var firstInput = 0
      for (source, inputs) in store.ports.inputs.enumerated() {
        if bus < reach.count && reach[bus] & (1 << UInt64(min(63, source))) != 0 {
          for output in firstOutput..<firstOutput + names.count {
            for input in firstInput..<firstInput + inputs.count {
              paths.append(LatencyMap.Path(input: input, output: output, frames: latency[bus]...latency[bus]))
            }
          }
        }
        firstInput += inputs.count
      }
      firstOutput += names.count
    }
    let new = LatencyMap(paths)
    if new == latencies { return }
    latencies = new
    hosting.host?.setLatencies(new)
  }

  // MARK: Hearing back

  /// A plan that was wanted at a frame has been taken at another, or the same.
  private func tellTaken(_ plan: OfferedPlan, _ frame: Int64) {
    if plan.frame == .min { return }
    if frame > plan.frame { latePlans += 1 }
    emit(.taken(frame: plan.frame, late: max(0, Int(frame - plan.frame))))
  }

  /// Takes in what the render thread has reported and given back.
  func collect() {
    while let report = exchange.pointee.takeReport() {
      switch report.kind {
      case .captured:
        changeLog?.taken(report.value, at: report.frame)
      case .adopted:
        changeLog?.adopted(report.value, at: report.frame)
        if let offered, report.value >= offered.serial {
          self.offered = nil
          tellTaken(offered, report.frame)
        }
        if let offeredTimed, report.value >= offeredTimed.serial {
          self.offeredTimed = nil
          tellTaken(offeredTimed, report.frame)
        }
        for index in store.unsettled.indices where store.unsettled[index].end == nil {
          if store.unsettled[index].serial <= report.value {
            store.unsettled[index].end = report.frame + store.unsettled[index].frames
          }
        }
      case .eventTaken:
        emit(.taken(frame: report.frame - Int64(report.value), late: Int(report.value)))
      case .nonFinite:
        if let node = store.nodes[Int(report.value)] { emit(.nonFinite(node: node.name)) }
      }
    }
    while let plan = exchange.pointee.takeRetired() { release(plan) }
    let serial = exchange.pointee.currentSerial
    if let first = garbage.first, first.serial <= serial {
      let count = garbage.prefix { $0.serial <= serial }.count
      for item in garbage.prefix(count) { item.free() }
      garbage.removeFirst(count)
    }
  }

  /// Frees something once no plan holds it any more: when the plan after next edits has been taken.
  func discard(_ free: @escaping () -> Void) { garbage.append(Garbage(serial: nextSerial, free: free)) }

  func discard(_ line: UnsafeMutablePointer<AlignmentLine>) { discard { Self.free(line) } }

  static func free(_ line: UnsafeMutablePointer<AlignmentLine>) {
    line.pointee.deallocate()
    line.deallocate()
  }

  static func free(_ node: GraphNode) {
    (node.instance.control as? any UnitControl)?.end()
    node.instance.deallocate()
    node.state.deallocate()
    node.readings.deallocate()
    if let line = node.dryLine {
      line.pointee.deallocate()
      line.deallocate()
    }
  }

  static func free(_ edge: UnsafeMutablePointer<EdgeState>) {
    edge.pointee.deallocate()
    edge.deallocate()
  }

  /// What a host would do at the beginning of a cycle, done here while none renders.
  func takeInNow() {
    while exchange.pointee.waitingEvents > 0 || offered != nil || offeredTimed != nil {
      let before = (exchange.pointee.waitingEvents, exchange.pointee.currentSerial)
      core.pointee.takeInWhileIdle()
      collect()
      sendBacklog()
      if before == (exchange.pointee.waitingEvents, exchange.pointee.currentSerial) { break }
    }
    answerWaiters()
  }

  // MARK: Waiting

  /// Calls `completion` when the render thread has taken every edit and every value that was sent before; at once where no audio
  /// runs.
  public func sync(_ completion: @escaping @Sendable () -> Void) {
    flush()
    waiters.append(
      Waiter(serial: store.isDirty ? nextSerial : lastOffered, events: sentEvents, completion: completion))
    answerWaiters()
  }

  private func isTaken(_ waiter: Waiter) -> Bool {
    if !isRendering { return true }
    return exchange.pointee.currentSerial >= waiter.serial && backlog.isEmpty
      && sentEvents - exchange.pointee.waitingEvents >= waiter.events
  }

  /// Answers those whose wait has ended, and has the render thread wake this queue for the others.
  func answerWaiters() {
    while !waiters.isEmpty {
      // Asked once of each, for the render thread goes on meanwhile: one taken between two questions would be forgotten.
      var taken: [Waiter] = []
      waiters.removeAll { waiter in
        if !isTaken(waiter) { return false }
        taken.append(waiter)
        return true
      }
      for waiter in taken { waiter.completion() }
      if waiters.isEmpty { return }
      exchange.pointee.wantWake()
      // Asked again, since what has been taken between the question and the wish wakes nobody.
      if !waiters.contains(where: isTaken) { return }
    }
  }

  /// The render thread has been heard of.
  func wake() {
    collect()
    sendBacklog()
    if store.isDirty { flush() }
    answerWaiters()
  }

  // MARK: Tidying

  func planTidy() {
    if reenactment != nil || tidyTimer != nil || hosting.host?.isOffline == true { return }
    tidyTimer = later(isRendering ? 0.01 : 0) { $0.tidy() }
  }

  /// What a tidying found: the frame, and by their places what had settled and which nodes had rung out.
  public struct Tidied: Sendable {
    public let frame: Int64
    public let settled: [Int]
    public let ghosts: [Int]

    public init(frame: Int64, settled: [Int], ghosts: [Int]) {
      self.frame = frame
      self.settled = settled
      self.ghosts = ghosts
    }
  }

  /// Draws out of the plan what has faded, rung out or settled: by now, or as it was found when a performance was taken down.
  func tidy(_ found: Tidied? = nil) {
    tidyTimer = nil
    // Asked before the reports are taken in, for the last one may just be on its way.
    let isExpecting = isRendering && scheduledWaiting > 0
    collect()
    sendBacklog()
    let now = found?.frame ?? exchange.pointee.currentFrame
    let settled =
      found?.settled.filter { store.unsettled.indices.contains($0) }
      ?? store.unsettled.indices.filter { isEnded(store.unsettled[$0], now) }
    if !settled.isEmpty {
      let ended = settled.map { store.unsettled[$0] }
      let places = Set(settled)
      store.unsettled = store.unsettled.indices.filter { !places.contains($0) }.map { store.unsettled[$0] }
      for item in ended { settle(item) }
    }
    let ghosts = endGhosts(found?.ghosts)
    let isStarting = startDeferred()
    forgetRemovedEdges()
    if store.forgetOldPorts() { hosting.arePortsStale = true }
    if !settled.isEmpty || !ghosts.isEmpty || isStarting {
      changeLog?.note(
        .tidied(Tidied(frame: now, settled: settled, ghosts: ghosts)), isStructural: store.isDirty, now: now)
    }
    if found != nil { return }
    if store.isDirty { flush() }
    if isExpecting || hasLooseEnds { planTidy() }
  }

  /// Ends all that fades and rings out, while nothing renders: whatever graph rendering begins with, it has no past.
  func settle() {
    // Each round may let connections begin that had to wait for those of the round before.
    for _ in 0..<store.topology.edgeCount + 1 where hasLooseEnds { tidyNow() }
  }

  /// Does what the tidying timer would do, now.
  public func tidyNow() {
    if let tidyTimer { executor.cancel(tidyTimer) }
    tidy()
  }

  /// Does what tidying did when a performance was taken down, and publishes nothing.
  public func tidyAgain(_ found: Tidied) { tidy(found) }

  private func isEnded(_ item: GraphStore.Unsettled, _ now: Int64) -> Bool {
    guard let end = item.end else { return false }
    return !isRendering || end <= now
  }

  private func settle(_ item: GraphStore.Unsettled) {
    let edge = store.topology.edges[Int(item.edge)]
    switch item.kind {
    case .fadeOut:
      removeEdge(item.edge)
    case .fadeIn:
      if edge.isUsed && !edge.isLeaving {
        store.topology.edges[Int(item.edge)].isSettled = true
        if edge.isIdentity && edge.lineMaximum == 0 && !edge.isFeedback { store.isDirty = true }
      }
    case .align:
      let isMoving = store.unsettled.contains { $0.edge == item.edge && $0.kind == .align }
      if edge.isUsed && !isMoving && edge.delay == 0, let line = lines.removeValue(forKey: item.edge) {
        var action = AdoptionAction(.removeLine)
        action.edge = edge.state
        store.actions.append(action)
        store.topology.edges[Int(item.edge)].lineMaximum = 0
        discard(line)
        store.isDirty = true
      }
    }
  }

  private func removeEdge(_ index: Int32) {
    guard let state = store.topology.edges[Int(index)].state else { return }
    store.topology.removeEdge(index)
    removedEdges.insert(index)
    maps[index] = nil
    if let line = lines.removeValue(forKey: index) { discard(line) }
    store.isDirty = true
    discard { Self.free(state) }
  }

  /// Takes the connections that have gone out of all lists, at once, since there may be thousands.
  private func forgetRemovedEdges() {
    if removedEdges.isEmpty { return }
    store.unsettled.removeAll { removedEdges.contains($0.edge) }
    store.deferredEdges.removeAll { removedEdges.contains($0) }
    store.newEdges.removeAll { removedEdges.contains($0) }
    removedEdges.removeAll()
  }

  /// Takes out what has rung out, or those at the places in `found`; returns their places in the order of removal.
  private func endGhosts(_ found: [Int]?) -> [Int] {
    if store.ghosts.isEmpty { return [] }
    let places =
      found?.filter { store.ghosts.indices.contains($0) }
      ?? store.ghosts.indices.filter { place in
        let ghost = store.ghosts[place]
        if !isRendering { return true }
        let isFed = store.topology.nodes[Int(ghost.slot)].firstIncoming >= 0
        let isHeard = store.topology.nodes[Int(ghost.slot)].firstOutgoing >= 0
        if ghost.node.description.inputs.isEmpty || !isHeard { return !isHeard && !isFed }
        return !isFed && (ghost.node.isGrowing || NodeState.isAtRest(ghost.node.state))
      }
    let ended = places.map { store.ghosts[$0] }
    for ghost in ended { end(ghost) }
    let slots = Set(ended.map(\.slot))
    store.ghosts.removeAll { slots.contains($0.slot) }
    return places
  }

  private func end(_ ghost: GraphStore.Ghost) {
    let slot = ghost.slot
    for edge in store.topology.outgoing(slot) + store.topology.incoming(slot) { removeEdge(edge) }
    store.topology.removeNode(slot)
    var action = AdoptionAction(.setSlot)
    action.index = slot
    store.actions.append(action)
    store.isDirty = true
    discard { Self.free(ghost.node) }
  }

  /// True where a connection begins that had to wait.
  private func startDeferred() -> Bool {
    let before = store.deferredEdges.count
    for index in store.deferredEdges {
      let edge = store.topology.edges[Int(index)]
      if !edge.isUsed || edge.isLeaving { continue }
      if store.topology.path(from: edge.target, to: edge.source, includingLeaving: true) != nil { continue }
      store.topology.edges[Int(index)].isDeferred = false
      store.newEdges.append(index)
      store.isDirty = true
    }
    store.deferredEdges = store.deferredEdges.filter {
      store.topology.edges[Int($0)].isDeferred && store.topology.edges[Int($0)].isUsed
    }
    return store.deferredEdges.count != before
  }
}
