import BacklineDSP

extension EngineError {
  /// The code and the sentence for people.
  public init(_ error: PlayerError) {
    switch error {
    case .nothingLoaded: self.init(.unavailable, "the player has no file loaded")
    case .outOfRange(let message): self.init(.outOfRange, message)
    case .tooManyWaiting(let limit):
      self.init(.limitReached, "\(limit) commands wait for the player already, the most there may be")
    }
  }
}
