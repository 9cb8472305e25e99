import BacklineDSP
import BacklineGraph

/// Commands, in terms of the smallest edits. A command that cannot be done is refused before it changes anything.
extension Engine {
  func apply(_ command: Command, _ transaction: inout Transaction) throws(EngineError) {
    switch command {
    case .add(let kind, let name, let values):
      var specification = NodeSpecification(name: name, kind: kind, values: [])
      guard let description = unit(kind) else { throw unknownKind(kind) }
      specification.values = initialValues(description)
      for (index, value) in values { try change(&specification.values, index, value, description) }
      try checkOutside(name, description)
      try edit(.add(specification), &transaction)
      try connectOutside(name, &transaction)
      transaction.changes.append((.added, name))
    case .remove(let name):
      let description = try store.node(name).description
      try edit(.remove(name), &transaction)
      try removeOutside(of: name, description, &transaction)
      transaction.changes.append((.removed, name))
    case .rename(let name, let new):
      try edit(.rename(name, to: new), &transaction)
      transaction.changes.append((.renamed, "\(name) \(new)"))
    case .connect(let from, let to, let isFeedback, let map, let parts):
      let connection = ConnectionSpecification(
        from: from, to: to, isFeedback: isFeedback, map: map, parts: parts)
      try edit(.connect(connection), &transaction)
      transaction.changes.append((.connected, "\(from) \(to)"))
    case .disconnect(let from, let to):
      try edit(.disconnect(ConnectionSpecification(from: from, to: to)), &transaction)
      transaction.changes.append((.disconnected, "\(from) \(to)"))
    case .insert(let kind, let name, let from, let to):
      try insert(kind, name, from, to, &transaction)
      transaction.changes.append((.added, name))
    case .move(let name, let from, let to):
      try move(name, from, to, &transaction)
      transaction.changes.append((.moved, name))
    case .replace(let name, let kind):
      try replace(name, kind, &transaction)
      transaction.changes.append((.replaced, name))
    case .setPorts(let ports):
      try setPorts(ports, &transaction)
    case .load(let description):
      try load(description, &transaction)
      transaction.changes.append((.preset, ""))
    case .set(let name, let parameter, let value, let ramp):
      let node = try store.node(name)
      let before = (values: node.values, latency: node.latency, line: node.dryLine)
      transaction.restores.append { Engine.restore(node, before.values, before.latency, before.line) }
      for index in try change(node, parameter, value) {
        transaction.events.append(event(for: node, index, node.values[index], ramp))
      }
    case .bypass(let name, let isBypassed):
      let node = try store.node(name)
      let before = node.isBypassed
      transaction.restores.append { node.isBypassed = before }
      node.isBypassed = isBypassed
      transaction.events.append(contentsOf: bypassEvents(for: node))
    case .reset(let name):
      let node = try store.node(name)
      transaction.events.append(event(for: node, Int(RenderEvent.Target.reset), 0, 0))
    case .mute(let isMuted):
      transaction.isMuted = isMuted
      transaction.events.append(
        RenderEvent(
          slot: RenderEvent.master, generation: 0, parameter: 0, value: isMuted ? 0 : 1, rampFrames: rampFrames()))
    }
  }

  /// Puts a node's values back, and with them the latency that follows from them.
  private static func restore(
    _ node: GraphNode, _ values: [Float], _ latency: Int, _ line: UnsafeMutablePointer<AlignmentLine>?
  ) {
    node.values = values
    node.latency = latency
    if node.dryLine != line, let unused = node.dryLine {
      unused.pointee.deallocate()
      unused.deallocate()
    }
    node.dryLine = line
  }

  func unknownKind(_ kind: String) -> EngineError {
    EngineError(.unknownKind, "there is no unit '\(kind)': 'backline units' lists all")
  }

  /// Refuses what would make the first connection of a command sequence fail half way.
  private func checkName(_ name: String) throws(EngineError) {
    try NodeName.check(name)
    if store.byName[name] != nil { throw EngineError(.nameTaken, "the name '\(name)' is taken: choose another") }
  }

  private func checkThrough(_ description: UnitDescription) throws(EngineError) {
    if description.inputs.isEmpty || description.outputs.isEmpty {
      throw EngineError(
        .formatMismatch,
        "'\(description.kind)' has no \(description.inputs.isEmpty ? "input" : "output"): nothing can go through it")
    }
  }

  private func insert(
    _ kind: String, _ name: String, _ from: Endpoint, _ to: Endpoint, _ transaction: inout Transaction
  ) throws(EngineError) {
    guard let description = unit(kind) else { throw unknownKind(kind) }
    try checkName(name)
    try checkThrough(description)
    let old = try connection(from, to)
    try checkPassage(description, from: old.edge, to: old.edge)
    let isDetour = isInPlan(old.edge)
    let values = initialValues(description)
    try edit(.disconnect(old.specification), &transaction)
    try edit(.add(NodeSpecification(name: name, kind: kind, values: values)), &transaction)
    try edit(
      .connect(ConnectionSpecification(from: old.specification.from, to: Endpoint(name, bus: 0))), &transaction)
    try edit(
      .connect(ConnectionSpecification(from: Endpoint(name, bus: 0), to: old.specification.to)), &transaction,
      isDetour: isDetour)
    try connectOutside(name, &transaction)
  }

  /// True for a connection that searches for rings take into account.
  private func isInPlan(_ index: Int32) -> Bool {
    let edge = store.topology.edges[Int(index)]
    return !edge.isFeedback && !edge.isDeferred
  }

  /// Refuses a unit whose channels do not fit between the ends of connections.
  private func checkPassage(
    _ description: UnitDescription, from before: Int32, to after: Int32
  ) throws(EngineError) {
    let first = store.topology.edges[Int(before)], second = store.topology.edges[Int(after)]
    let incoming = store.topology.outputChannels(first.source, first.sourceBus)
    let outgoing = store.topology.inputChannels(second.target, second.targetBus)
    let takes = description.inputs[0].channelCount, gives = description.outputs[0].channelCount
    _ = try channelMix(
      from: incoming, to: takes, map: nil, isSumming: description.growingInputs != nil, "'\(description.kind)'")
    _ = try channelMix(
      from: gives, to: outgoing, map: nil, isSumming: store.topology.nodes[Int(second.target)].isStreaming,
      "'\(store.name(second.target))'")
  }

  private func move(
    _ name: String, _ from: Endpoint, _ to: Endpoint, _ transaction: inout Transaction
  ) throws(EngineError) {
    let node = try store.node(name)
    try checkThrough(node.description)
    let place = try connection(from, to)
    let ends = store.topology.edges[Int(place.edge)]
    if ends.source == node.slot || ends.target == node.slot {
      throw EngineError(.notAllowed, "'\(name)' is an end of \(from) to \(to) itself: name a connection elsewhere")
    }
    try checkPassage(node.description, from: place.edge, to: place.edge)
    // The gap is closed where one connection comes in and those that leave can take its source.
    let incoming = store.topology.incoming(node.slot).filter { store.topology.isLive($0) }
    let outgoing = store.topology.outgoing(node.slot).filter { store.topology.isLive($0) }
    let main = incoming.first { store.topology.edges[Int($0)].targetBus == 0 }
    let isDetour = isInPlan(place.edge)
    var bridges: [(connection: ConnectionSpecification, isDetour: Bool)] = []
    if let main, !store.topology.edges[Int(main)].isFeedback {
      let source = store.topology.edges[Int(main)]
      for index in outgoing where !store.topology.edges[Int(index)].isFeedback {
        let edge = store.topology.edges[Int(index)]
        if edge.sourceBus != 0 { continue }
        _ = try channelMix(
          from: store.topology.outputChannels(source.source, source.sourceBus),
          to: store.topology.inputChannels(edge.target, edge.targetBus), map: nil,
          isSumming: store.topology.nodes[Int(edge.target)].isStreaming, "'\(store.name(edge.target))'")
        let bridge = ConnectionSpecification(
          from: Endpoint(store.name(source.source), bus: Int(source.sourceBus)),
          to: Endpoint(store.name(edge.target), bus: Int(edge.targetBus)))
        bridges.append((bridge, isInPlan(main) && isInPlan(index)))
      }
    }
    let sideChains = incoming.filter { $0 != main }.map { store.specification($0, map: maps[$0]) }
    let otherOutputs = outgoing.filter { store.topology.edges[Int($0)].sourceBus != 0 }
      .map { store.specification($0, map: maps[$0]) }
    let specification = node.specification
    try edit(.remove(name), &transaction)
    for bridge in bridges { try edit(.connect(bridge.connection), &transaction, isDetour: bridge.isDetour) }
    try edit(.disconnect(place.specification), &transaction)
    try edit(.add(specification), &transaction)
    try edit(
      .connect(ConnectionSpecification(from: place.specification.from, to: Endpoint(name, bus: 0))), &transaction)
    try edit(
      .connect(ConnectionSpecification(from: Endpoint(name, bus: 0), to: place.specification.to)), &transaction,
      isDetour: isDetour)
    for connection in sideChains + otherOutputs {
      // What now comes from below, or goes above, would close a ring: it is left out rather than refused.
      try? edit(.connect(connection), &transaction)
    }
  }

  private func replace(_ name: String, _ kind: String, _ transaction: inout Transaction) throws(EngineError) {
    let node = try store.node(name)
    guard let description = unit(kind) else { throw unknownKind(kind) }
    let incoming = store.topology.incoming(node.slot).filter { store.topology.isLive($0) }
    let outgoing = store.topology.outgoing(node.slot).filter { store.topology.isLive($0) }
    for index in incoming {
      let edge = store.topology.edges[Int(index)]
      let isSumming = description.growingInputs != nil
      guard isSumming || Int(edge.targetBus) < description.inputs.count else {
        throw EngineError(
          .formatMismatch, "'\(kind)' has no input bus \(edge.targetBus), which is connected: disconnect it first")
      }
      _ = try channelMix(
        from: store.topology.outputChannels(edge.source, edge.sourceBus),
        to: description.inputs[isSumming ? 0 : Int(edge.targetBus)].channelCount, map: maps[index]?.sources,
        isSumming: isSumming, "'\(kind)'")
    }
    for index in outgoing {
      let edge = store.topology.edges[Int(index)]
      guard Int(edge.sourceBus) < description.outputs.count else {
        throw EngineError(
          .formatMismatch, "'\(kind)' has no output bus \(edge.sourceBus), which is connected: disconnect it first")
      }
      _ = try channelMix(
        from: description.outputs[Int(edge.sourceBus)].channelCount,
        to: store.topology.inputChannels(edge.target, edge.targetBus), map: maps[index]?.sources,
        isSumming: store.topology.nodes[Int(edge.target)].isStreaming, "'\(store.name(edge.target))'")
    }
    let connections = Set(incoming + outgoing).sorted().map { store.specification($0, map: maps[$0]) }
    let values = initialValues(description)
    try edit(.remove(name), &transaction)
    try edit(.add(NodeSpecification(name: name, kind: kind, values: values)), &transaction)
    for connection in connections { try edit(.connect(connection), &transaction) }
    try connectOutside(name, &transaction)
  }

  /// Lays out the JACK side anew. What is connected to it has to be disconnected before.
  private func setPorts(_ ports: PortLayout, _ transaction: inout Transaction) throws(EngineError) {
    if ports == store.ports { return }
    let ends = store.topology.outgoing(Topology.input) + store.topology.incoming(Topology.output)
    if ends.contains(where: { store.topology.isLive($0) }) {
      throw EngineError(.notAllowed, "'input' or 'output' is connected: disconnect both before their buses change")
    }
    try edit(.setPorts(ports), &transaction)
  }

  private func load(_ description: GraphDescription, _ transaction: inout Transaction) throws(EngineError) {
    for index in store.topology.incoming(Topology.output) where store.topology.isLive(index) {
      if store.topology.edges[Int(index)].source == Topology.input {
        try edit(.disconnect(store.specification(index, map: maps[index])), &transaction)
      }
    }
    // Sources first: what a node still has to say then goes through all that came after it.
    for slot in store.topology.sourcesFirst() {
      if let node = store.nodes[Int(slot)] { try edit(.remove(node.name), &transaction) }
    }
    if description.ports != store.ports { try edit(.setPorts(description.ports), &transaction) }
    for node in description.nodes { try edit(.add(node), &transaction) }
    for connection in description.connections { try edit(.connect(connection), &transaction) }
  }
}
