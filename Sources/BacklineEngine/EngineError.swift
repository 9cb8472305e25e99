/// What was refused, why, and what to do about it: one code for programs, one sentence for people.
public struct EngineError: Error, Equatable, Sendable, CustomStringConvertible {
  /// The codes that OSC's `/error` carries, by their own names.
  public enum Code: String, Sendable, CaseIterable {
    case unknownAddress, wrongType, outOfRange, unknownNode, unknownKind, unknownParameter, nameTaken, invalidName
    case wouldCycle, formatMismatch, notConnected, alreadyConnected, limitReached, notFound, ioError, notAllowed
    case busy, unavailable, tooLate, invalidPreset, `internal`
  }

  public let code: Code
  public let message: String

  public init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }

  public var description: String { message }
}
