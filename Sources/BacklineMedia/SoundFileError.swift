import BacklineEngine

/// Why a sound file cannot be read. Every case names the path.
public enum SoundFileError: Error, Equatable, Sendable {
  case notFound(path: String)
  /// The system refuses to open or read it, for the reason given.
  case notReadable(path: String, reason: String)
  /// A folder, a pipe, a device: anything that is no regular file.
  case notAFile(path: String)
  /// No format that is known, or one with more channels or another rate than is worked with.
  case unsupported(path: String, reason: String)
  /// The file ends or is damaged at this frame of its own, earlier than it says of itself.
  case broken(path: String, frame: Int64, reason: String)

  /// The file.
  public var path: String {
    switch self {
    case .notFound(let path), .notAFile(let path): path
    case .notReadable(let path, _), .unsupported(let path, _), .broken(let path, _, _): path
    }
  }
}

extension EngineError {
  /// The code and the sentence for people.
  public init(_ error: SoundFileError) {
    switch error {
    case .notFound(let path): self.init(.notFound, "there is no file \(path)")
    case .notReadable(let path, let reason): self.init(.ioError, "\(path) cannot be read: \(reason)")
    case .notAFile(let path): self.init(.ioError, "\(path) is no regular file")
    case .unsupported(let path, let reason): self.init(.ioError, "\(path) is no sound file to play: \(reason)")
    case .broken(let path, let frame, let reason):
      self.init(.ioError, "\(path) is broken at frame \(frame): \(reason)")
    }
  }
}
