import BacklineGraph
import BacklineRealtime

/// Turns the topology into a flat plan: steps in an order in which every source comes before its readers, with buffers
/// assigned by lifetime. The cost is linear in nodes and connections.
struct PlanCompiler: ~Copyable {
  // Why pointers: the arrays outlive the compilation, and each access through them would be checked.
  private let nodes: UnsafeBufferPointer<Topology.Node>
  private let edges: UnsafeBufferPointer<Topology.Edge>
  private let topology: Topology
  private var steps: PlainList<RenderStep>
  private var busChannelCount: PlainList<Int32>
  private var isBusConnected: PlainList<Bool>
  private var busFirstStep: PlainList<Int32>
  private var busLastStep: PlainList<Int32>
  private var inputTable: PlainList<Int32>
  private var mostInputs = 1
  private var feedbackEdges: [Int32] = []
  /// The bus that a connection has been brought into; negative before.
  private var edgeBus: PlainList<Int32>
  /// The first bus of a node's outputs; negative until it has been rendered.
  private var firstBus: PlainList<Int32>
  /// The JACK input buses whose sound reaches a node, one bit each, and those that reach each JACK output bus.
  private var reach: PlainList<UInt64>
  private var isEntered: PlainList<Bool>
  private var stack: PlainList<Frame>
  /// Connections brought in for nodes that have not been rendered yet, innermost node last.
  private var pending: PlainList<Brought>
  private(set) var outputReach: [UInt64] = []
  private let records: [RecordStep]

  private init(
    _ topology: Topology, _ nodes: UnsafeBufferPointer<Topology.Node>, _ edges: UnsafeBufferPointer<Topology.Edge>,
    _ records: [RecordStep]
  ) {
    self.topology = topology
    self.records = records
    self.nodes = nodes
    self.edges = edges
    let room = nodes.count + topology.edgeCount
    steps = PlainList(capacity: room + 16)
    busChannelCount = PlainList(capacity: room)
    isBusConnected = PlainList(capacity: room)
    busFirstStep = PlainList(capacity: room)
    busLastStep = PlainList(capacity: room)
    inputTable = PlainList(capacity: room)
    edgeBus = PlainList(repeating: -1, count: edges.count)
    firstBus = PlainList(repeating: -1, count: nodes.count)
    reach = PlainList(repeating: 0, count: nodes.count)
    isEntered = PlainList(repeating: false, count: nodes.count)
    stack = PlainList(capacity: nodes.count)
    pending = PlainList(capacity: 64)
  }

  /// A compiled plan, shared as `parallel` says where that pays, and which JACK input buses reach which JACK output bus.
  static func compile(
    _ topology: Topology, serial: Int32, applyFrame: Int64, actions: [AdoptionAction], records: [RecordStep] = [],
    parallel: ParallelSettings? = nil
  ) -> (plan: UnsafeMutablePointer<RenderPlan>, outputReach: [UInt64]) {
    topology.nodes.contiguous().withUnsafeBufferPointer { nodes in
      topology.edges.contiguous().withUnsafeBufferPointer { edges in
        var compiler = PlanCompiler(topology, nodes, edges, records)
        compiler.emitAll()
        let plan = UnsafeMutablePointer<RenderPlan>.allocate(capacity: 1)
        plan.initialize(
          to: compiler.sharedPlan(parallel, serial: serial, applyFrame: applyFrame, actions: actions)
            ?? compiler.assignBuffers(serial: serial, applyFrame: applyFrame, actions: actions))
        return (plan, compiler.outputReach)
      }
    }
  }

  // MARK: Order

  private struct Frame {
    var node: Int32
    var edge: Int32
  }

  /// Sources before readers, a reader's sources in the order of its buses: first all that is heard, then the rest (meters).
  private mutating func emitAll() {
    visit(Topology.output)
    for slot in 0..<Int32(nodes.count) where nodes[Int(slot)].isUsed && !isEntered[Int(slot)] {
      visit(slot)
    }
    // What a loop keeps is read before it is written anew, so the writing comes last.
    for index in feedbackEdges {
      let edge = edges[Int(index)]
      let bus = firstBus[Int(edge.source)] + edge.sourceBus
      var step = RenderStep(.keep)
      step.edge = edge.state
      step.source = bus
      use(bus)
      steps.append(step)
    }
    recordPorts()
  }

  private mutating func visit(_ start: Int32) {
    isEntered[start] = true
    stack.append(Frame(node: start, edge: nodes[Int(start)].firstIncoming))
    while let top = stack.last {
      let index = top.edge
      if index < 0 {
        finish(top.node)
        _ = stack.popLast()
        continue
      }
      let edge = edges[Int(index)]
      if edge.isDeferred {
        stack[stack.count - 1] = Frame(node: top.node, edge: edge.nextIncoming)
        continue
      }
      if !edge.isFeedback && !isEntered[Int(edge.source)] {
        isEntered[Int(edge.source)] = true
        stack.append(Frame(node: edge.source, edge: nodes[Int(edge.source)].firstIncoming))
        continue
      }
      bring(index, edge)
      stack[stack.count - 1] = Frame(node: top.node, edge: edge.nextIncoming)
    }
  }

  // MARK: Steps

  private mutating func newBus(_ channelCount: Int, isConnected: Bool = true) -> Int32 {
    busChannelCount.append(Int32(channelCount))
    isBusConnected.append(isConnected)
    busFirstStep.append(Int32(steps.count))
    busLastStep.append(Int32(steps.count))
    return Int32(busChannelCount.count - 1)
  }

  private mutating func use(_ bus: Int32) { busLastStep[Int(bus)] = Int32(steps.count) }

  /// The bus in which the connections of the same input bus are summed that have been brought in before.
  private func openBus(_ edge: Topology.Edge) -> Int32? {
    var before = edge.previousIncoming
    while before >= 0 && edges[Int(before)].targetBus == edge.targetBus {
      if edgeBus[before] >= 0 { return edgeBus[before] }
      before = edges[Int(before)].previousIncoming
    }
    return nil
  }

  /// A connection whose source has been rendered.
  private mutating func bring(_ index: Int32, _ edge: Topology.Edge) {
    if edge.isFeedback { feedbackEdges.append(index) } else { reach[Int(edge.target)] |= reachOf(edge) }
    let source = edge.isFeedback ? Int32(-1) : firstBus[Int(edge.source)] + edge.sourceBus
    let isAlone = isOnlyOne(index, edge)
    let bus: Int32
    if isAlone && edge.isSettled && edge.isIdentity && !edge.isFeedback && edge.lineMaximum == 0 {
      bus = source
    } else {
      let open = isAlone ? nil : openBus(edge)
      bus = open ?? newBus(topology.inputChannels(edge.target, edge.targetBus), isConnected: false)
      if topology.isLive(index) { isBusConnected[Int(bus)] = true }
      var step = RenderStep(.gather)
      step.edge = edge.state
      step.source = source
      step.target = bus
      step.isFirst = open == nil
      if source >= 0 { use(source) }
      use(bus)
      steps.append(step)
    }
    edgeBus[index] = bus
    pending.append(Brought(target: edge.target, targetBus: edge.targetBus, bus: bus))
    if nodes[Int(edge.target)].isStreaming && isLastOfBus(edge) { accumulate(edge, bus) }
  }

  private struct Brought {
    var target: Int32
    var targetBus: Int32
    var bus: Int32
  }

  private func isOnlyOne(_ index: Int32, _ edge: Topology.Edge) -> Bool {
    let before = edge.previousIncoming, after = edge.nextIncoming
    return !(before >= 0 && edges[Int(before)].targetBus == edge.targetBus)
      && !(after >= 0 && edges[Int(after)].targetBus == edge.targetBus)
  }

  private func isLastOfBus(_ edge: Topology.Edge) -> Bool {
    var after = edge.nextIncoming
    while after >= 0 && edges[Int(after)].targetBus == edge.targetBus {
      if !edges[Int(after)].isDeferred { return false }
      after = edges[Int(after)].nextIncoming
    }
    return true
  }

  private mutating func accumulate(_ edge: Topology.Edge, _ bus: Int32) {
    let target = Int(edge.target)
    var step = RenderStep(.accumulate)
    step.node = nodes[target].state
    step.bus = edge.targetBus
    step.source = bus
    if firstBus[target] < 0 {
      step.isFirst = true
      firstBus[target] = newBus(topology.outputChannels(edge.target, 0))
    }
    step.target = firstBus[target]
    use(bus)
    use(step.target)
    steps.append(step)
  }

  private func reachOf(_ edge: Topology.Edge) -> UInt64 {
    edge.source == Topology.input ? 1 << UInt64(min(63, edge.sourceBus)) : reach[Int(edge.source)]
  }

  /// All of a node's connections are there: renders it.
  private mutating func finish(_ slot: Int32) {
    switch slot {
    case Topology.input: finishInput()
    case Topology.output: finishOutput()
    default: finishNode(slot)
    }
    while let last = pending.last, last.target == slot { _ = pending.popLast() }
  }

  private mutating func finishInput() {
    for (bus, ports) in topology.inputBuses.enumerated() {
      let new = newBus(Int(ports.channelCount))
      if bus == 0 { firstBus[0] = new }
      var step = RenderStep(.input)
      step.target = new
      step.firstInput = ports.firstPort
      steps.append(step)
    }
  }

  private func broughtBus(_ slot: Int32, _ bus: Int32) -> Int32? {
    var index = pending.count - 1
    while index >= 0 && pending[index].target == slot {
      if pending[index].targetBus == bus { return pending[index].bus }
      index -= 1
    }
    return nil
  }

  private mutating func finishOutput() {
    outputReach = topology.outputBuses.indices.map { bus in
      topology.incoming(Topology.output).reduce(0) { mask, index in
        let edge = edges[Int(index)]
        let counts = Int(edge.targetBus) == bus && !edge.isFeedback && !edge.isDeferred && !edge.isLeaving
        return counts ? mask | reachOf(edge) : mask
      }
    }
    for (bus, ports) in topology.outputBuses.enumerated() {
      var step = RenderStep(.output)
      step.firstInput = ports.firstPort
      step.outputCount = ports.channelCount
      if let source = broughtBus(Topology.output, Int32(bus)) {
        step.source = source
        use(source)
      }
      steps.append(step)
    }
  }

  private mutating func finishNode(_ slot: Int32) {
    let node = nodes[Int(slot)]
    var step = RenderStep(.render)
    step.node = node.state
    step.firstInput = Int32(inputTable.count)
    if !node.isStreaming {
      step.inputCount = node.inputBusCount
      let first = inputTable.count
      for bus in 0..<node.inputBusCount {
        inputTable.append(-1 - Int32(topology.inputChannels(slot, bus)))
      }
      var index = pending.count - 1
      while index >= 0 && pending[index].target == slot {
        inputTable[first + Int(pending[index].targetBus)] = pending[index].bus
        use(pending[index].bus)
        index -= 1
      }
    }
    mostInputs = max(mostInputs, Int(step.inputCount))
    step.outputCount = node.outputBusCount
    if firstBus[Int(slot)] < 0 {
      for bus in 0..<node.outputBusCount {
        let new = newBus(topology.outputChannels(slot, bus))
        if bus == 0 { firstBus[Int(slot)] = new }
      }
    } else {
      use(firstBus[Int(slot)])
    }
    step.target = max(0, firstBus[Int(slot)])
    steps.append(step)
    if !records.isEmpty { record(slot) }
  }

  /// What the recorder hears of a node, before its buffers are used for something else.
  private mutating func record(_ slot: Int32) {
    for record in records {
      guard case .node(slot, let bus) = record.place else { continue }
      var step = record.step(.record)
      if bus < nodes[Int(slot)].outputBusCount {
        step.source = firstBus[Int(slot)] + bus
        use(step.source)
      }
      steps.append(step)
    }
  }

  /// What the recorder hears of the JACK side, after all has been written to it, and the silence of nodes that are gone.
  private mutating func recordPorts() {
    for record in records {
      var step: RenderStep
      switch record.place {
      case .input(let port):
        step = record.step(.recordInput)
        step.firstInput = port
      case .output(let port):
        step = record.step(.recordOutput)
        step.firstInput = port
      case .nothing: step = record.step(.record)
      case .node: continue
      }
      steps.append(step)
    }
  }

  // MARK: Buffers

  private func firstChannels() -> PlainList<Int32> {
    var first = PlainList<Int32>(repeating: 0, count: busChannelCount.count + 1)
    for bus in 0..<busChannelCount.count { first[bus + 1] = first[bus] + busChannelCount[bus] }
    return first
  }

  /// A plan that several threads may run; `nil` where that would not pay.
  private func sharedPlan(
    _ settings: ParallelSettings?, serial: Int32, applyFrame: Int64, actions: [AdoptionAction]
  ) -> RenderPlan? {
    guard var settings, settings.threadCount > 1 else { return nil }
    if !feedbackEdges.isEmpty { settings.sliceFrames = min(settings.sliceFrames, Int(Quantum.frames)) }
    guard
      let partition = TaskPartition.make(
        steps.elements, inputTable: inputTable.elements, busCount: busChannelCount.count, settings)
    else { return nil }
    let ordered = partition.order(steps.elements), starts = partition.starts(steps.elements), heirs = partition.heirs
    let firstChannel = firstChannels()
    let buffers = TaskBuffers(
      ordered.elements, inputTable: inputTable.elements, firstChannel: firstChannel.elements, starts: starts.elements,
      heirs: heirs.elements)
    return RenderPlan(
      serial: serial, applyFrame: applyFrame, hasLoops: !feedbackEdges.isEmpty, steps: ordered.elements,
      firstChannels: firstChannel.elements, isBusConnected: isBusConnected.elements,
      channelBuffers: buffers.buffers.elements, bufferCount: Int(buffers.bufferCount),
      inputTable: inputTable.elements, actions: actions, mostInputs: mostInputs,
      tasks: partition.tasks(starts.elements), threadCount: settings.threadCount)
  }

  /// Gives every bus its buffers from its first step to its last, and takes the most lately freed ones again first, while
  /// they are in the cache.
  private func assignBuffers(serial: Int32, applyFrame: Int64, actions: [AdoptionAction]) -> RenderPlan {
    let busCount = busChannelCount.count
    let firstChannel = firstChannels()
    // Buses begin in the order of their numbers; where they end is sorted by counting.
    var endStart = PlainList<Int32>(repeating: 0, count: steps.count + 2)
    for bus in 0..<busCount { endStart[busLastStep[bus] + 1] += 1 }
    for index in 1..<endStart.count { endStart[index] += endStart[index - 1] }
    var ending = PlainList<Int32>(repeating: 0, count: busCount)
    var filled = PlainList<Int32>(repeating: 0, count: steps.count + 1)
    for bus in 0..<busCount {
      let last = busLastStep[bus]
      ending[endStart[last] + filled[last]] = Int32(bus)
      filled[last] += 1
    }
    var buffers = PlainList<Int32>(repeating: 0, count: Int(firstChannel[busCount]))
    var free = PlainList<Int32>(capacity: 64)
    var bufferCount: Int32 = 0
    var bus = 0
    for step in 0..<steps.count {
      while bus < busCount && Int(busFirstStep[bus]) <= step {
        for channel in firstChannel[bus]..<firstChannel[bus + 1] {
          if let buffer = free.popLast() {
            buffers[channel] = buffer
          } else {
            buffers[channel] = bufferCount
            bufferCount += 1
          }
        }
        bus += 1
      }
      for index in endStart[step]..<endStart[step + 1] {
        let ended = ending[index]
        for channel in firstChannel[ended]..<firstChannel[ended + 1] { free.append(buffers[channel]) }
      }
    }
    return RenderPlan(
      serial: serial, applyFrame: applyFrame, hasLoops: !feedbackEdges.isEmpty, steps: steps.elements,
      firstChannels: firstChannel.elements, isBusConnected: isBusConnected.elements,
      channelBuffers: buffers.elements, bufferCount: Int(bufferCount), inputTable: inputTable.elements,
      actions: actions, mostInputs: mostInputs)
  }
}
