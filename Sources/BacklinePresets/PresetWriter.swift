import BacklineDSP
import BacklineEngine

/// Writes presets.
public enum PresetWriter {
  /// The bytes of a file that reads back as the same preset: choices by name, switches as true and false, and of the values
  /// those that differ from their defaults, in the order in which the unit declares them.
  ///
  /// Values of a kind that the catalog does not have are written as numbers, sorted by name.
  public static func write(_ preset: Preset, catalog: UnitCatalog) -> [UInt8] {
    let growing = Set(preset.nodes.lazy.filter { catalog[$0.kind]?.growingInputs != nil }.map(\.name))
    let root: JSONOutput = [
      "format": .string(Preset.format),
      "version": .integer(Int64(Preset.version)),
      "name": .string(preset.name),
      "description": .string(preset.description),
      "ports": ["inputs": ports(preset.ports.inputs), "outputs": ports(preset.ports.outputs)],
      "nodes": .array(preset.nodes.map { node($0, catalog) }),
      "connections": .array(preset.connections.map { connection($0, growing) }),
    ]
    return Array(JSONWriter.write(root).utf8)
  }

  private static func ports(_ buses: [[String]]) -> JSONOutput {
    let lists = buses.map { JSONOutput.array($0.map { .string($0) }) }
    return lists.count == 1 ? lists[0] : .array(lists)
  }

  private static func node(_ node: Preset.Node, _ catalog: UnitCatalog) -> JSONOutput {
    var members: [JSONOutput.Member] = [.init("name", .string(node.name)), .init("kind", .string(node.kind))]
    let parameters = parameters(node, catalog)
    if !parameters.isEmpty { members.append(.init("parameters", .object(parameters))) }
    if node.isBypassed { members.append(.init("bypass", true)) }
    if let file = node.file { members.append(.init("file", .string(file))) }
    return .object(members)
  }

  private static func parameters(_ node: Preset.Node, _ catalog: UnitCatalog) -> [JSONOutput.Member] {
    guard let unit = catalog[node.kind] else {
      return node.parameters.sorted { $0.key < $1.key }.map { .init($0.key, .float($0.value)) }
    }
    let indices = node.parameters.keys.compactMap(unit.parameterIndex(named:)).sorted()
    return indices.compactMap { index in
      guard let parameter = unit.parameter(at: index), let value = node.parameters[parameter.name],
        value != parameter.defaultValue, !parameter.isReadOnly
      else { return nil }
      return .init(parameter.name, output(value, of: parameter))
    }
  }

  private static func output(_ value: Float, of parameter: ParameterDescription) -> JSONOutput {
    switch parameter.kind {
    case .toggle: return .bool(value != 0)
    case .discrete: return .string(parameter.text(for: value))
    case .count, .continuous: return .float(value)
    }
  }

  private static func connection(_ connection: Preset.Connection, _ growing: Set<String>) -> JSONOutput {
    let isGrowing = growing.contains(connection.to.node)
    var members: [JSONOutput.Member] = [
      .init("from", .string(EndpointText.write(connection.from, isGrowing: false))),
      .init("to", .string(EndpointText.write(connection.to, isGrowing: isGrowing))),
    ]
    if connection.isFeedback { members.append(.init("feedback", true)) }
    if let map = connection.map { members.append(.init("map", .array(map.map { .integer(Int64($0)) }))) }
    return .object(members)
  }
}
