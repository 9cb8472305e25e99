import BacklineDSP
import BacklineGraph
import CBackline

/// Parameters and the other changes that need no new plan.
extension Engine {
  /// Writes a value into a list of values by index, which grows where it has to, and what goes with it. Returns the indices of
  /// the values that the unit has to hear of.
  @discardableResult
  func change(
    _ values: inout [Float], _ index: Int, _ value: Float, _ description: UnitDescription
  ) throws(EngineError) -> [Int] {
    guard let parameter = description.parameter(at: index) else {
      throw EngineError(.unknownParameter, "'\(description.kind)' has no parameter number \(index)")
    }
    if parameter.isReadOnly {
      throw EngineError(.notAllowed, "'\(parameter.name)' is measured: it cannot be set")
    }
    if !value.isFinite || !parameter.range.contains(value) {
      let range = parameter.range
      throw EngineError(
        .outOfRange,
        "\(value) is out of range for '\(parameter.name)': \(range.lowerBound) to \(range.upperBound) \(parameter.measure.rawValue)"
      )
    }
    return description.set(index, to: value, in: &values)
  }

  /// Sets a value of a node on the control side, and follows a change of latency. Returns the indices of the values that the
  /// unit has to hear of.
  func change(_ node: GraphNode, _ index: Int, _ value: Float) throws(EngineError) -> [Int] {
    let count = node.values.count
    let presetIndex = node.description.presetIndex
    let preset = presetIndex.flatMap { $0 < count ? node.values[$0] : 0 }
    let changed = try change(&node.values, index, value, node.description)
    // A preset changes more than was set, and what was set may have ended a preset.
    if let presetIndex, index == presetIndex || node.values[presetIndex] != preset { later { $0.emit(.valuesChanged) } }
    if node.values.count > count, node.isGrowing {
      let perInput = max(1, node.description.inputParameters.count)
      node.instance.reserveInputs?((node.values.count - node.description.parameters.count + perInput - 1) / perInput)
    }
    if node.description.parameter(at: index)?.affectsLatency == true { followLatency(of: node) }
    return changed
  }

  private func followLatency(of node: GraphNode) {
    let latency = node.description.latency(sampleRate, node.values)
    if latency == node.latency { return }
    node.latency = latency
    store.topology.setLatency(Int32(latency), of: node.slot)
    store.actions.append(latencyAction(node, isNew: false))
    store.isDirty = true
  }

  /// Tells the render thread of a node's latency, with a dry line for bypass where the present one is too short.
  func latencyAction(_ node: GraphNode, isNew: Bool) -> AdoptionAction {
    var action = AdoptionAction(.setLatency)
    action.node = node.state
    action.index = Int32(node.latency)
    action.frames = rampFrames()
    let present = isNew ? nil : node.dryLine
    if node.latency > (present?.pointee.maximum ?? 0) {
      let channels = node.description.inputs.first?.channelCount ?? 2
      let line = UnsafeMutablePointer<AlignmentLine>.allocate(capacity: 1)
      line.initialize(
        to: AlignmentLine(
          channelCount: channels, maximum: max(node.latency * 2, 4096), delay: isNew ? node.latency : 0))
      action.line = line
      if let old = node.dryLine { discard(old) }
      node.dryLine = line
    }
    return action
  }

  // MARK: Events

  func event(for node: GraphNode, _ parameter: Int, _ value: Float, _ ramp: Double?) -> RenderEvent {
    let isStepped = node.description.parameter(at: parameter)?.kind == .count
    return RenderEvent(
      slot: node.slot, generation: node.generation, parameter: Int32(parameter), value: value,
      rampFrames: isStepped && ramp == nil ? rampFrames() : rampFrames(ramp))
  }

  /// Bypass as events: of a unit that sums, its strips go back to passing everything.
  func bypassEvents(for node: GraphNode) -> [RenderEvent] {
    guard node.isGrowing else {
      return [event(for: node, Int(RenderEvent.Target.bypass), node.isBypassed ? 1 : 0, nil)]
    }
    return node.values.indices.compactMap { index in
      guard let parameter = node.description.parameter(at: index), !parameter.isReadOnly else { return nil }
      return event(for: node, index, node.isBypassed ? parameter.defaultValue : node.values[index], nil)
    }
  }

  /// The plan that events for these nodes have to wait for, and the first frame at which they can be taken then.
  ///
  /// Values keep their order with those that travel with a plan, except across a plan with a frame of its own: there the
  /// frame decides.
  private func awaited(_ events: [RenderEvent]) -> (serial: Int32, frame: Int64) {
    let newest = events.reduce(0) { serial, event in
      event.slot < 0 ? serial : max(serial, store.nodes[Int(event.slot)]?.firstSerial ?? 0)
    }
    let serial = max(newest, offered?.serial ?? 0)
    guard let offeredTimed, newest >= offeredTimed.serial else { return (serial, .min) }
    return (serial, offeredTimed.frame)
  }

  /// Sends the events of one transaction, to be taken at one frame.
  ///
  /// Those of a transaction that has changed the graph too travel with the plan, so that all of it comes at that frame;
  /// so do those without a frame while a plan is being made, to keep the order.
  func sendGroup(_ events: [RenderEvent], at frame: Int64?, isStructural: Bool) {
    changeLog?.way = .none
    if events.isEmpty { return }
    if goesWithPlan(isStructural: isStructural, frame) {
      for event in events {
        var action = AdoptionAction(.event)
        action.event = event
        store.actions.append(action)
      }
      changeLog?.way = .plan
      return
    }
    let awaited = awaited(events)
    var group = events
    for index in group.indices {
      group[index].frame = isRendering ? max(frame ?? .min, awaited.frame) : .min
      group[index].serial = awaited.serial
      group[index].isContinued = index < group.count - 1
    }
    if let order = reenactment?.order {
      for index in group.indices {
        group[index].frame = .min
        group[index].serial = 0
      }
      reenactment?.groups[order] = group
      return
    }
    if let changeLog {
      let id = changeLog.eventID()
      group[0].id = id
      changeLog.way = .queue(id)
    }
    let scheduled = group.count { $0.frame != .min }
    if scheduled > 0 {
      scheduledSent += scheduled
      planTidy()
    }
    if backlog.isEmpty && exchange.pointee.send(together: group) {
      sentEvents += group.count
    } else {
      // What waits may be overtaken by newer values, or be taken in parts.
      changeLog?.spoil()
      for event in group { backlog.add(event) }
      planTidy()
    }
    if !isRendering { takeInNow() }
  }

  private func goesWithPlan(isStructural: Bool, _ frame: Int64?) -> Bool {
    if let reenactment { return !reenactment.isQueued }
    return store.isDirty && (isStructural || frame == nil || !isRendering)
  }

  /// Sends what did not fit before.
  func sendBacklog() {
    while let event = backlog.first {
      if !exchange.pointee.send(event) { return }
      sentEvents += 1
      backlog.removeFirst()
    }
  }

  /// Sets one parameter by a place that was looked up before: the hot path of control surfaces.
  ///
  /// False when the node is gone.
  public func set(
    slot: Int32, generation: UInt32, parameter: Int, to value: Float, ramp: Double? = nil, at frame: Int64? = nil
  ) -> Bool {
    guard Int(slot) < store.nodes.count, let node = store.nodes[Int(slot)], node.generation == generation,
      parameter < node.values.count || node.isGrowing
    else { return false }
    publishBefore(frame)
    let actions = store.actions.count
    let changed: [Int]
    do {
      changed = try change(node, parameter, value)
    } catch {
      return false
    }
    if node.isBypassed && node.isGrowing { return true }
    let events = changed.map { event(for: node, $0, node.values[$0], ramp) }
    let isStructural = store.actions.count != actions
    if isStructural, let frame { wantedFrame = max(wantedFrame ?? frame, frame) }
    sendGroup(events, at: frame, isStructural: isStructural)
    changeLog?.note(
      .commands(
        [.set(node: node.name, parameter: parameter, value: value, ramp: ramp)],
        parameterNames: [node.description.parameter(at: parameter)?.name ?? ""]),
      isStructural: isStructural && store.isDirty, now: exchange.pointee.currentFrame)
    if store.isDirty { needsFlush() }
    return true
  }

  /// Values that had to give way to newer ones of the same parameter.
  public var collapsedEvents: Int { backlog.collapsed }
  /// Events that wait for a frame of their own.
  public var scheduledWaiting: Int { scheduledSent - exchange.pointee.scheduledTaken }
}

/// Events that the full queue had no room for: the newest value of each parameter, in the order of first arrival.
struct EventBacklog {
  private struct Key: Hashable {
    let slot: Int32
    let generation: UInt32
    let parameter: Int32
  }

  private var events: [RenderEvent] = []
  private var next = 0
  private var places: [Key: Int] = [:]
  /// Values that were replaced by newer ones.
  private(set) var collapsed = 0

  var isEmpty: Bool { next == events.count }
  var first: RenderEvent? { isEmpty ? nil : events[next] }

  mutating func add(_ event: RenderEvent) {
    let key = Key(slot: event.slot, generation: event.generation, parameter: event.parameter)
    // Triggers and events with a time of their own are never collapsed.
    let isValue = event.parameter >= 0 && event.frame == .min
    if isValue, let place = places[key], place >= next, events[place].frame == .min {
      let wasContinued = events[place].isContinued
      events[place] = event
      events[place].isContinued = wasContinued
      collapsed += 1
      return
    }
    if isValue { places[key] = events.count }
    events.append(event)
  }

  mutating func removeFirst() {
    next += 1
    if next == events.count {
      events.removeAll(keepingCapacity: true)
      places.removeAll(keepingCapacity: true)
      next = 0
    }
  }
}
