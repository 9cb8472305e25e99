import BacklineDSP
import BacklineGraph
import BacklineRealtime

/// The smallest edits: each checks first, then changes the store and notes what takes it back.
extension Engine {
  ///
  /// A connection is a detour when its ends were connected by way of what has just been taken away or put between: it
  /// closes no ring that was not there, and is not searched for one.
  func edit(_ edit: GraphEdit, _ transaction: inout Transaction, isDetour: Bool = false) throws(EngineError) {
    switch edit {
    case .add(let specification):
      try add(specification, &transaction)
      transaction.inverse.append(.remove(specification.name))
    case .remove(let name):
      try remove(name, &transaction)
    case .rename(let name, let new):
      let node = try store.node(name)
      try NodeName.check(new)
      if store.byName[new] != nil { throw EngineError(.nameTaken, "the name '\(new)' is taken: choose another") }
      transaction.restores.append { node.name = name }
      store.byName[name] = nil
      store.byName[new] = node.slot
      node.name = new
      for index in store.recordTracks.indices where store.recordTracks[index].source.node == name {
        store.recordTracks[index].source.node = new
      }
      transaction.inverse.append(.rename(new, to: name))
    case .connect(let connection):
      let made = try connect(connection, &transaction, isDetour: isDetour)
      transaction.inverse.append(.disconnect(made))
    case .disconnect(let connection):
      let found = try self.connection(connection.from, connection.to)
      leave(found.edge)
      transaction.inverse.append(.connect(found.specification))
    case .setPorts(let ports):
      transaction.inverse.append(.setPorts(store.ports))
      try checkPorts(ports)
      // What comes in and goes out is another thing from here on.
      if ports != store.ports { later { $0.endLog() } }
      store.setPorts(ports)
      store.isDirty = true
      hosting.arePortsStale = true
    case .addPorts(let names, let isInput):
      var ports = store.ports
      if isInput { ports.inputs.append(names) } else { ports.outputs.append(names) }
      try checkPorts(ports)
      transaction.inverse.append(.removePorts(isInput: isInput))
      later { $0.endLog() }
      store.addPorts(names, isInput: isInput)
      hosting.arePortsStale = true
    case .removePorts(let isInput):
      guard let names = isInput ? store.ports.inputs.last : store.ports.outputs.last else {
        throw EngineError(.notFound, "there is no bus of ports to take away")
      }
      transaction.inverse.append(.addPorts(names, isInput: isInput))
      later { $0.endLog() }
      store.removePorts(isInput: isInput)
      hosting.arePortsStale = true
    }
  }

  // MARK: Nodes

  private func add(_ specification: NodeSpecification, _ transaction: inout Transaction) throws(EngineError) {
    try NodeName.check(specification.name)
    if store.byName[specification.name] != nil {
      throw EngineError(.nameTaken, "the name '\(specification.name)' is taken: choose another")
    }
    guard let description = unit(specification.kind) else { throw unknownKind(specification.kind) }
    if store.liveCount >= Self.nodeLimit {
      throw EngineError(.limitReached, "there are \(Self.nodeLimit) nodes already: remove some first")
    }
    if store.topology.nodes.count - 2 + 1 >= RenderCore.slotCount && store.ghosts.count > 0 {
      throw EngineError(.busy, "too many removed nodes still ring out: try again in a moment")
    }
    guard hasMemory(for: description) else {
      throw EngineError(.limitReached, "there is not enough memory left for '\(specification.name)'")
    }
    var entry = Topology.Node()
    entry.inputBusCount = Int32(description.growingInputs == nil ? description.inputs.count : 0)
    entry.outputBusCount = Int32(description.outputs.count)
    entry.isStreaming = description.growingInputs != nil
    entry.channels = store.channels(of: description)
    let slot = store.topology.insertNode(entry)
    while generations.count <= Int(slot) { generations.append(0) }
    generations[Int(slot)] &+= 1
    let node = makeNode(specification, description, slot)
    store.topology.nodes[Int(slot)].state = node.state
    store.topology.setLatency(Int32(node.latency), of: slot)
    while store.nodes.count <= Int(slot) { store.nodes.append(nil) }
    store.nodes[Int(slot)] = node
    store.byName[specification.name] = slot
    store.liveCount += 1
    transaction.newNodes.append(node)
    announce(node)
    store.isDirty = true
  }

  private func makeNode(
    _ specification: NodeSpecification, _ description: UnitDescription, _ slot: Int32
  ) -> GraphNode {
    let readings = UnsafeMutablePointer<Float>.allocate(capacity: max(1, description.parameters.count))
    for (index, parameter) in description.parameters.enumerated() {
      (readings + index).initialize(to: parameter.defaultValue)
    }
    let (instance, state) = makeInstance(description, specification.values, slot, readings)
    let node = GraphNode(
      name: specification.name, description: description, slot: slot, generation: generations[Int(slot)],
      values: specification.values, instance: instance, state: state, readings: readings, firstSerial: nextSerial)
    node.latency = description.latency(sampleRate, specification.values)
    node.isBypassed = specification.isBypassed
    node.file = specification.file
    return node
  }

  func makeInstance(
    _ description: UnitDescription, _ values: [Float], _ slot: Int32, _ readings: UnsafeMutablePointer<Float>
  ) -> (UnitInstance, UnsafeMutablePointer<NodeState>) {
    let ramp = Int32((rampTime * sampleRate).rounded())
    let instance = description.make(UnitFormat(sampleRate: sampleRate, rampFrames: ramp, readings: readings))
    if values.count > description.parameters.count {
      let perInput = max(1, description.inputParameters.count)
      instance.reserveInputs?((values.count - description.parameters.count + perInput - 1) / perInput)
    }
    for (index, value) in values.enumerated() {
      let parameter = description.parameter(at: index)
      if let parameter, !parameter.isReadOnly, value != parameter.defaultValue {
        instance.functions.set(instance.state, Int32(index), value, 0)
      }
    }
    instance.functions.reset(instance.state)
    let state = NodeState.allocate()
    state.initialize(
      to: NodeState(instance, slot: slot, hasInputs: !description.inputs.isEmpty, rampFrames: ramp))
    return (instance, state)
  }

  /// Has the next plan tell the render thread of a node.
  func announce(_ node: GraphNode) {
    var action = AdoptionAction(.setSlot)
    action.index = node.slot
    action.node = node.state
    action.generation = node.generation
    store.actions.append(action)
    if node.latency > 0 { store.actions.append(latencyAction(node, isNew: true)) }
    if node.isBypassed {
      for var event in bypassEvents(for: node) {
        event.rampFrames = 0
        var action = AdoptionAction(.event)
        action.event = event
        store.actions.append(action)
      }
    }
  }

  private func remove(_ name: String, _ transaction: inout Transaction) throws(EngineError) {
    let node = try store.node(name)
    let specification = node.specification
    let incoming = store.topology.incoming(node.slot).filter { store.topology.isLive($0) }
    let outgoing = store.topology.outgoing(node.slot).filter { store.topology.isLive($0) }
    let connections = Set(incoming + outgoing).sorted().map { store.specification($0, map: maps[$0]) }
    for index in incoming { leave(index) }
    for index in outgoing {
      if node.description.inputs.isEmpty || store.topology.edges[Int(index)].isDeferred {
        leave(index)
      } else {
        leaveLater(index)
      }
    }
    store.topology.nodes[Int(node.slot)].isGhost = true
    store.nodes[Int(node.slot)] = nil
    store.byName[name] = nil
    store.liveCount -= 1
    store.ghosts.append(GraphStore.Ghost(slot: node.slot, node: node))
    store.isDirty = true
    // Undone in reverse: the node first, then its connections.
    for connection in connections.reversed() { transaction.inverse.append(.connect(connection)) }
    transaction.inverse.append(.add(specification))
  }

  func checkPorts(_ ports: PortLayout) throws(EngineError) {
    let all = (ports.inputs + ports.outputs).flatMap { $0 }
    // All ports of a JACK client share one space of names, whatever their direction.
    if Set(all).count != all.count {
      throw EngineError(.nameTaken, "two ports have the same name: all names of inputs and outputs have to differ")
    }
    if all.contains(where: { $0.isEmpty || $0.utf8.contains(0) }) {
      throw EngineError(.invalidName, "a port has no name: give it one without a zero byte")
    }
    for (side, buses) in [("input", ports.inputs), ("output", ports.outputs)] {
      let count = buses.reduce(0) { $0 + $1.count }
      if count > 64 { throw EngineError(.limitReached, "\(count) \(side) ports: at most 64 are allowed") }
      if buses.contains(where: { $0.count > 32 }) {
        throw EngineError(.limitReached, "a bus has more than 32 channels")
      }
    }
  }

  // MARK: Connections

  /// A live connection by its ends; a bare name means its first bus, or the one bus that is connected so.
  func connection(
    _ from: Endpoint, _ to: Endpoint
  ) throws(EngineError) -> (edge: Int32, specification: ConnectionSpecification) {
    let source = try store.slot(from.node)
    let target = try store.slot(to.node)
    for index in store.topology.incoming(target) where store.topology.isLive(index) {
      let edge = store.topology.edges[Int(index)]
      let matches =
        edge.source == source && (from.bus == nil || from.bus == Int(edge.sourceBus))
        && (to.bus == nil || to.bus == Int(edge.targetBus))
      if matches { return (index, store.specification(index, map: maps[index])) }
    }
    throw EngineError(.notConnected, "\(from) is not connected to \(to): /graph/connections lists what is")
  }

  private func connect(
    _ connection: ConnectionSpecification, _ transaction: inout Transaction, isDetour: Bool
  ) throws(EngineError) -> ConnectionSpecification {
    let source = try store.slot(connection.from.node)
    let target = try store.slot(connection.to.node)
    let sourceBus = try self.sourceBus(source, connection.from)
    let targetBus = try self.targetBus(target, connection.to)
    let fromChannels = store.topology.outputChannels(source, sourceBus)
    let toChannels = store.topology.inputChannels(target, targetBus)
    let mix: [ChannelMix]
    if let parts = connection.parts {
      mix = try channelMix(parts, from: fromChannels, to: toChannels, "\(connection.to)")
    } else {
      mix = try channelMix(
        from: fromChannels, to: toChannels, map: connection.map,
        isSumming: store.topology.nodes[Int(target)].isStreaming, "\(connection.to)")
    }
    if store.topology.edgeCount >= Self.connectionLimit {
      throw EngineError(.limitReached, "there are \(Self.connectionLimit) connections already: remove some first")
    }
    if !connection.isFeedback && !isDetour,
      let ring = store.topology.path(from: target, to: source, includingLeaving: false)
    {
      let names = (ring.map { store.name($0) } + [store.name(target)]).joined(separator: " -> ")
      throw EngineError(
        .wouldCycle, "that would close the ring \(names): a 'feedback' connection, one quantum late, may close it")
    }
    var edge = Topology.Edge(source: source, sourceBus: sourceBus, target: target, targetBus: targetBus)
    edge.isFeedback = connection.isFeedback
    edge.isIdentity =
      fromChannels == toChannels
      && mix.enumerated().allSatisfy { $1.source == $0 && $1.destination == $0 && $1.gain == 1 }
    let state = UnsafeMutablePointer<EdgeState>.allocate(capacity: 1)
    state.initialize(to: EdgeState(channelCount: fromChannels, mix: mix, isFeedback: connection.isFeedback))
    edge.state = state
    if !connection.isFeedback && hasLeaving && !isDetour {
      edge.isDeferred = store.topology.path(from: target, to: source, includingLeaving: true) != nil
    }
    let index = store.topology.insertEdge(edge)
    if let map = connection.channels { maps[index] = map }
    if edge.isDeferred { store.deferredEdges.append(index) } else { store.newEdges.append(index) }
    if let node = store.nodes.indices.contains(Int(target)) ? store.nodes[Int(target)] : nil, node.isGrowing {
      let before = node.values
      transaction.restores.append { node.values = before }
      growInputs(of: target, to: Int(targetBus) + 1)
    }
    transaction.newEdges.append(index)
    store.isDirty = true
    return store.specification(index, map: connection.channels)
  }

  /// True while anything that was taken away still sounds.
  private var hasLeaving: Bool { !store.ghosts.isEmpty || store.unsettled.contains { $0.kind == .fadeOut } }

  private func sourceBus(_ slot: Int32, _ end: Endpoint) throws(EngineError) -> Int32 {
    let bus = end.bus ?? 0
    if slot == Topology.output {
      throw EngineError(.notAllowed, "'output' gives no sound to the graph: connect to it, not from it")
    }
    let count =
      slot == Topology.input ? store.ports.inputs.count : Int(store.topology.nodes[Int(slot)].outputBusCount)
    if count == 0 { throw EngineError(.formatMismatch, "'\(end.node)' has no output") }
    if bus < 0 || bus >= count {
      throw EngineError(.outOfRange, "'\(end.node)' has \(count) output bus(es), counted from 0: there is no \(bus)")
    }
    return Int32(bus)
  }

  private func targetBus(_ slot: Int32, _ end: Endpoint) throws(EngineError) -> Int32 {
    if slot == Topology.input {
      throw EngineError(.notAllowed, "'input' takes no sound from the graph: connect from it, not to it")
    }
    let entry = store.topology.nodes[Int(slot)]
    let fixed = slot == Topology.output ? store.ports.outputs.count : Int(entry.inputBusCount)
    let count = entry.isStreaming ? (store.nodes[Int(slot)]?.description.growingInputs ?? 0) : fixed
    if count == 0 { throw EngineError(.formatMismatch, "'\(end.node)' has no input") }
    var bus = end.bus ?? 0
    if entry.isStreaming && end.bus == nil {
      bus = store.topology.firstFreeBus(slot)
      if bus >= count {
        throw EngineError(.limitReached, "'\(end.node)' has \(count) inputs at most, and all are taken")
      }
    }
    if bus < 0 || bus >= count {
      throw EngineError(.outOfRange, "'\(end.node)' has \(count) input bus(es), counted from 0: there is no \(bus)")
    }
    if store.topology.isOccupied(slot, Int32(bus)) {
      throw EngineError(
        .alreadyConnected, "input \(bus) of '\(end.node)' is connected already: disconnect it first, or use a mixer")
    }
    return Int32(bus)
  }

  /// Which source channel goes to which destination channel (R8).
  func channelMix(
    from: Int, to: Int, map: [Int]?, isSumming: Bool, _ end: String
  ) throws(EngineError) -> [ChannelMix] {
    if let map {
      if map.count != to || map.contains(where: { $0 < 0 || $0 >= from }) {
        throw EngineError(
          .formatMismatch,
          "the map has to name, for each of \(to) channels of \(end), one of the source's channels 0 to \(from - 1)")
      }
      return map.enumerated().map { ChannelMix($1, $0) }
    }
    if from == to { return (0..<to).map { ChannelMix($0, $0) } }
    if from == 1 && to == 2 { return [ChannelMix(0, 0), ChannelMix(0, 1)] }
    if from == 2 && to == 1 { return [ChannelMix(0, 0, 0.5), ChannelMix(1, 0, 0.5)] }
    if isSumming && to == 2 {
      // Channels in turn go left and right, each side at the level of one.
      return (0..<2).flatMap { side in
        let channels = Array(stride(from: side, to: from, by: 2))
        return channels.map { ChannelMix($0, side, 1 / Float(channels.count)) }
      }
    }
    throw EngineError(
      .formatMismatch, "\(from) channels do not fit the \(to) of \(end): give a map, or put a mixer between")
  }

  /// Checks the parts that a caller has given.
  private func channelMix(
    _ parts: [ChannelPart], from: Int, to: Int, _ end: String
  ) throws(EngineError) -> [ChannelMix] {
    for part in parts {
      guard (0..<from).contains(part.source), (0..<to).contains(part.destination), part.gain.isFinite else {
        throw EngineError(
          .formatMismatch,
          "channel \(part.source) to \(part.destination) by \(part.gain) is no part of a connection from \(from) channels to the \(to) of \(end)"
        )
      }
    }
    return parts.sorted { ($0.destination, $0.source) < ($1.destination, $1.source) }
      .map { ChannelMix($0.source, $0.destination, $0.gain) }
  }

  private func growInputs(of slot: Int32, to count: Int) {
    guard store.topology.nodes[Int(slot)].isStreaming, let node = store.nodes[Int(slot)] else { return }
    node.instance.reserveInputs?(count)
    let perInput = node.description.inputParameters.count
    while node.values.count < node.description.parameters.count + count * perInput {
      let index = (node.values.count - node.description.parameters.count) % max(1, perInput)
      node.values.append(node.description.inputParameters[index].defaultValue)
    }
  }

  /// Has the connection of a node that rings out faded when it has done so for long enough (R5): at a frame that is known
  /// from the beginning, however often is tidied.
  private func leaveLater(_ index: Int32) {
    store.topology.edges[Int(index)].isSettled = false
    var action = AdoptionAction(.endLater)
    action.edge = store.topology.edges[Int(index)].state
    action.hold = Int32(Self.longestTail * sampleRate)
    action.frames = rampFrames()
    store.actions.append(action)
    store.unsettled.append(
      GraphStore.Unsettled(
        edge: index, kind: .fadeOut, frames: Int64(action.hold) + Int64(action.frames), serial: nextSerial))
  }

  /// Begins to fade a connection out.
  func leave(_ index: Int32) {
    if store.topology.edges[Int(index)].isLeaving { return }
    store.topology.edges[Int(index)].isLeaving = true
    store.topology.edges[Int(index)].isSettled = false
    store.isDirty = true
    store.newEdges.removeAll { $0 == index }
    if store.topology.edges[Int(index)].isDeferred {
      store.deferredEdges.removeAll { $0 == index }
    }
    var action = AdoptionAction(.fade)
    action.edge = store.topology.edges[Int(index)].state
    action.value = 0
    action.frames = rampFrames()
    store.actions.append(action)
    store.unsettled.append(
      GraphStore.Unsettled(edge: index, kind: .fadeOut, frames: Int64(action.frames), serial: nextSerial))
  }
}
