import BacklineDSP
import BacklineEngine

/// Reads the key `nodes`.
struct NodesReader {
  /// What connections need to know of a node.
  struct Entry {
    let name: String
    /// `nil` where the kind is not known, which has been told.
    let unit: UnitDescription?
  }

  let catalog: UnitCatalog
  let limits: PresetLimits
  let problems: ProblemCollector
  private let checkFile: PresetReader.FileCheck?
  /// Every node with a name, also one that has problems of its own.
  private(set) var entries: [Entry] = []
  private var names: Set<String> = []

  init(
    catalog: UnitCatalog, limits: PresetLimits, problems: ProblemCollector, checkFile: PresetReader.FileCheck?
  ) {
    self.checkFile = checkFile
    self.catalog = catalog
    self.limits = limits
    self.problems = problems
  }

  mutating func read(_ list: [JSONValue], at place: JSONPlace) -> [Preset.Node] {
    if list.count > limits.nodes {
      problems.add(place, "nodes", "\(list.count) nodes are more than the \(limits.nodes) allowed; remove some")
      return []
    }
    var nodes: [Preset.Node] = []
    nodes.reserveCapacity(list.count)
    for (index, value) in list.enumerated() {
      if let node = node(value, path: JSONKeyPath.element(index, of: "nodes")) { nodes.append(node) }
    }
    return nodes
  }

  private mutating func node(_ value: JSONValue, path: String) -> Preset.Node? {
    guard let object = PresetObject(value, path: path, keys: PresetKeys.node, problems: problems) else { return nil }
    let name = name(object)
    let unit = unit(object)
    if let name { entries.append(Entry(name: name, unit: unit)) }
    var node = Preset.Node(name ?? "", kind: unit?.kind ?? "", isBypassed: object.bool("bypass"))
    if let value = object.optional("parameters"),
      let parameters = PresetObject(value, path: object.path("parameters"), keys: nil, problems: problems),
      let unit
    {
      for member in parameters.members { set(member, of: unit, in: &node, parameters) }
      expandPreset(&node, unit, given: Set(parameters.members.map(\.name)))
    }
    node.file = file(object, unit)
    return node
  }

  private mutating func name(_ object: PresetObject) -> String? {
    guard let value = object.required("name", "give the node a name, by which connections and OSC know it"),
      let name = object.string(value, "name")
    else { return nil }
    do {
      try NodeName.check(name)
    } catch {
      problems.add(value.place, object.path("name"), error.message)
    }
    guard names.insert(name).inserted else {
      problems.add(value.place, object.path("name"), "a node \(quoted(name)) is there already; take another name")
      return nil
    }
    return name
  }

  private func unit(_ object: PresetObject) -> UnitDescription? {
    guard let value = object.required("kind", "say which unit the node is; `backline units` lists them"),
      let kind = object.string(value, "kind")
    else { return nil }
    if let unit = catalog[kind] { return unit }
    let nearest = suggestion(for: kind, in: catalog.descriptions.map(\.kind))
    problems.add(
      value.place, object.path("kind"),
      "there is no unit \(quoted(kind))\(nearest.isEmpty ? "; `backline units` lists them" : nearest)")
    return nil
  }

  /// Puts what a unit's preset sets under what the file says itself.
  private func expandPreset(_ node: inout Preset.Node, _ unit: UnitDescription, given: Set<String>) {
    guard let index = unit.presetIndex, let number = node.parameters[unit.parameters[index].name] else { return }
    var values = unit.parameters.map(\.defaultValue)
    _ = unit.set(index, to: number, in: &values)
    for place in unit.parameters.indices where place != index && given.contains(unit.parameters[place].name) {
      let parameter = unit.parameters[place]
      _ = unit.set(place, to: node.parameters[parameter.name] ?? parameter.defaultValue, in: &values)
    }
    node.parameters = [:]
    for (parameter, value) in zip(unit.parameters, values) where value != parameter.defaultValue {
      node.parameters[parameter.name] = value
    }
  }

  private func file(_ object: PresetObject, _ unit: UnitDescription?) -> String? {
    guard let value = object.optional("file"), let path = object.string(value, "file") else { return nil }
    if let unit, unit.file == nil {
      problems.add(value.place, object.path("file"), "`\(unit.kind)` works with no file; remove the key")
    }
    if path.isEmpty || path.utf8.contains(0) {
      problems.add(value.place, object.path("file"), "this is no path; name a file")
    } else if let unit, unit.file != nil, let problem = checkFile?(path, unit) {
      problems.add(value.place, object.path("file"), problem)
    }
    return path
  }

  private func set(
    _ member: JSONMember, of unit: UnitDescription, in node: inout Preset.Node, _ object: PresetObject
  ) {
    guard let parameter = unit.parameter(named: member.name) else {
      problems.add(member.place, object.path(member.name), unknownParameter(member.name, unit))
      return
    }
    let input: ParameterInput
    switch member.value.content {
    case .number(let value): input = .double(value)
    case .bool(let value): input = .bool(value)
    case .string(let value): input = .text(value)
    case .null, .array, .object:
      problems.add(
        member.value.place, object.path(member.name),
        "`\(parameter.name)` \(parameter.expectation), not \(member.value.typeName)")
      return
    }
    do {
      let value = try parameter.resolve(input)
      if value != parameter.defaultValue { node.parameters[parameter.name] = value }
    } catch {
      problems.add(member.value.place, object.path(member.name), error.message)
    }
  }

  private func unknownParameter(_ name: String, _ unit: UnitDescription) -> String {
    let hint =
      unit.nearestParameterName(name).map { "did you mean `\($0)`?" } ?? "`backline units \(unit.kind)` lists them"
    return "`\(unit.kind)` has no such parameter; \(hint)"
  }
}
