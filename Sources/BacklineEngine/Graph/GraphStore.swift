import BacklineDSP
import BacklineGraph

/// The graph with all that is on its way in or out of it, as one value: a transaction that is refused puts back the copy
/// that was taken before it.
struct GraphStore: @unchecked Sendable {
  // Why unchecked: it never leaves its engine, which takes it apart when it goes.

  /// A removed node that rings out.
  struct Ghost {
    let slot: Int32
    let node: GraphNode
  }

  /// A connection whose fade or alignment moves.
  struct Unsettled {
    enum Kind { case fadeIn, fadeOut, align }

    let edge: Int32
    let kind: Kind
    /// Frames from the adoption of the plan to the end.
    let frames: Int64
    let serial: Int32
    var end: Int64?
  }

  var topology = Topology()
  var nodes = PagedList<GraphNode?>()
  var byName = NameTable()
  var ports = PortLayout.stereo
  var ghosts: [Ghost] = []
  var unsettled: [Unsettled] = []
  /// Connections made since the last plan, not yet faded in.
  var newEdges: [Int32] = []
  var deferredEdges: [Int32] = []
  /// What the next plan has to do when it is taken.
  var actions: [AdoptionAction] = []
  /// True when the next plan differs from the last one.
  var isDirty = true
  /// What the recorder listens to; it follows renames, and is put back with the rest.
  var recordTracks: [RecordTrack] = []
  /// The nodes in the order of their names' creation, for lists.
  var liveCount = 0
  private var channelOffsets: [[Int32]: Int32] = [:]

  init() {
    for _ in 0..<2 { nodes.append(nil) }
    _ = topology.insertNode(Topology.Node())
    _ = topology.insertNode(Topology.Node())
    byName["input"] = Topology.input
    byName["output"] = Topology.output
    setPorts(.stereo)
  }

  /// Where the channel counts of a unit's buses stand.
  mutating func channels(of description: UnitDescription) -> Int32 {
    let counts = (description.outputs + description.inputs).map { Int32($0.channelCount) }
    if let offset = channelOffsets[counts] { return offset }
    let offset = Int32(topology.channelCounts.count)
    topology.channelCounts.append(contentsOf: counts)
    channelOffsets[counts] = offset
    return offset
  }

  /// The name of a slot's node.
  func name(_ slot: Int32) -> String {
    switch slot {
    case Topology.input: "input"
    case Topology.output: "output"
    default: nodes[Int(slot)]?.name ?? "?"
    }
  }

  /// A node by its name.
  func node(_ name: String) throws(EngineError) -> GraphNode {
    if let slot = byName[name], let node = nodes[Int(slot)] { return node }
    if name == "input" || name == "output" {
      throw EngineError(.notAllowed, "'\(name)' is the JACK side: it has no unit to change")
    }
    throw EngineError(.unknownNode, "there is no node '\(name)': /graph/list names all")
  }

  func slot(_ name: String) throws(EngineError) -> Int32 {
    if let slot = byName[name] { return slot }
    throw EngineError(.unknownNode, "there is no node '\(name)': /graph/list names all")
  }

  /// The connection as the user made it.
  func specification(_ index: Int32, map: ChannelMap?) -> ConnectionSpecification {
    let edge = topology.edges[Int(index)]
    return ConnectionSpecification(
      from: Endpoint(name(edge.source), bus: Int(edge.sourceBus)),
      to: Endpoint(name(edge.target), bus: Int(edge.targetBus)), isFeedback: edge.isFeedback,
      map: map?.sources, parts: map?.parts)
  }
}
