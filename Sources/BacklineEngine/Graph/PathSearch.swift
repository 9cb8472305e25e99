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

  /// True when a way leads from `start` to `goal` along the connections that count.
  func reaches(_ goal: Int32, from start: Int32, includingLeaving: Bool, _ topology: borrowing Topology) -> Bool {
    if marks.count < topology.nodes.count {
      marks.append(contentsOf: repeatElement(0, count: topology.nodes.count - marks.count))
    }
    if mark > UInt32.max - 4 {
      for index in marks.indices { marks[index] = 0 }
      mark = 0
    }
    mark += 2
    // Why: taken out while they change, so that no access to a property is checked at each step.
    var walks = (forwards: Walk(), backwards: Walk())
    swap(&walks.forwards, &forwards)
    swap(&walks.backwards, &backwards)
    defer {
      swap(&walks.forwards, &forwards)
      swap(&walks.backwards, &backwards)
    }
    let mark = mark
    return marks.withUnsafeMutableBufferPointer { marks in
      walks.forwards.begin(at: start, &marks, mark)
      walks.backwards.begin(at: goal, &marks, mark + 1)
      while true {
        switch walks.forwards.follow(&marks, mark, isForwards: true, includingLeaving, topology) {
        case .found: return true
        case .exhausted: return false
        case .goesOn: break
        }
        switch walks.backwards.follow(&marks, mark, isForwards: false, includingLeaving, topology) {
        case .found: return true
        case .exhausted: return false
        case .goesOn: break
        }
      }
    }
  }

  private enum Step { case goesOn, found, exhausted }

  /// One of the two walks.
  private struct Walk {
    /// Nodes whose connections have not been followed yet.
    private var waiting: ContiguousArray<Int32> = []
    /// The connection to be followed next.
    private var edge = Topology.none

    mutating func begin(at node: Int32, _ marks: inout UnsafeMutableBufferPointer<UInt32>, _ mark: UInt32) {
      waiting.removeAll(keepingCapacity: true)
      waiting.append(node)
      edge = Topology.none
      marks[Int(node)] = mark
    }

    /// Follows one connection, or begins with the next node. `mark` is that of the walk forwards.
    mutating func follow(
      _ marks: inout UnsafeMutableBufferPointer<UInt32>, _ mark: UInt32, isForwards: Bool, _ includingLeaving: Bool,
      _ topology: borrowing Topology
    ) -> Step {
      while edge < 0 {
        guard let node = waiting.popLast() else { return .exhausted }
        edge = isForwards ? topology.nodes[Int(node)].firstOutgoing : topology.nodes[Int(node)].firstIncoming
      }
      let here = topology.edges[Int(edge)]
      edge = isForwards ? here.nextOutgoing : here.nextIncoming
      if !topology.counts(here, includingLeaving: includingLeaving) { return .goesOn }
      let node = isForwards ? here.target : here.source
      let met = marks[Int(node)]
      let own = isForwards ? mark : mark + 1
      if met == own { return .goesOn }
      if met >= mark { return .found }
      marks[Int(node)] = own
      waiting.append(node)
      return .goesOn
    }
  }
}
