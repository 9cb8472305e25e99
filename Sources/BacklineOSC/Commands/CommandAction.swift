import BacklineDSP
import BacklineEngine

/// What a command comes to, once it has been understood.
public enum CommandAction {
  /// Commands for the engine: part of the transaction that the message belongs to. No reply for a plain set.
  case change([Command], reply: [OSCArgument]?, feedback: [Feedback])
  /// A question, answered when everything before it has been done.
  case answer(() throws(EngineError) -> [OSCArgument])
  /// Something that cannot be part of a transaction: runs at once and answers through `completion`, now or later,
  /// from any thread.
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
