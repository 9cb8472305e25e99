import BacklineDSP
import BacklineEngine

/// Presets and the graphs that engines run.
extension Preset {
  /// The graph that the preset describes, with the units of `catalog`.
  public func graph(catalog: UnitCatalog) -> GraphDescription {
    GraphDescription(
      ports: PortLayout(inputs: ports.inputs, outputs: ports.outputs),
      nodes: nodes.map { node in
        NodeSpecification(
          name: node.name, kind: node.kind, values: Self.values(node, catalog[node.kind]),
          isBypassed: node.isBypassed, file: node.file)
      },
      connections: connections.map { connection in
        ConnectionSpecification(
          from: BacklineEngine.Endpoint(connection.from.node, bus: connection.from.bus),
          to: BacklineEngine.Endpoint(connection.to.node, bus: connection.to.bus),
          isFeedback: connection.isFeedback, map: connection.map)
      })
  }

  private static func values(_ node: Node, _ unit: UnitDescription?) -> [Float] {
    guard let unit else { return [] }
    let given = node.parameters.compactMap { name, value in unit.parameterIndex(named: name).map { ($0, value) } }
    let count = max(unit.parameters.count, (given.map(\.0).max() ?? -1) + 1)
    var values = (0..<count).map { unit.parameter(at: $0)?.defaultValue ?? 0 }
    for (index, value) in given { values[index] = value }
    return values
  }

  /// The preset of a graph.
  public init(name: String, description: String = "", graph: GraphDescription, catalog: UnitCatalog) {
    self.init(
      name: name, description: description,
      ports: Ports(inputs: graph.ports.inputs, outputs: graph.ports.outputs),
      nodes: graph.nodes.map { node in
        let unit = catalog[node.kind]
        let given = node.values.enumerated().compactMap { index, value -> (String, Float)? in
          guard let parameter = unit?.parameter(at: index), !parameter.isReadOnly, value != parameter.defaultValue
          else { return nil }
          return (parameter.name, value)
        }
        return Node(
          node.name, kind: node.kind, parameters: Dictionary(uniqueKeysWithValues: given),
          isBypassed: node.isBypassed, file: node.file)
      },
      connections: graph.connections.map { connection in
        Connection(
          from: Endpoint(connection.from.node, bus: connection.from.bus ?? 0),
          to: Endpoint(connection.to.node, bus: connection.to.bus ?? 0), isFeedback: connection.isFeedback,
          map: connection.map)
      })
  }
}
