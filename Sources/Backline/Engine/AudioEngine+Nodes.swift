import BacklineDSP
import BacklineEngine
import Synchronization

/// Nodes: which there are, and the engine's own ends.
extension AudioEngine {
  /// Takes a node into the engine. A node that is there already stays as it is; one of another engine is refused.
  public func attach(_ node: AudioNode) throws(AudioError) {
    let player = node as? PlayerNode
    let reader = player == nil ? nil : try segmentReader()
    let courier = player == nil ? nil : try eventCourier()
    try control { engine throws(AudioError) in
      if graph.entries[ObjectIdentifier(node)] != nil { return }
      guard node.belong(to: self) else {
        throw AudioError(.alreadyAttached, "the \(node.kindName) belongs to another engine: detach it there first")
      }
      do throws(AudioError) {
        if let player, let reader, let courier { addSchedule(to: player, reader, courier) }
        try add(
          node, channelCount: node.naturalFormat(isInput: false, bus: 0, sampleRate: engine.sampleRate).channelCount,
          engine)
      } catch {
        node.willDetach()
        _ = node.belong(to: nil)
        throw error
      }
    }
  }

  private func addSchedule(to player: PlayerNode, _ reader: SegmentReader, _ courier: Courier) {
    let life = life
    // Weak, since the kernel keeps the schedule by way of its units.
    let schedule = PlayerSchedule(courier: courier) { [weak kernel = engine] in
      (
        life.state == .running ? kernel?.renderedFrame : nil,
        life.heardLatency.load(ordering: .relaxed) + life.outsideLatencies.output
      )
    }
    reader.add(schedule)
    player.take(schedule)
  }

  /// Puts a node's unit into the kernel.
  private func add(_ node: AudioNode, channelCount: Int, _ engine: isolated Engine) throws(AudioError) {
    let kind = graph.newName("own")
    guard let realization = node.realization(kind: kind, channelCount: channelCount) else {
      throw AudioError(.internal, "the \(node.kindName) has nothing that stands for it")
    }
    let description = realization.description
    let name = graph.newName(description.kind == kind ? "node" : description.kind)
    let entry = AudioGraph.Entry(
      node, name: name, inputChannels: description.inputs.first?.channelCount ?? 0,
      outputChannels: description.outputs.first?.channelCount ?? 0)
    if case .own = realization {
      do throws(EngineError) { try engine.register(description) } catch { throw AudioError(error) }
      entry.ownKind = kind
    }
    do throws(AudioError) {
      try perform([.add(kind: description.kind, name: name, values: node.initialValues)], engine)
      if let unit = node as? UnitNode, unit.isBypassed { try perform([.bypass(name, true)], engine) }
    } catch {
      if let kind = entry.ownKind { engine.unregister(kind) }
      throw error
    }
    graph.entries[ObjectIdentifier(node)] = entry
  }

  /// Takes a node out, with its connections and taps. What it still has to say rings out.
  public func detach(_ node: AudioNode) {
    let player = node as? PlayerNode
    if let schedule = player?.schedule { try? segmentReader().remove(schedule) }
    try? control { engine throws(AudioError) in
      guard let entry = graph.entries[ObjectIdentifier(node)], !(node is InputNode), !(node is OutputNode) else {
        return
      }
      for bus in entry.taps.keys { _ = try? endTap(of: entry, bus: bus, engine) }
      graph.connections.removeAll {
        $0.source.node == ObjectIdentifier(node) || $0.destination.node == ObjectIdentifier(node)
      }
      graph.entries[ObjectIdentifier(node)] = nil
      ends.withLock { if $0.mixer === node { $0.mixer = nil } }
      node.willDetach()
      _ = node.belong(to: nil)
      try perform([.remove(entry.name)], engine)
      if let kind = entry.ownKind { engine.unregister(kind) }
    }
  }

  /// The nodes that are attached, but for the engine's own ends.
  public var attachedNodes: [AudioNode] {
    engine.wait { _ in graph.entries.values.map(\.node).filter { !($0 is InputNode) && !($0 is OutputNode) } }
  }

  /// Gives a node's unit another number of channels: in a new unit, with the connections of the old one.
  func setChannels(_ entry: AudioGraph.Entry, _ count: Int, _ engine: isolated Engine) throws(AudioError)
    -> AudioGraph.Entry
  {
    let node = entry.node
    let old = (entry.name, entry.ownKind)
    try add(node, channelCount: count, engine)
    try? perform([.remove(old.0)], engine)
    if let kind = old.1 { engine.unregister(kind) }
    let new = try graph.entry(node)
    new.taps = entry.taps
    for (bus, tap) in new.taps {
      // A tap keeps the channels that it was installed with.
      let parts = (0..<min(tap.tap.channelCount, count)).map { ChannelPart($0, $0) }
      try? perform([.connect(Endpoint(new.name, bus: bus), Endpoint(tap.name, bus: 0), parts: parts)], engine)
    }
    return new
  }

  // MARK: Ends

  /// Where sound comes in. Made when it is first asked for, and with it the ports of a sound server.
  public var inputNode: InputNode {
    let (node, isNew) = ends.withLock { ends in
      if let input = ends.input { return (input, false) }
      let new = InputNode()
      ends.input = new
      return (new, true)
    }
    if isNew {
      engine.wait { engine in
        _ = node.belong(to: self)
        let channels =
          manual.withLock { $0.mode != nil ? $0.input?.format.channelCount : nil } ?? configuration.inputChannelCount
        graph.entries[ObjectIdentifier(node)] = AudioGraph.Entry(
          node, name: "input", inputChannels: 0, outputChannels: channels)
        try? layPorts(input: channels, output: nil, engine)
      }
    }
    return node
  }

  /// Where sound goes out.
  public var outputNode: OutputNode {
    let (node, isNew) = ends.withLock { ends in
      if let output = ends.output { return (output, false) }
      let new = OutputNode()
      ends.output = new
      return (new, true)
    }
    if isNew {
      engine.wait { engine in
        _ = node.belong(to: self)
        graph.entries[ObjectIdentifier(node)] = AudioGraph.Entry(
          node, name: "output", inputChannels: outputChannelCount(engine), outputChannels: 0)
      }
    }
    return node
  }

  /// A mixer in front of the output, made and connected when it is first asked for.
  public var mainMixerNode: MixerNode {
    let (node, isNew) = ends.withLock { ends in
      if let mixer = ends.mixer { return (mixer, false) }
      let new = MixerNode()
      ends.mixer = new
      return (new, true)
    }
    if isNew {
      let output = outputNode
      // Neither can fail for a new node but for want of room, which then shows in the next call.
      try? attach(node)
      let isFree = engine.wait { _ in graph.connection(into: graph.bus(output, 0)) == nil }
      if isFree { try? connect(node, to: output) }
    }
    return node
  }

  func outputChannelCount(_ engine: isolated Engine) -> Int { engine.graph.ports.outputs.first?.count ?? 0 }

  /// Lays out the ends anew with so many channels, where they differ, and connects again what was connected to them.
  func layPorts(input: Int?, output: Int?, _ engine: isolated Engine) throws(AudioError) {
    var ports = engine.graph.ports
    if let input { ports.inputs = [Self.portNames("in", input)] }
    if let output { ports.outputs = [Self.portNames("out", output)] }
    let (inputEnd, outputEnd) = ends.withLock { ($0.input, $0.output) }
    if let inputEnd, let input { graph.entries[ObjectIdentifier(inputEnd)]?.outputChannels = input }
    if let outputEnd, let output { graph.entries[ObjectIdentifier(outputEnd)]?.inputChannels = output }
    if ports == engine.graph.ports { return }
    let touched = graph.connections.filter { connection in
      [connection.source.node, connection.destination.node].contains { id in
        id == inputEnd.map(ObjectIdentifier.init) || id == outputEnd.map(ObjectIdentifier.init)
      }
    }
    var commands: [Command] = touched.map { .disconnect(graph.endpoint($0.source), graph.endpoint($0.destination)) }
    commands.append(.setPorts(ports))
    for connection in touched { commands.append(try kernelCommand(for: connection)) }
    let inputTaps = inputEnd.flatMap { graph.entries[ObjectIdentifier($0)]?.taps } ?? [:]
    for (bus, tap) in inputTaps {
      commands.insert(.disconnect(Endpoint("input", bus: bus), Endpoint(tap.name, bus: 0)), at: 0)
      let parts = (0..<min(tap.tap.channelCount, input ?? 0)).map { ChannelPart($0, $0) }
      commands.append(.connect(Endpoint("input", bus: bus), Endpoint(tap.name, bus: 0), parts: parts))
    }
    try perform(commands, engine)
  }
}
