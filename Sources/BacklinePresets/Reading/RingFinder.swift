/// Finds the rings of a directed graph by depth-first search, without recursion: a chain may be 16 384 nodes long.
enum RingFinder {
  struct Edge {
    let from: Int
    let to: Int
    /// The caller's own number.
    let tag: Int
  }

  private enum Mark { case unseen, onPath, done }

  /// Calls `report` for every edge that leads back to a node on the path from which it was reached, with the nodes of that ring.
  /// Without those edges the graph has no ring.
  static func find(placeCount: Int, edges: [Edge], report: (Edge, ArraySlice<Int>) -> Void) {
    // Edges sorted by their source: those of node n are order[first[n]..<first[n + 1]].
    var first = [Int](repeating: 0, count: placeCount + 1)
    for edge in edges { first[edge.from + 1] += 1 }
    for node in 0..<placeCount { first[node + 1] += first[node] }
    var order = [Int](repeating: 0, count: edges.count)
    var next = first
    for (index, edge) in edges.enumerated() {
      order[next[edge.from]] = index
      next[edge.from] += 1
    }
    next = first
    var marks = [Mark](repeating: .unseen, count: placeCount)
    var path: [Int] = []
    var depths = [Int](repeating: 0, count: placeCount)  // where on the path a node is
    for start in 0..<placeCount where marks[start] == .unseen {
      depths[start] = 0
      path.append(start)
      marks[start] = .onPath
      while let node = path.last {
        guard next[node] < first[node + 1] else {
          marks[node] = .done
          path.removeLast()
          continue
        }
        let edge = edges[order[next[node]]]
        next[node] += 1
        switch marks[edge.to] {
        case .done: break
        case .unseen:
          marks[edge.to] = .onPath
          depths[edge.to] = path.count
          path.append(edge.to)
        case .onPath:
          report(edge, path[depths[edge.to]...])
        }
      }
    }
  }
}
