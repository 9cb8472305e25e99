import BacklineGraph

/// Works out the delays that align paths where they meet (R6).
///
/// A node hears all its inputs as late as the latest of them; each connection makes up the difference. Buses of the JACK
/// side are ends of their own and are not aligned with each other. Loops are left out.
struct PathAlignment {
  /// The wanted delay of each connection, by its index; only of those that are in use.
  private(set) var delays: [Int32]
  /// The latency from the JACK inputs to each JACK output bus, in frames.
  private(set) var outputLatency: [Int]

  init(_ topology: Topology) {
    delays = Array(repeating: 0, count: topology.edges.count)
    outputLatency = Array(repeating: 0, count: Int(topology.nodes[Int(Topology.output)].inputBusCount))
    if topology.latentCount == 0 { return }
    var departure = Array(repeating: Int32(-1), count: topology.nodes.count)
    for slot in 0..<Int32(topology.nodes.count) where topology.nodes[Int(slot)].isUsed && departure[Int(slot)] < 0 {
      settle(slot, topology, &departure)
    }
  }

  /// Fills in `departure`, when a node's sound leaves it, of `start` and all before it.
  private mutating func settle(_ start: Int32, _ topology: Topology, _ departure: inout [Int32]) {
    var stack = [start]
    while let slot = stack.last {
      if departure[Int(slot)] >= 0 {
        stack.removeLast()
        continue
      }
      let edges = topology.incoming(slot).map { (index: $0, edge: topology.edges[Int($0)]) }
        .filter { !$0.edge.isFeedback && !$0.edge.isDeferred }
      let missing = edges.filter { departure[Int($0.edge.source)] < 0 }
      if !missing.isEmpty {
        stack.append(contentsOf: missing.map(\.edge.source))
        continue
      }
      stack.removeLast()
      if slot == Topology.output {
        for bus in outputLatency.indices {
          let ofBus = edges.filter { Int($0.edge.targetBus) == bus }
          outputLatency[bus] = Int(align(ofBus, departure))
        }
        departure[Int(slot)] = 0
      } else {
        departure[Int(slot)] = align(edges, departure) + topology.nodes[Int(slot)].latency
      }
    }
  }

  private mutating func align(_ edges: [(index: Int32, edge: Topology.Edge)], _ departure: [Int32]) -> Int32 {
    // What leaves keeps its delay and does not hold the others up.
    let latest = edges.filter { !$0.edge.isLeaving }.map { departure[Int($0.edge.source)] }.max() ?? 0
    for (index, edge) in edges {
      delays[Int(index)] = edge.isLeaving ? edge.delay : latest - departure[Int(edge.source)]
    }
    return latest
  }
}
