/// A bus of the JACK side: the ports that it stands for.
struct PortBus: BitwiseCopyable {
  var firstPort: Int32
  var channelCount: Int32
}

extension GraphStore {
  /// Lays out the buses of the JACK side.
  ///
  /// What still fades out keeps the buses of the layout that it was made for, behind the new ones: it sounds on from the ports
  /// where it was.
  mutating func setPorts(_ ports: PortLayout) {
    for index in topology.outgoing(Topology.input) {
      topology.edges[Int(index)].sourceBus += Int32(ports.inputs.count)
    }
    for index in topology.incoming(Topology.output) {
      topology.edges[Int(index)].targetBus += Int32(ports.outputs.count)
    }
    topology.inputBuses = Self.buses(ports.inputs) + topology.inputBuses
    topology.outputBuses = Self.buses(ports.outputs) + topology.outputBuses
    self.ports = ports
    countPortBuses()
  }

  /// Lays one more bus behind those of its side. What is connected stays.
  mutating func addPorts(_ names: [String], isInput: Bool) {
    let side = isInput ? ports.inputs : ports.outputs
    let bus = PortBus(firstPort: Int32(side.reduce(0) { $0 + $1.count }), channelCount: Int32(names.count))
    // The buses of earlier layouts stand behind the new one.
    if isInput {
      for index in topology.outgoing(Topology.input) where Int(topology.edges[Int(index)].sourceBus) >= side.count {
        topology.edges[Int(index)].sourceBus += 1
      }
      topology.inputBuses.insert(bus, at: side.count)
      ports.inputs.append(names)
    } else {
      for index in topology.incoming(Topology.output) where Int(topology.edges[Int(index)].targetBus) >= side.count {
        topology.edges[Int(index)].targetBus += 1
      }
      topology.outputBuses.insert(bus, at: side.count)
      ports.outputs.append(names)
    }
    countPortBuses()
    isDirty = true
  }

  /// Takes the last bus of a side away. What still fades out there keeps it, as one of an earlier layout.
  mutating func removePorts(isInput: Bool) {
    if isInput { ports.inputs.removeLast() } else { ports.outputs.removeLast() }
    isDirty = true
  }

  /// True while connections of an earlier layout fade out.
  var hasOldPorts: Bool {
    topology.inputBuses.count > ports.inputs.count || topology.outputBuses.count > ports.outputs.count
  }

  /// Forgets the buses of earlier layouts when nothing of theirs sounds any more; true when it did.
  mutating func forgetOldPorts() -> Bool {
    guard hasOldPorts else { return false }
    let inputCount = Int32(ports.inputs.count), outputCount = Int32(ports.outputs.count)
    let isHeard =
      topology.outgoing(Topology.input).contains { topology.edges[Int($0)].sourceBus >= inputCount }
      || topology.incoming(Topology.output).contains { topology.edges[Int($0)].targetBus >= outputCount }
    if isHeard { return false }
    topology.inputBuses.removeSubrange(Int(inputCount)...)
    topology.outputBuses.removeSubrange(Int(outputCount)...)
    countPortBuses()
    isDirty = true
    return true
  }

  private mutating func countPortBuses() {
    topology.nodes[Int(Topology.input)].outputBusCount = Int32(topology.inputBuses.count)
    topology.nodes[Int(Topology.output)].inputBusCount = Int32(topology.outputBuses.count)
  }

  private static func buses(_ names: [[String]]) -> ContiguousArray<PortBus> {
    var buses: ContiguousArray<PortBus> = []
    var port = 0
    for bus in names {
      buses.append(PortBus(firstPort: Int32(port), channelCount: Int32(bus.count)))
      port += bus.count
    }
    return buses
  }
}
