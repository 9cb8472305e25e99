import BacklineGraph

/// The graph as the plan compiler reads it: lists of plain values, linked by index, kept up to date edit by edit so that a
/// compilation touches nothing else.
struct Topology {
  /// The slots of the JACK side.
  static let input: Int32 = 0
  static let output: Int32 = 1
  static let none: Int32 = -1

  struct Node: BitwiseCopyable {
    var state: UnsafeMutablePointer<NodeState>?
    var firstIncoming = Topology.none
    var lastIncoming = Topology.none
    var firstOutgoing = Topology.none
    /// Fixed input buses; for a node that sums, as many as are connected.
    var inputBusCount: Int32 = 0
    var outputBusCount: Int32 = 0
    /// Where the channel counts of its buses begin in `channelCounts`, outputs first.
    var channels: Int32 = 0
    var latency: Int32 = 0
    var isUsed = false
    /// Takes its inputs one by one.
    var isStreaming = false
    /// Removed, but still ringing out.
    var isGhost = false
  }

  struct Edge: BitwiseCopyable {
    var state: UnsafeMutablePointer<EdgeState>?
    var source: Int32
    var sourceBus: Int32
    var target: Int32
    var targetBus: Int32
    var nextIncoming = Topology.none
    var previousIncoming = Topology.none
    var nextOutgoing = Topology.none
    var previousOutgoing = Topology.none
    var isUsed = true
    var isFeedback = false
    /// Taken away by the user; drawn out of the plan when its fade has ended.
    var isLeaving = false
    /// Waits until a leaving connection that would close a ring with it has gone.
    var isDeferred = false
    /// Faded in, so that its source may be read directly where channels match.
    var isSettled = false
    /// Passes channels through as they are.
    var isIdentity = true
    /// The alignment in frames, and what its line can hold; 0 without a line.
    var delay: Int32 = 0
    var lineMaximum: Int32 = 0
    /// When the last ramp of its fade or alignment has ended.
    var settleFrame: Int64 = .max
  }

  var nodes = PagedList<Node>()
  var edges = PagedList<Edge>()
  var channelCounts: ContiguousArray<Int32> = []
  /// The buses of the JACK side: those of the present layout first, by their numbers, then those of earlier layouts whose
  /// connections still fade out.
  var inputBuses: ContiguousArray<PortBus> = []
  var outputBuses: ContiguousArray<PortBus> = []
  private var freeNodes: [Int32] = []
  private var freeEdges: [Int32] = []
  /// Memory for walks, shared by copies: what is in it means nothing between two walks.
  private let search = PathSearch()
  /// The nodes with latency: none of them, and alignment is not looked at.
  private(set) var latentCount = 0
  private(set) var edgeCount = 0

  // MARK: Nodes

  mutating func insertNode(_ node: Node) -> Int32 {
    var node = node
    node.isUsed = true
    if node.latency > 0 { latentCount += 1 }
    if let slot = freeNodes.popLast() {
      nodes[Int(slot)] = node
      return slot
    }
    nodes.append(node)
    return Int32(nodes.count - 1)
  }

  mutating func removeNode(_ slot: Int32) {
    if nodes[Int(slot)].latency > 0 { latentCount -= 1 }
    nodes[Int(slot)] = Node()
    freeNodes.append(slot)
  }

  mutating func setLatency(_ latency: Int32, of slot: Int32) {
    latentCount += (latency > 0 ? 1 : 0) - (nodes[Int(slot)].latency > 0 ? 1 : 0)
    nodes[Int(slot)].latency = latency
  }

  func outputChannels(_ slot: Int32, _ bus: Int32) -> Int {
    if slot == Self.input { return Int(inputBuses[Int(bus)].channelCount) }
    return Int(channelCounts[Int(nodes[Int(slot)].channels + bus)])
  }

  func inputChannels(_ slot: Int32, _ bus: Int32) -> Int {
    if slot == Self.output { return Int(outputBuses[Int(bus)].channelCount) }
    let node = nodes[Int(slot)]
    return Int(channelCounts[Int(node.channels + node.outputBusCount + (node.isStreaming ? 0 : bus))])
  }

  // MARK: Edges

  mutating func insertEdge(_ edge: Edge) -> Int32 {
    let index: Int32
    if let free = freeEdges.popLast() {
      index = free
      edges[Int(free)] = edge
    } else {
      index = Int32(edges.count)
      edges.append(edge)
    }
    edgeCount += 1
    linkIncoming(index)
    linkOutgoing(index)
    return index
  }

  mutating func removeEdge(_ index: Int32) {
    unlinkIncoming(index)
    unlinkOutgoing(index)
    edges[Int(index)].isUsed = false
    edges[Int(index)].state = nil
    freeEdges.append(index)
    edgeCount -= 1
  }

  private mutating func unlinkIncoming(_ index: Int32) {
    let edge = edges[Int(index)]
    if edge.previousIncoming >= 0 {
      edges[Int(edge.previousIncoming)].nextIncoming = edge.nextIncoming
    } else {
      nodes[Int(edge.target)].firstIncoming = edge.nextIncoming
    }
    if edge.nextIncoming >= 0 {
      edges[Int(edge.nextIncoming)].previousIncoming = edge.previousIncoming
    } else {
      nodes[Int(edge.target)].lastIncoming = edge.previousIncoming
    }
  }

  private mutating func unlinkOutgoing(_ index: Int32) {
    let edge = edges[Int(index)]
    if edge.previousOutgoing >= 0 {
      edges[Int(edge.previousOutgoing)].nextOutgoing = edge.nextOutgoing
    } else {
      nodes[Int(edge.source)].firstOutgoing = edge.nextOutgoing
    }
    if edge.nextOutgoing >= 0 { edges[Int(edge.nextOutgoing)].previousOutgoing = edge.previousOutgoing }
  }

  /// Incoming connections are in the order of their buses, so that sums always have the same order.
  private mutating func linkIncoming(_ index: Int32) {
    let bus = edges[Int(index)].targetBus
    let target = Int(edges[Int(index)].target)
    var before = nodes[target].lastIncoming
    while before >= 0 && edges[Int(before)].targetBus > bus { before = edges[Int(before)].previousIncoming }
    let after = before >= 0 ? edges[Int(before)].nextIncoming : nodes[target].firstIncoming
    edges[Int(index)].previousIncoming = before
    edges[Int(index)].nextIncoming = after
    if before >= 0 { edges[Int(before)].nextIncoming = index } else { nodes[target].firstIncoming = index }
    if after >= 0 { edges[Int(after)].previousIncoming = index } else { nodes[target].lastIncoming = index }
  }

  private mutating func linkOutgoing(_ index: Int32) {
    let source = Int(edges[Int(index)].source)
    let first = nodes[source].firstOutgoing
    edges[Int(index)].previousOutgoing = Topology.none
    edges[Int(index)].nextOutgoing = first
    if first >= 0 { edges[Int(first)].previousOutgoing = index }
    nodes[source].firstOutgoing = index
  }

  // MARK: Walks

  /// The connections that come into a node, in the order of its buses.
  func incoming(_ slot: Int32) -> [Int32] {
    var found: [Int32] = []
    var index = nodes[Int(slot)].firstIncoming
    while index >= 0 {
      found.append(index)
      index = edges[Int(index)].nextIncoming
    }
    return found
  }

  /// True when a connection that the user sees comes into the bus. Quick for the last buses.
  func isOccupied(_ slot: Int32, _ bus: Int32) -> Bool {
    var index = nodes[Int(slot)].lastIncoming
    while index >= 0 && edges[Int(index)].targetBus >= bus {
      if edges[Int(index)].targetBus == bus && isLive(index) { return true }
      index = edges[Int(index)].previousIncoming
    }
    return false
  }

  /// The first input bus into which no connection comes that the user sees.
  func firstFreeBus(_ slot: Int32) -> Int {
    var free: Int32 = 0
    var index = nodes[Int(slot)].firstIncoming
    while index >= 0 && edges[Int(index)].targetBus <= free {
      if edges[Int(index)].targetBus == free && isLive(index) { free += 1 }
      index = edges[Int(index)].nextIncoming
    }
    return Int(free)
  }

  /// The connections that leave a node.
  func outgoing(_ slot: Int32) -> [Int32] {
    var found: [Int32] = []
    var index = nodes[Int(slot)].firstOutgoing
    while index >= 0 {
      found.append(index)
      index = edges[Int(index)].nextOutgoing
    }
    return found
  }

  /// All slots, each after those that it hears by connections that are no feedback.
  func sourcesFirst() -> [Int32] {
    var order: [Int32] = []
    var isEntered = ContiguousArray(repeating: false, count: nodes.count)
    for start in nodes.indices where nodes[start].isUsed && !isEntered[start] {
      isEntered[start] = true
      var stack = [(slot: Int32(start), edge: nodes[start].firstIncoming)]
      while let top = stack.last {
        if top.edge < 0 {
          order.append(top.slot)
          stack.removeLast()
          continue
        }
        let edge = edges[Int(top.edge)]
        stack[stack.count - 1].edge = edge.nextIncoming
        if edge.isFeedback || isEntered[Int(edge.source)] { continue }
        isEntered[Int(edge.source)] = true
        stack.append((edge.source, nodes[Int(edge.source)].firstIncoming))
      }
    }
    return order
  }

  /// The way from `start` to `goal` along connections that are no feedback, as slots; `nil` where there is none.
  ///
  /// Connections on their way out, and those of nodes that only ring out, count only when `includingLeaving`.
  func path(from start: Int32, to goal: Int32, includingLeaving: Bool) -> [Int32]? {
    if start == goal { return [start] }
    if !search.reaches(goal, from: start, includingLeaving: includingLeaving, self) { return nil }
    var previous = ContiguousArray(repeating: Topology.none, count: nodes.count)
    previous[Int(start)] = start
    var stack = [start]
    while let slot = stack.popLast() {
      var index = nodes[Int(slot)].firstOutgoing
      while index >= 0 {
        let edge = edges[Int(index)]
        index = edge.nextOutgoing
        if !counts(edge, includingLeaving: includingLeaving) { continue }
        if previous[Int(edge.target)] >= 0 { continue }
        previous[Int(edge.target)] = slot
        if edge.target == goal { return way(from: start, to: goal, previous) }
        stack.append(edge.target)
      }
    }
    return nil
  }

  /// True for a connection that a ring may not be closed through.
  func counts(_ edge: Edge, includingLeaving: Bool) -> Bool {
    if edge.isFeedback { return false }
    return includingLeaving ? !edge.isDeferred : !edge.isLeaving && !nodes[Int(edge.target)].isGhost
  }

  private func way(from start: Int32, to goal: Int32, _ previous: ContiguousArray<Int32>) -> [Int32] {
    var way = [goal]
    while let last = way.last, last != start { way.append(previous[Int(last)]) }
    return way.reversed()
  }

  /// True for a connection that the user sees: neither on its way out nor part of what only rings out.
  func isLive(_ index: Int32) -> Bool {
    let edge = edges[Int(index)]
    return !edge.isLeaving && !nodes[Int(edge.source)].isGhost && !nodes[Int(edge.target)].isGhost
  }
}
