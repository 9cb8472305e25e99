/// What a player plays: stereo sound at the engine's rate, read by frame.
///
/// Called by one thread at a time, and never by a control or render thread: reading may wait for a disk.
public protocol PlayerSource: AnyObject, Sendable {
  /// The length in frames at the engine's rate.
  var frameCount: Int64 { get }
  /// The samples that were not finite and have been replaced by silence so far.
  var nonFiniteCount: Int { get }
  /// Writes up to `count` interleaved stereo frames from `frame` on and returns how many; fewer than there should be only
  /// where the source is broken, and then the next read throws.
  ///
  /// The samples depend on the frame alone, not on where earlier reads were.
  func read(
    at frame: Int64, into frames: UnsafeMutablePointer<Float>, count: Int
  ) throws(PlayerSourceFailure) -> Int
}

/// Why a source gave no more frames.
public struct PlayerSourceFailure: Error, Equatable, Sendable {
  /// The first frame that could not be read, at the engine's rate.
  public let frame: Int64
  public let message: String

  public init(frame: Int64, message: String) {
    self.frame = frame
    self.message = message
  }
}

/// Why a transport command was refused.
public enum PlayerError: Error, Equatable, Sendable {
  /// Nothing has been loaded.
  case nothingLoaded
  /// A position outside the file, or a loop that ends before it begins; the text says which.
  case outOfRange(String)
  /// More commands wait for their frames than a player keeps.
  case tooManyWaiting(limit: Int)
}

/// Where a player is, as its render thread last published it.
public struct PlayerState: Equatable, Sendable {
  public let isPlaying: Bool
  /// True once the end has been reached, until the next play, seek, stop or load.
  public let hasEnded: Bool
  /// The frame that plays next, at the engine's rate.
  public let position: Int64
  /// The times that sound was due and had not been read yet.
  public let underruns: Int
  /// The scheduled commands that came after their frame and acted at once.
  public let lateCommands: Int
}
