import Foundation

/// The rooms of the Mac's reverb.
public enum AVAudioUnitReverbPreset: Int, Sendable {
  case smallRoom = 0
  case mediumRoom, largeRoom, mediumHall, largeHall, plate, mediumChamber, largeChamber, cathedral, largeRoom2
  case mediumHall2, mediumHall3, largeHall2

  /// Room for room, what Backline's own reverb is set to: decay in seconds, the time before it in seconds, size, damping, and
  /// the bounds in Hz. They have the character of their names; they are not the Mac's algorithm.
  var settings: (decay: Float, preDelay: Float, size: Float, damping: Float, lowCut: Float, highCut: Float) {
    switch self {
    case .smallRoom: (0.5, 0.003, 15, 55, 80, 12_000)
    case .mediumRoom: (0.8, 0.007, 30, 50, 60, 12_000)
    case .largeRoom: (1.2, 0.012, 45, 50, 50, 12_000)
    case .mediumHall: (1.8, 0.02, 60, 45, 40, 13_000)
    case .largeHall: (2.8, 0.03, 80, 45, 30, 13_000)
    case .plate: (1.6, 0.0, 40, 20, 100, 18_000)
    case .mediumChamber: (1.3, 0.01, 40, 35, 60, 15_000)
    case .largeChamber: (2.0, 0.015, 60, 35, 50, 15_000)
    case .cathedral: (5.5, 0.04, 100, 55, 30, 9_000)
    case .largeRoom2: (1.5, 0.015, 50, 40, 50, 14_000)
    case .mediumHall2: (1.6, 0.025, 55, 35, 40, 15_000)
    case .mediumHall3: (2.1, 0.015, 65, 55, 40, 10_000)
    case .largeHall2: (3.4, 0.035, 85, 40, 30, 14_000)
    }
  }
}

/// A reverb with rooms to choose from.
public class AVAudioUnitReverb: AVAudioUnitEffect, @unchecked Sendable {
  /// With the Mac's first values.
  public init() {
    super.init(kind: "reverb")
    loadFactoryPreset(.mediumHall)
    wetDryMix = 0
  }

  /// Takes one of the rooms. The mix stays.
  public func loadFactoryPreset(_ preset: AVAudioUnitReverbPreset) {
    let settings = preset.settings
    set("decayTime", settings.decay)
    set("preDelay", settings.preDelay)
    set("size", settings.size)
    set("damping", settings.damping)
    set("lowCut", settings.lowCut)
    set("highCut", settings.highCut)
  }

  /// How much of the output is reverb: 0 to 100.
  public var wetDryMix: Float {
    get { value("wetDryMix") }
    set { set("wetDryMix", newValue) }
  }
}
