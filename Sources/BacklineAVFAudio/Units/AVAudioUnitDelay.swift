import Foundation

/// Echoes.
public class AVAudioUnitDelay: AVAudioUnitEffect, @unchecked Sendable {
  /// With the Mac's first values.
  public init() {
    super.init(kind: "delay")
    delayTime = 1
    feedback = 50
    lowPassCutoff = 15_000
    wetDryMix = 100
  }

  /// Seconds from echo to echo, 0 to 2.
  public var delayTime: TimeInterval {
    get { TimeInterval(value("delayTime")) }
    set { set("delayTime", Float(min(newValue, 2))) }
  }

  /// How loud each echo is against the one before, in percent, -100 to 100.
  public var feedback: Float {
    get { value("feedback") }
    set { set("feedback", newValue) }
  }

  /// The echoes lose what is above, in Hz.
  public var lowPassCutoff: Float {
    get { value("lowPassCutoff") }
    set { set("lowPassCutoff", newValue) }
  }

  /// How much of the output is echo: 0 to 100.
  public var wetDryMix: Float {
    get { value("wetDryMix") }
    set { set("wetDryMix", newValue) }
  }
}
