import BacklineEngine
import BacklineMedia

/// Why a rendering has failed: what kind of fault it is, for programs, and one sentence for people.
public struct OfflineError: Error, Equatable, Sendable {
  public enum Kind: Sendable {
    /// What was asked for cannot be: a format pair, a duration.
    case wrongUsage
    /// The input is not there.
    case inputMissing
    /// The input, a preset or an event is no good.
    case badData
    /// The output cannot be created.
    case cannotCreate
    /// Reading or writing failed.
    case inputOutput
    /// A fault of ours.
    case internalError
  }

  public let kind: Kind
  public let message: String

  public init(_ kind: Kind, _ message: String) {
    self.kind = kind
    self.message = message
  }

  /// A fault of the graph or of an event.
  public init(_ error: EngineError) {
    switch error.code {
    case .notFound: self.init(.inputMissing, error.message)
    case .ioError: self.init(.inputOutput, error.message)
    case .internal: self.init(.internalError, error.message)
    default: self.init(.badData, error.message)
    }
  }

  /// A fault of the input.
  public init(_ error: SoundFileError) {
    let message = EngineError(error).message
    switch error {
    case .notFound: self.init(.inputMissing, message)
    case .notReadable: self.init(.inputMissing, message)
    case .notAFile, .unsupported, .broken: self.init(.badData, message)
    }
  }

  /// A fault of the output.
  public init(_ error: SoundFileWriteError) {
    switch error {
    case .unsupported: self.init(.wrongUsage, error.message)
    case .exists, .cannotCreate: self.init(.cannotCreate, error.message)
    case .failed, .encoder, .notVerified: self.init(.inputOutput, error.message)
    }
  }
}
