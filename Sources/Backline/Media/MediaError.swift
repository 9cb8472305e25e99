/// What a media reader or writer refuses, or why it failed: a code for programs and a sentence for people.
public struct MediaError: Error, Equatable, Sendable, CustomStringConvertible {
  /// The kinds of failure.
  public enum Code: String, Sendable {
    /// The file is not there, or is no movie.
    case notReadable
    /// The container does not hold such a track.
    case unsupported
    /// The writer is in another state than this needs.
    case wrongState
    /// The sample belongs to another kind of track.
    case wrongTrack
    /// The sample lies outside of the session.
    case outsideSession
    /// The sample's time does not come after the one before it.
    case notMonotonic
    /// The input takes no more.
    case finished
    /// One track runs too far ahead of another.
    case imbalance
    /// Nothing was appended.
    case empty
    /// The destination is taken or cannot be made.
    case cannotCreate
    /// Writing or checking failed.
    case failed
    /// Writing was given up.
    case cancelled
  }

  /// The kind.
  public let code: Code
  /// What happened, to what, and what to do.
  public let message: String

  /// An error with its sentence.
  public init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }

  /// The sentence.
  public var description: String { message }
}
