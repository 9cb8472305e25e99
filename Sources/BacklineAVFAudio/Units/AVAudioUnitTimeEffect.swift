import Backline
import Foundation

/// A unit that changes the time of what a player plays. It belongs right behind a player.
public class AVAudioUnitTimeEffect: AVAudioUnit, @unchecked Sendable {
  let rateNode: RateNode

  init(_ node: RateNode) {
    rateNode = node
    super.init(node: node)
  }

  /// How fast: 0.25 to 4.
  public var rate: Float {
    get { rateNode.rate }
    set { rateNode.rate = newValue }
  }
}

/// Changes speed and pitch together.
public class AVAudioUnitVarispeed: AVAudioUnitTimeEffect, @unchecked Sendable {
  /// A unit that changes nothing yet.
  public init() { super.init(VarispeedNode()) }
}

/// Changes speed and pitch apart from each other.
public class AVAudioUnitTimePitch: AVAudioUnitTimeEffect, @unchecked Sendable {
  private let timePitch: TimePitchNode

  /// A unit that changes nothing yet.
  public init() {
    timePitch = TimePitchNode()
    super.init(timePitch)
  }

  /// Cents, -2400 to 2400.
  public var pitch: Float {
    get { timePitch.pitch }
    set { timePitch.pitch = newValue }
  }
}
