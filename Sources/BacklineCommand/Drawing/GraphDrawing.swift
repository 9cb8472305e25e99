import BacklineDSP
import BacklineEngine

/// Draws graphs: pure functions from a description to text.
enum GraphDrawing {
  /// The signal's way from the inputs to the outputs, for people to read.
  static func text(_ graph: GraphDescription, catalog: UnitCatalog) -> String {
    var drawing = FlowText(GraphView(graph, catalog))
    return drawing.draw()
  }

  /// The graph in Graphviz's language, from left to right.
  static func dot(_ graph: GraphDescription, catalog: UnitCatalog) -> String {
    DotText.draw(GraphView(graph, catalog))
  }

  /// The graph as a picture, laid out by Graphviz.
  static func svg(_ graph: GraphDescription, catalog: UnitCatalog) throws(CommandError) -> String {
    try Graphviz.svg(dot: dot(graph, catalog: catalog))
  }
}

/// A graph as drawings need it.
struct GraphView {
  static let input = "input"
  static let output = "output"

  let graph: GraphDescription
  let catalog: UnitCatalog
  private let nodesByName: [String: NodeSpecification]
  private let edgesBySource: [String: [ConnectionSpecification]]

  init(_ graph: GraphDescription, _ catalog: UnitCatalog) {
    self.graph = graph
    self.catalog = catalog
    nodesByName = Dictionary(graph.nodes.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    edgesBySource = Dictionary(grouping: graph.connections, by: \.from.node)
  }

  /// The connections that leave a node, in the graph's order.
  func edges(from name: String) -> [ConnectionSpecification] { edgesBySource[name] ?? [] }

  func isBypassed(_ name: String) -> Bool { nodesByName[name]?.isBypassed ?? false }

  func kind(_ name: String) -> String? { nodesByName[name]?.kind }

  /// The ports of the JACK side: a bus an entry.
  func ports(_ name: String) -> [[String]]? {
    switch name {
    case Self.input: graph.ports.inputs
    case Self.output: graph.ports.outputs
    default: nil
    }
  }

  /// The ports in words: `in_1, in_2`, with the bus's number where there are several.
  func portText(_ name: String) -> String {
    let buses = ports(name) ?? []
    if buses.isEmpty { return "no ports" }
    if buses.count == 1 { return buses[0].joined(separator: ", ") }
    return buses.enumerated().map { "\($0): \($1.joined(separator: ", "))" }.joined(separator: "; ")
  }

  /// The parameters of a node that differ from their defaults, `threshold -18 dB`.
  func settings(_ name: String) -> [String] {
    guard let node = nodesByName[name], let unit = catalog[node.kind] else { return [] }
    return node.values.enumerated().compactMap { index, value in
      guard let (shown, parameter) = parameter(index, of: unit), !parameter.isReadOnly,
        value != parameter.defaultValue
      else { return nil }
      return "\(shown) \(ValueText.value(value, of: parameter))"
    }
  }

  /// `NAME`, or `NAME:BUS` where the node has more than the one bus.
  func destination(_ edge: ConnectionSpecification) -> String {
    let unit = kind(edge.to.node).flatMap { catalog[$0] }
    let count = ports(edge.to.node)?.count ?? unit.map { $0.growingInputs ?? $0.inputs.count } ?? 1
    return count > 1 || (edge.to.bus ?? 0) > 0 ? "\(edge.to.node):\(edge.to.bus ?? 0)" : edge.to.node
  }

  /// The bus that a connection leaves by, where there is a choice.
  func sourceBus(_ edge: ConnectionSpecification) -> Int? {
    let unit = kind(edge.from.node).flatMap { catalog[$0] }
    let count = ports(edge.from.node)?.count ?? unit?.outputs.count ?? 1
    return count > 1 || (edge.from.bus ?? 0) > 0 ? edge.from.bus ?? 0 : nil
  }

  /// The parameters of growing inputs come after the unit's own, a bus after the other.
  private func parameter(
    _ index: Int, of unit: UnitDescription
  ) -> (name: String, parameter: ParameterDescription)? {
    if index < unit.parameters.count { return (unit.parameters[index].name, unit.parameters[index]) }
    guard !unit.inputParameters.isEmpty else { return nil }
    let (bus, rest) = (index - unit.parameters.count).quotientAndRemainder(dividingBy: unit.inputParameters.count)
    return ("input\(bus)\(unit.inputParameters[rest].name)", unit.inputParameters[rest])
  }
}
