import BacklineEngine

/// What was refused or has failed, and what to do about it: a code for programs and a sentence for people. Where formats did
/// not fit, both are there.
public struct AudioError: Error, Equatable, Sendable, CustomStringConvertible {
  /// The kinds of failure.
  public enum Code: String, Sendable, CaseIterable {
    /// The node belongs to an engine already.
    case alreadyAttached
    /// The node belongs to no engine, or to another one.
    case notAttached
    /// The node has no such bus.
    case noSuchBus
    /// Nothing is connected there.
    case notConnected
    /// The connection would close a ring.
    case wouldCycle
    /// Two formats do not fit; `formats` has both.
    case formatMismatch
    /// A format with a rate or a number of channels that cannot be.
    case invalidFormat
    /// The bus has a tap already, or has none.
    case tapExists, noTap
    /// The engine has to be running for this.
    case notRunning
    /// The engine has to be stopped for this.
    case running
    /// Manual rendering is off, or in the other mode.
    case wrongMode
    /// There is no sound server, or it refuses; trying again later may help.
    case unavailable
    /// The unit has no parameter of this name.
    case unknownParameter
    /// There is no such kind of unit.
    case unknownKind
    /// A number outside its range.
    case outOfRange
    /// There are as many as there can be.
    case limitReached
    /// A file is not there.
    case notFound
    /// A file cannot be opened, read or written.
    case fileFailed
    /// The system underneath has no such thing.
    case unsupported
    /// Not allowed at this place or time.
    case notAllowed
    /// A fault of the library's own.
    case `internal`
  }

  /// The kind.
  public let code: Code
  /// What happened, to what, and what to do.
  public let message: String
  /// The formats that did not fit: first the one that was given, then the one that was wanted.
  public let formats: [AudioFormat]

  /// An error with its sentence.
  public init(_ code: Code, _ message: String, formats: [AudioFormat] = []) {
    self.code = code
    self.message = message
    self.formats = formats
  }

  /// The sentence.
  public var description: String { message }

  /// Two formats that do not fit.
  static func mismatch(_ given: AudioFormat, _ wanted: AudioFormat, _ reason: String) -> AudioError {
    AudioError(.formatMismatch, "\(given) does not fit \(wanted): \(reason)", formats: [given, wanted])
  }

  /// An error of the engine underneath.
  init(_ error: EngineError) {
    let code: Code =
      switch error.code {
      case .formatMismatch: .formatMismatch
      case .wouldCycle: .wouldCycle
      case .notConnected: .notConnected
      case .limitReached: .limitReached
      case .outOfRange: .outOfRange
      case .unknownParameter: .unknownParameter
      case .unknownKind: .unknownKind
      case .unavailable: .unavailable
      case .notFound: .notFound
      case .ioError: .fileFailed
      case .notAllowed, .busy: .notAllowed
      default: .internal
      }
    self.init(code, error.message)
  }
}
