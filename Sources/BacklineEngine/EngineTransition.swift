import BacklineGraph
import CBackline

/// One step of the engine's life, for those who ask afterwards what happened. No sound is in it.
public struct EngineTransition: Sendable, Equatable {
  public let state: EngineState
  /// When, in nanoseconds of CLOCK_MONOTONIC.
  public let time: Int64
  /// The next frame to be rendered then.
  public let frame: Int64
  /// The epoch then: configuration changes so far.
  public let epoch: Int
}

extension Engine {
  /// How many transitions are remembered.
  public static let transitionLimit = 256

  /// Notes that the state has changed.
  func noteTransition() {
    if transitions.count == Self.transitionLimit { transitions.removeFirst() }
    transitions.append(
      EngineTransition(state: state, time: backline_now(), frame: exchange.pointee.currentFrame, epoch: epoch))
  }
}
