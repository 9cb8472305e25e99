import Testing

@testable import BacklineEngine

@Suite("Search for rings")
struct PathSearchTests {
  @Test("a node reaches another exactly where a chain of connections leads there", arguments: 1...20)
  func agreesWithClosure(seed: Int) {
    let count = 24
    var random = Seeded(state: UInt64(seed))
    var topology = Topology()
    for _ in 0..<count { _ = topology.insertNode(Topology.Node()) }
    // From smaller to larger numbers only, so that there is no ring; some connections are gone again or do not count.
    var reaches = (0..<count).map { from in (0..<count).map { from == $0 } }
    var edges: [(from: Int, to: Int)] = []
    for _ in 0..<40 {
      let from = Int.random(in: 0..<count - 1, using: &random)
      let to = Int.random(in: from + 1..<count, using: &random)
      var edge = Topology.Edge(source: Int32(from), sourceBus: 0, target: Int32(to), targetBus: 0)
      let kind = Int.random(in: 0..<5, using: &random)
      edge.isFeedback = kind == 0
      let index = topology.insertEdge(edge)
      if kind == 1 { topology.removeEdge(index) }
      if kind > 1 { edges.append((from, to)) }
    }
    for (from, to) in edges.sorted(by: { $0.from > $1.from }) {
      for goal in 0..<count where reaches[to][goal] { reaches[from][goal] = true }
    }
    for from in 0..<count {
      for to in 0..<count {
        let way = topology.path(from: Int32(from), to: Int32(to), includingLeaving: false)
        #expect((way != nil) == reaches[from][to])
        #expect(way?.first == (way == nil ? nil : Int32(from)))
        #expect(way?.last == (way == nil ? nil : Int32(to)))
      }
    }
  }

  @Test("connections on their way out count only when asked for")
  func leaving() {
    var topology = Topology()
    for _ in 0..<3 { _ = topology.insertNode(Topology.Node()) }
    _ = topology.insertEdge(Topology.Edge(source: 0, sourceBus: 0, target: 1, targetBus: 0))
    let second = topology.insertEdge(Topology.Edge(source: 1, sourceBus: 0, target: 2, targetBus: 0))
    topology.edges[Int(second)].isLeaving = true
    #expect(topology.path(from: 0, to: 2, includingLeaving: false) == nil)
    #expect(topology.path(from: 0, to: 2, includingLeaving: true) == [0, 1, 2])
  }
}

private struct Seeded: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return state ^ (state >> 29)
  }
}
