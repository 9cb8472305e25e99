import BacklineDSP
import BacklineGraph
import CBackline

/// What can be asked of an engine.
extension Engine {
  /// What a node is, and where its parameters are set fast.
  public struct NodeView: Sendable {
    public let name: String
    public let description: UnitDescription
    public let slot: Int32
    public let generation: UInt32
    public let isBypassed: Bool
    /// The path of the file that it works with.
    public let file: String?
    /// What a control thread may do with the unit beyond parameters.
    public let control: (any AnyObject & Sendable)?
  }

  /// A node by its name.
  public func node(_ name: String) throws(EngineError) -> NodeView { view(try store.node(name)) }

  /// All nodes, in the order of their slots.
  public var nodes: [NodeView] { store.nodes.compactMap { $0.map(view) } }

  public var nodeCount: Int { store.liveCount }

  private func view(_ node: GraphNode) -> NodeView {
    NodeView(
      name: node.name, description: node.description, slot: node.slot, generation: node.generation,
      isBypassed: node.isBypassed, file: node.file, control: node.instance.control)
  }

  /// Notes the path of the file that a node works with, so that a saved preset names it and an undo brings it back.
  public func noteFile(_ path: String?, of name: String) throws(EngineError) { try store.node(name).file = path }

  /// How many parameters of a node have a value, those of growing inputs included.
  public func valueCount(of node: NodeView) -> Int {
    max(node.description.parameters.count, store.nodes[Int(node.slot)]?.values.count ?? 0)
  }

  /// The connections that the user sees.
  public var connectionCount: Int {
    store.topology.edges.indices.reduce(0) { count, index in
      store.topology.edges[index].isUsed && store.topology.isLive(Int32(index)) ? count + 1 : count
    }
  }

  /// The frame that plays at a time of CLOCK_MONOTONIC; `nil` where nothing renders.
  public func frame(at nanoseconds: Int64) -> Int64? {
    guard isRendering, let frame = hosting.host?.frame(at: nanoseconds) else { return nil }
    return frame &+ hosting.frameOffset
  }

  /// Seconds before its frame at which a change of the graph has to be published.
  public var editLead: Double { max(0.02, 3 * Double(period) / sampleRate) }

  /// Times that players had to wait for their disks.
  public var diskUnderruns: Int {
    store.nodes.compactMap { $0?.instance.control as? any UnitControl }.reduce(0) { $0 + $1.underruns }
  }

  /// All connections, in the order of their destinations.
  public var connections: [ConnectionSpecification] {
    let slots = Array(store.topology.nodes.indices)
    return slots.flatMap { slot in
      store.topology.incoming(Int32(slot)).filter { store.topology.isLive($0) }
        .map { store.specification($0, map: maps[$0]) }
    }
  }

  /// The present value of a parameter: what was set last, or what the unit measures.
  public func value(_ name: String, _ parameter: Int) throws(EngineError) -> Float {
    let node = try store.node(name)
    guard let description = node.description.parameter(at: parameter) else {
      throw EngineError(.unknownParameter, "'\(name)' has no parameter number \(parameter)")
    }
    if description.isReadOnly { return backline_load_float(node.readings + parameter) }
    return parameter < node.values.count ? node.values[parameter] : description.defaultValue
  }

  /// The whole graph as a value, for a preset.
  public var graph: GraphDescription {
    GraphDescription(
      ports: store.ports, nodes: store.nodes.compactMap { $0?.specification }, connections: connections)
  }

  /// The frames by which each output bus comes late, on the longest way through the graph.
  public var outputLatencies: [Int] { PathAlignment(store.topology).outputLatency }

  /// True while no unit holds sound: all that have inputs sleep, and no player plays. What a generator gives now is for its
  /// listeners to hear; a mixer holds nothing.
  public var isAtRest: Bool {
    (store.nodes.compactMap { $0 } + store.ghosts.map(\.node)).allSatisfy { node in
      if let player = node.instance.control as? PlayerControl { return !player.state.isPlaying }
      return node.description.inputs.isEmpty || node.isGrowing || NodeState.isAtRest(node.state)
    }
  }

  /// The next frame to be rendered.
  public var currentFrame: Int64 { exchange.pointee.currentFrame }

  /// True between a host's opening and its end: the render side belongs to the host.
  public var isRenderingNow: Bool { isRendering }

  /// The same for any thread.
  public nonisolated var renderedFrame: Int64 { exchange.pointee.currentFrame }

  /// The frames by which sound leaves later than it was made or came in, on the longest way there is.
  public var longestLatency: Int { PathAlignment(store.topology).outputLatency.max() ?? 0 }

  /// The frames by which a node delays.
  public func latency(of name: String) throws(EngineError) -> Int { try store.node(name).latency }

  /// Samples that were not finite, by node.
  public var nonFiniteCounts: [(node: String, count: Int)] {
    store.nodes.compactMap { node in
      guard let node else { return nil }
      let count = Int(NodeState.nonFiniteCount(node.state))
      return count > 0 ? (node.name, count) : nil
    }
  }

  /// The counters of the render side.
  public var counts: (lateEvents: Int, droppedEvents: Int, nonFinite: Int) {
    let counts = exchange.pointee.counts
    return (
      counts.lateEvents + latePlans, counts.droppedEvents,
      counts.nonFiniteInputs + nonFiniteCounts.reduce(0) { $0 + $1.count }
    )
  }
}

/// A control object of a unit, told when its unit is about to be freed.
public protocol UnitControl: AnyObject, Sendable {
  /// Lets go of everything in the unit's memory; control queue.
  func end()
  /// Times that the unit had to wait for data.
  var underruns: Int { get }
}
