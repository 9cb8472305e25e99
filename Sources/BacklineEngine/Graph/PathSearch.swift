/// Finds out whether one node reaches another, walking from both ends by turns, a connection at a time.
///
/// The cost is that of the smaller side: a new node, or one near either end of the graph, is checked in a few steps however
/// many nodes there are. (Bidirectional search: Pohl, "Bi-directional search", Machine Intelligence 6, 1971.)
final class PathSearch {
  /// Which walk has met a node last; of those of the present search, even from the start and odd from the goal.
  private var marks: ContiguousArray<UInt32> = []
  private var mark: UInt32 = 0
  private var forwards = Walk()
  private var backwards = Walk()

  private struct Walk {
    /// Nodes whose connections have not been followed yet.
    var waiting: ContiguousArray<Int32> = []
    /// The connection to be followed next.
    var edge = Topology.none
  }

  private enum Step { case goesOn, found, exhausted }

  /// True when a way leads from `start` to `goal` along the connections that count.
  func reaches(_ goal: Int32, from start: Int32, includingLeaving: Bool, _ topology: borrowing Topology) -> Bool {
    if marks.count < topology.nodes.count {
      marks.append(contentsOf: repeatElement(0, count: topology.nodes.count - marks.count))
    }
    if mark >= UInt32.max - 4 {
      for index in marks.indices { marks[index] = 0 }
      mark = 0
    }
    mark += 2
    begin(&forwards, at: start, mark)
    begin(&backwards, at: goal, mark + 1)
    while true {
      switch follow(&forwards, isForwards: true, includingLeaving, topology) {
      case .found: return true
      case .exhausted: return false
      case .goesOn: break
      }
      switch follow(&backwards, isForwards: false, includingLeaving, topology) {
      case .found: return true
      case .exhausted: return false
      case .goesOn: break
      }
    }
  }

  private func begin(_ walk: inout Walk, at node: Int32, _ mark: UInt32) {
    walk.waiting.removeAll(keepingCapacity: true)
    walk.waiting.append(node)
    walk.edge = Topology.none
    marks[Int(node)] = mark
  }

  /// Follows one connection, or begins with the next node.
  private func follow(
    _ walk: inout Walk, isForwards: Bool, _ includingLeaving: Bool, _ topology: borrowing Topology
  ) -> Step {
    while walk.edge < 0 {
      guard let node = walk.waiting.popLast() else { return .exhausted }
      walk.edge = isForwards ? topology.nodes[Int(node)].firstOutgoing : topology.nodes[Int(node)].firstIncoming
    }
    let edge = topology.edges[Int(walk.edge)]
    walk.edge = isForwards ? edge.nextOutgoing : edge.nextIncoming
    if !topology.counts(edge, includingLeaving: includingLeaving) { return .goesOn }
    let node = isForwards ? edge.target : edge.source
    let met = marks[Int(node)]
    let own = isForwards ? mark : mark + 1
    if met == own { return .goesOn }
    if met >= mark { return .found }
    marks[Int(node)] = own
    walk.waiting.append(node)
    return .goesOn
  }
}
