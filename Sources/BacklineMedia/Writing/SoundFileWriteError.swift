import BacklineEngine
import Glibc

/// Why a sound file cannot be written. The cases with a path name the file that was asked for, never a temporary one.
public enum SoundFileWriteError: Error, Equatable, Sendable {
  /// The kind of file, its samples, rate and channels do not go together.
  case unsupported(String)
  /// Something has the name already, and replacing it was not asked for.
  case exists(path: String)
  /// It cannot be made: the folder is missing or may not be written to, the name is a folder's.
  case cannotCreate(path: String, reason: String)
  /// Writing failed; `code` is the system's error number.
  case failed(path: String, code: Int32)
  /// The encoder refused to go on.
  case encoder(path: String, reason: String)
  /// What was read back is not what was written.
  case notVerified(path: String, reason: String)

  /// What happened, in one sentence.
  public var message: String {
    switch self {
    case .unsupported(let reason): reason
    case .exists(let path): "\(path) exists already: give another name, or ask for it to be overwritten"
    case .cannotCreate(let path, let reason): "\(path) cannot be created: \(reason)"
    case .failed(let path, let code):
      code == ENOSPC || code == EDQUOT
        ? "no space is left for \(path): free some, or write to another disk"
        : "\(path) cannot be written: \(String(cString: strerror(code)))"
    case .encoder(let path, let reason): "\(path) cannot be encoded: \(reason)"
    case .notVerified(let path, let reason): "\(path) was not written: what was read back \(reason)"
    }
  }
}

extension EngineError {
  /// The code and the sentence for people.
  public init(_ error: SoundFileWriteError) {
    let code: Code =
      switch error {
      case .unsupported: .formatMismatch
      case .exists, .cannotCreate: .notAllowed
      case .failed, .encoder, .notVerified: .ioError
      }
    self.init(code, error.message)
  }
}
