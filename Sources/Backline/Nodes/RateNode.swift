import BacklineDSP
import Synchronization

/// A node right behind a player that changes how fast and how high it plays.
///
/// It works on what the player reads: a change is heard when what has been read before has been played, within a third of a
/// second. The player's time and positions count the frames that come out.
public class RateNode: AudioNode, @unchecked Sendable {
  private let state: Mutex<PlaybackStretch>

  init(_ stretch: PlaybackStretch) { state = Mutex(stretch) }

  public override var inputCount: Int { 1 }
  public override var outputCount: Int { 1 }
  override func realization(kind: String, channelCount: Int) -> NodeRealization? { .catalog(Gain.description) }

  var stretch: PlaybackStretch { state.withLock { $0 } }

  func change(_ body: (inout PlaybackStretch) -> Void) {
    state.withLock { body(&$0) }
    engine?.followStretches()
  }

  /// How fast the player plays: 2 is twice as fast. Numbers outside of 0.25 to 4 are taken as the nearest.
  public var rate: Float {
    get { Float(stretch.rate) }
    set { change { $0.rate = Double(newValue >= 0.25 ? min(newValue, 4) : 0.25) } }
  }
}

/// A node right behind a player that changes its speed, and its pitch with it, like a tape.
public final class VarispeedNode: RateNode, @unchecked Sendable {
  /// A node that changes nothing yet.
  public init() { super.init(PlaybackStretch(isVarispeed: true)) }

  override var kindName: String { "varispeed node" }
}

/// A node right behind a player that changes its speed and its pitch apart from each other.
public final class TimePitchNode: RateNode, @unchecked Sendable {
  /// A node that changes nothing yet.
  public init() { super.init(PlaybackStretch()) }

  override var kindName: String { "time-pitch node" }

  /// Cents by which the player sounds higher or lower; numbers outside of -2400 to 2400 are taken as the nearest.
  public var pitch: Float {
    get { stretch.pitch }
    set { change { $0.pitch = newValue >= -2_400 ? min(newValue, 2_400) : -2_400 } }
  }
}
