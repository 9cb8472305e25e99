import BacklineDSP
import BacklineEngine

/// The names that a command may use: those of the graph, changed by what came before it in the same bundle.
struct NameScope {
  /// A node as commands see it.
  struct Node {
    let name: String
    let unit: UnitDescription
    /// The growing inputs that have parameters.
    var inputCount: Int

    init(name: String, unit: UnitDescription, inputCount: Int) {
      self.name = name
      self.unit = unit
      self.inputCount = inputCount
    }

    init(_ node: Engine.NodeView, _ engine: isolated Engine) {
      let growing = engine.valueCount(of: node) - node.description.parameters.count
      let perInput = max(1, node.description.inputParameters.count)
      self.init(name: node.name, unit: node.description, inputCount: (growing + perInput - 1) / perInput)
    }

    /// How many parameters there are, those of growing inputs included.
    var parameterCount: Int { unit.parameters.count + inputCount * unit.inputParameters.count }
  }

  private let catalog: UnitCatalog
  private let lookUp: (String) -> Node?
  private let list: () -> [Node]
  /// What the bundle has added or changed, or `nil` for a name that it has taken away.
  private var changed: [String: Node?] = [:]
  /// The names in `changed`, in the order in which they came.
  private var order: [String] = []

  init(catalog: UnitCatalog, lookUp: @escaping (String) -> Node?, list: @escaping () -> [Node]) {
    self.catalog = catalog
    self.lookUp = lookUp
    self.list = list
  }

  private func node(_ name: String) -> Node? {
    if let change = changed[name] { return change }
    return lookUp(name)
  }

  func unit(_ name: String) throws(EngineError) -> UnitDescription {
    if let node = node(name) { return node.unit }
    throw EngineError(.unknownNode, "there is no node '\(name)': /graph/list names all")
  }

  /// All nodes, those of the graph first.
  var nodes: [Node] {
    if changed.isEmpty { return list() }
    return list().filter { changed[$0.name] == nil } + order.compactMap { changed[$0] ?? nil }
  }

  // MARK: Following

  /// Follows commands that come before others in a bundle.
  mutating func follow(_ commands: [Command]) {
    for command in commands { follow(command) }
  }

  private mutating func follow(_ command: Command) {
    switch command {
    case .add(let kind, let name, _): put(kind, name, inputs: 0)
    case .insert(let kind, let name, _, _): put(kind, name, inputs: 1)
    case .replace(let name, let kind): put(kind, name, inputs: node(name)?.inputCount ?? 0)
    case .remove(let name): change(name, nil)
    case .rename(let name, let new):
      let old = node(name)
      change(name, nil)
      change(new, old.map { Node(name: new, unit: $0.unit, inputCount: $0.inputCount) })
    case .connect(_, let to, _, _, _):
      guard let node = node(to.node) else { return }
      grow(node, to: to.bus.map { $0 + 1 } ?? node.inputCount + 1)
    case .set(let name, let parameter, _, _):
      guard let node = node(name), parameter >= node.parameterCount else { return }
      let perInput = max(1, node.unit.inputParameters.count)
      grow(node, to: (parameter - node.unit.parameters.count) / perInput + 1)
    default: break
    }
  }

  private mutating func put(_ kind: String, _ name: String, inputs: Int) {
    guard let unit = catalog[kind] else { return }
    change(name, Node(name: name, unit: unit, inputCount: unit.growingInputs == nil ? 0 : inputs))
  }

  private mutating func grow(_ node: Node, to inputs: Int) {
    guard let most = node.unit.growingInputs, inputs > node.inputCount else { return }
    var node = node
    node.inputCount = min(inputs, most)
    change(node.name, node)
  }

  private mutating func change(_ name: String, _ node: Node?) {
    if changed.updateValue(node, forKey: name) == nil { order.append(name) }
  }
}
