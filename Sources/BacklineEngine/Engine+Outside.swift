import BacklineDSP

/// Nodes with a bus that has host ports of its own: sends and returns.
///
/// Their ports are a bus of `output` or `input` behind those that are there, which anyone sees, saves and connects as any
/// other. It comes with the node and goes with it, unless another bus has come behind it: then it stays, silent, so that no
/// other port changes its place under a cable.
extension Engine {
  /// The names of the ports of a node's own.
  private static func portNames(_ node: String, channels: Int) -> [String] { (1...channels).map { "\(node)_\($0)" } }

  /// Refuses a node whose ports would not be had.
  func checkOutside(_ name: String, _ description: UnitDescription) throws(EngineError) {
    guard let outside = description.outsideBus else { return }
    var ports = store.ports
    let names = Self.portNames(name, channels: outside.channelCount(description))
    if outside.isInput { ports.inputs.append(names) } else { ports.outputs.append(names) }
    try checkPorts(ports)
  }

  /// Lays the ports of a new node and connects them, where nothing is connected there yet.
  func connectOutside(_ name: String, _ transaction: inout Transaction) throws(EngineError) {
    let node = try store.node(name)
    guard let outside = node.description.outsideBus else { return }
    let edges = outside.isInput ? store.topology.incoming(node.slot) : store.topology.outgoing(node.slot)
    let isConnected = edges.contains { index in
      let edge = store.topology.edges[Int(index)]
      return store.topology.isLive(index) && Int(outside.isInput ? edge.targetBus : edge.sourceBus) == outside.bus
    }
    if isConnected { return }
    let names = Self.portNames(name, channels: outside.channelCount(node.description))
    let count = outside.isInput ? store.ports.inputs.count : store.ports.outputs.count
    try edit(.addPorts(names, isInput: outside.isInput), &transaction)
    let own = Endpoint(name, bus: outside.bus)
    try edit(
      .connect(
        outside.isInput
          ? ConnectionSpecification(from: Endpoint("input", bus: count), to: own)
          : ConnectionSpecification(from: own, to: Endpoint("output", bus: count))), &transaction)
  }

  /// Takes the ports of a node away that is gone, where they are the last and nothing is connected to them.
  func removeOutside(
    of name: String, _ description: UnitDescription, _ transaction: inout Transaction
  ) throws(EngineError) {
    guard let outside = description.outsideBus else { return }
    let buses = outside.isInput ? store.ports.inputs : store.ports.outputs
    guard buses.last == Self.portNames(name, channels: outside.channelCount(description)) else { return }
    let edges =
      outside.isInput ? store.topology.outgoing(Topology.input) : store.topology.incoming(Topology.output)
    let isUsed = edges.contains { index in
      let edge = store.topology.edges[Int(index)]
      let bus = outside.isInput ? edge.sourceBus : edge.targetBus
      return store.topology.isLive(index) && Int(bus) == buses.count - 1
    }
    if !isUsed { try edit(.removePorts(isInput: outside.isInput), &transaction) }
  }
}

extension UnitDescription.OutsideBus {
  var isInput: Bool { if case .input = self { true } else { false } }

  /// The number of the unit's bus.
  var bus: Int {
    switch self {
    case .input(let bus), .output(let bus): bus
    }
  }

  func channelCount(_ unit: UnitDescription) -> Int { (isInput ? unit.inputs : unit.outputs)[bus].channelCount }
}
