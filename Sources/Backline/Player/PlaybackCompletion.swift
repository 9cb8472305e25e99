/// How far the sound of something that was scheduled has come when its completion is told.
public enum PlaybackStage: Sendable, Hashable {
  /// The player has taken all of it: a file or a memory behind it is not needed any more.
  case consumed
  /// Its last frame has left the player.
  case rendered
  /// Its last frame has left the engine, past all that delays it on its way, and has been heard, as far as the server tells the way
  /// from there (`OutputNode.presentationLatency`).
  case playedBack
}

/// How something that was scheduled has ended.
public enum PlaybackEnd: Sendable, Equatable {
  /// All of it has been played.
  case played
  /// Something that was scheduled with `interrupts` has taken its place.
  case interrupted
  /// The player was stopped, detached or let go.
  case stopped
  /// Its sound could not be read, or not to its end.
  case failed(AudioError)
}

/// How something that is scheduled begins and goes on.
public struct PlaybackOptions: OptionSet, Sendable {
  /// The bits.
  public let rawValue: Int

  /// A set from its bits.
  public init(rawValue: Int) { self.rawValue = rawValue }

  /// Repeated until it is interrupted or the player is stopped.
  public static let loops = PlaybackOptions(rawValue: 1)
  /// Takes the place of everything that was scheduled before, at its time.
  public static let interrupts = PlaybackOptions(rawValue: 2)
  /// The same, but a loop that plays is played to the end of its pass.
  public static let interruptsAtLoop = PlaybackOptions(rawValue: 4)
}
