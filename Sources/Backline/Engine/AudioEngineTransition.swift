import BacklineEngine

/// One change of an engine's state, for those who ask afterwards what happened. No sound is in it.
public struct AudioEngineTransition: Sendable, Equatable {
  /// The state that began.
  public let state: AudioEngineState
  /// When, in nanoseconds of CLOCK_MONOTONIC.
  public let hostTime: Int64
  /// The epoch then: the changes of rate and period so far.
  public let epoch: Int
}

extension AudioEngine {
  /// The last changes of state, 256 at most, oldest first. Any thread but a render thread.
  public var transitions: [AudioEngineTransition] {
    engine.wait { engine in
      engine.transitions.map {
        AudioEngineTransition(state: AudioEngineState($0.state), hostTime: $0.time, epoch: $0.epoch)
      }
    }
  }
}
