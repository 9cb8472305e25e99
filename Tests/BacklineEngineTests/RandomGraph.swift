import BacklineDSP
import BacklineEngine
import BacklineTestSupport
import CBackline

/// Makes random graphs, edits and values from a seed: what it makes depends on nothing but the seed and the graph it is
/// told of.
struct RandomGraph {
  private var random: SeededGenerator
  private let catalog: UnitCatalog
  private let kinds: [String]
  private var named = 0

  init(seed: UInt64, catalog: UnitCatalog, kinds: [String]) {
    random = SeededGenerator(seed)
    self.catalog = catalog
    self.kinds = kinds
  }

  mutating func number(_ range: Range<Int>) -> Int { Int.random(in: range, using: &random) }
  mutating func chance(_ oneIn: Int) -> Bool { number(0..<oneIn) == 0 }

  private mutating func pick<Element>(_ elements: [Element]) -> Element? {
    elements.isEmpty ? nil : elements[number(0..<elements.count)]
  }

  /// A value that a parameter may have, spread as its fader spreads them.
  private mutating func value(of parameter: ParameterDescription) -> Float {
    let range = parameter.range
    if parameter.isStepped { return Float.random(in: range, using: &random).rounded() }
    if parameter.taper == .logarithmic {
      let power = Float.random(
        in: backline_log2f(range.lowerBound)...backline_log2f(range.upperBound), using: &random)
      return min(max(backline_exp2f(power), range.lowerBound), range.upperBound)
    }
    return Float.random(in: range, using: &random)
  }

  // MARK: Nodes

  /// A new node of any kind, a third of its parameters at random.
  mutating func addition() -> (command: Command, name: String) {
    let kind = pick(kinds) ?? "gain"
    named += 1
    let name = "\(kind)\(named)"
    let parameters = catalog[kind]?.parameters ?? []
    let values = parameters.indices.compactMap { index -> (index: Int, value: Float)? in
      guard !parameters[index].isReadOnly, chance(3) else { return nil }
      return (index, value(of: parameters[index]))
    }
    return (.add(kind: kind, name: name, values: values), name)
  }

  /// A connection between any two of these, often one that is refused.
  mutating func connection(_ names: [String]) -> Command {
    let from = pick(names + ["input", "input"]) ?? "input"
    let to = pick(names + ["output"]) ?? "output"
    return .connect(Endpoint(from), Endpoint(to), isFeedback: chance(4))
  }

  /// Commands for a first graph of `count` nodes, to be performed one by one; some may be refused.
  mutating func initial(count: Int) -> [Command] {
    var commands: [Command] = []
    var names: [String] = ["main"]
    commands.append(.add(kind: "mixer", name: "main", values: []))
    commands.append(.connect(Endpoint("main"), Endpoint("output")))
    for _ in 0..<count {
      let new = addition()
      commands.append(new.command)
      names.append(new.name)
      commands.append(.connect(Endpoint(new.name), Endpoint("main")))
    }
    for _ in 0..<count * 2 { commands.append(connection(names)) }
    return commands
  }

  // MARK: Changes

  /// A change of `graph` that adds, or one that takes away.
  mutating func edit(_ graph: GraphDescription, isGrowth: Bool) -> [Command] {
    let names = graph.nodes.map(\.name)
    if isGrowth {
      switch number(0..<4) {
      case 0:
        let new = addition()
        return [new.command, .connect(Endpoint(new.name), Endpoint("main")), connection(names + [new.name])]
      case 1:
        guard let connection = pick(graph.connections) else { return [] }
        named += 1
        return [.insert(kind: "gain", name: "in\(named)", from: connection.from, to: connection.to)]
      default: return [connection(names)]
      }
    }
    switch number(0..<4) {
    case 0: return pick(names).map { [.remove($0)] } ?? []
    case 1: return pick(names.filter { $0 != "main" }).map { [.rename($0, to: "\($0)r")] } ?? []
    default: return pick(graph.connections).map { [.disconnect($0.from, $0.to)] } ?? []
    }
  }

  /// A change of any sort, moves and replacements too.
  mutating func anyEdit(_ graph: GraphDescription) -> [Command] {
    let names = graph.nodes.map(\.name)
    switch number(0..<10) {
    case 0:
      guard let name = pick(names), let place = pick(graph.connections) else { return [] }
      return [.move(name, from: place.from, to: place.to)]
    case 1:
      guard let name = pick(names), let kind = pick(kinds) else { return [] }
      return [.replace(name, kind: kind)]
    default: return edit(graph, isGrowth: chance(2))
    }
  }

  /// A set, a bypass or a reset that needs no new plan.
  mutating func value(_ graph: GraphDescription) -> Command? {
    guard let node = pick(graph.nodes), let description = catalog[node.kind] else { return nil }
    switch number(0..<8) {
    case 0: return .bypass(node.name, chance(2))
    case 1: return .reset(node.name)
    default:
      let indices = node.values.indices.filter {
        guard let parameter = description.parameter(at: $0) else { return false }
        return !parameter.isReadOnly && !parameter.affectsLatency
      }
      guard let index = pick(Array(indices)), let parameter = description.parameter(at: index) else { return nil }
      let ramps: [Double?] = [nil, nil, 0, 0.001, 0.1]
      return .set(node: node.name, parameter: index, value: value(of: parameter), ramp: pick(ramps) ?? nil)
    }
  }
}
