import BacklineDSP
import BacklineEngine

/// Which channels of a graph's outside stand for those of files: all but the ports of sends and returns, to which nobody is
/// connected offline. A return hears silence, what is sent is written nowhere.
struct FileChannels {
  /// By the channel of a file, the channel of all inputs.
  let inputs: [Int]
  /// By the channel of a file, the channel of all outputs, and its bus.
  let outputs: [(channel: Int, bus: Int)]
  let inputCount: Int
  let outputCount: Int

  init(_ graph: GraphDescription, _ catalog: UnitCatalog) {
    let kinds = Dictionary(graph.nodes.map { ($0.name, $0.kind) }, uniquingKeysWith: { first, _ in first })
    func outside(_ node: String) -> UnitDescription.OutsideBus? { kinds[node].flatMap { catalog[$0]?.outsideBus } }
    var returns: Set<Int> = [], sends: Set<Int> = []
    for connection in graph.connections {
      if connection.from.node == "input", case .input(let bus)? = outside(connection.to.node),
        connection.to.bus == bus
      {
        returns.insert(connection.from.bus ?? 0)
      }
      if connection.to.node == "output", case .output(let bus)? = outside(connection.from.node),
        connection.from.bus == bus
      {
        sends.insert(connection.to.bus ?? 0)
      }
    }
    let ins = Self.channels(graph.ports.inputs), outs = Self.channels(graph.ports.outputs)
    (inputCount, outputCount) = (ins.count, outs.count)
    inputs = ins.filter { !returns.contains($0.bus) }.map(\.channel)
    outputs = outs.filter { !sends.contains($0.bus) }
  }

  private static func channels(_ buses: [[String]]) -> [(channel: Int, bus: Int)] {
    buses.indices.flatMap { bus in buses[bus].map { _ in bus } }.enumerated().map { ($0.offset, $0.element) }
  }
}
