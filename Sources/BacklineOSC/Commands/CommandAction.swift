import BacklineDSP
import BacklineEngine

/// What a command comes to, once it has been understood.
public enum CommandAction {
  /// Commands for the engine: part of the transaction that the message belongs to. No reply for a plain set.
  case change([Command], reply: [OSCArgument]?, feedback: [Feedback])
  /// A question, answered when everything before it has been done.
  case answer(() throws(EngineError) -> [OSCArgument])
  /// Something that cannot be part of a transaction: runs at once and answers through `completion`, now or later.
  case alone((_ completion: @escaping @Sendable (Result<[OSCArgument], EngineError>) -> Void) -> Void)
  /// Answers itself, with more than one message.
  case special(() throws(EngineError) -> Void)

  /// A value that subscribers hear of.
  public struct Feedback {
    let address: String
    let value: OSCArgument
    let changedOnTheWay: Bool
  }
}

/// Who understands an address.
typealias CommandHandler = (_ request: OSCRequest, _ scope: NameScope) throws(EngineError) -> CommandAction

/// The names that a command may use: those of the graph, changed by what came before it in the same bundle.
struct NameScope {
  private let lookUp: (String) -> UnitDescription?
  private let catalog: UnitCatalog
  /// The kind of a name that the bundle has added, or `nil` for one that it has taken away.
  private var changed: [String: String?] = [:]

  init(catalog: UnitCatalog, lookUp: @escaping (String) -> UnitDescription?) {
    self.catalog = catalog
    self.lookUp = lookUp
  }

  func unit(_ name: String) throws(EngineError) -> UnitDescription {
    if let change = changed[name] {
      if let kind = change, let unit = catalog[kind] { return unit }
    } else if let unit = lookUp(name) {
      return unit
    }
    throw EngineError(.unknownNode, "there is no node '\(name)': /graph/list names all")
  }

  /// Follows commands that come before others in a bundle.
  mutating func follow(_ commands: [Command]) {
    for command in commands {
      switch command {
      case .add(let kind, let name, _), .insert(let kind, let name, _, _), .replace(let name, let kind):
        changed[name] = .some(kind)
      case .remove(let name):
        changed[name] = .some(nil)
      case .rename(let name, let new):
        let kind = changed[name] ?? lookUp(name)?.kind
        changed[name] = .some(nil)
        changed[new] = .some(kind)
      default: break
      }
    }
  }
}
