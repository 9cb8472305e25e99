import BacklineGraph

/// What nodes take of the time that there is, measured in a part of the slices.
extension Engine {
  /// A node's part of the time there is: on average over the last measurements, and the most that was ever measured; 0 before the
  /// first. 1 is all of it.
  public struct NodeLoad: Sendable, Equatable {
    public let name: String
    public let mean: Float
    public let largest: Float
  }

  /// The load of one node.
  public func load(of name: String) throws(EngineError) -> NodeLoad { load(try store.node(name)) }

  /// The loads of all nodes, in the order of their slots.
  public var nodeLoads: [NodeLoad] { store.nodes.compactMap { $0.map(load) } }

  private func load(_ node: GraphNode) -> NodeLoad {
    let cost = NodeCost.read(node.state) ?? (mean: 0, largest: 0)
    let scale = Float(sampleRate) * 1e-9
    return NodeLoad(name: node.name, mean: cost.mean * scale, largest: cost.largest * scale)
  }
}
