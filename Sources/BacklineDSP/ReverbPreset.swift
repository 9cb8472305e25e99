/// The thirteen factory presets of Apple's reverb (`AVAudioUnitReverbPreset`), by their names, as settings of `Reverb`.
///
/// The names are Apple's, the settings are this project's: rooms, halls and chambers of the sizes that the names speak of.
public enum ReverbPreset: String, CaseIterable, Sendable {
  case smallRoom, mediumRoom, largeRoom, mediumHall, largeHall, plate, mediumChamber, largeChamber, cathedral,
    largeRoom2
  case mediumHall2, mediumHall3, largeHall2

  /// The parameters that it sets, all but `wetDryMix`, which Apple's presets leave alone, too.
  public var parameters: [String: Float] {
    switch self {
    case .smallRoom: Self.room(decay: 0.4, preDelay: 0.002, size: 5, damping: 50, highCut: 12_000)
    case .mediumRoom: Self.room(decay: 0.7, preDelay: 0.006, size: 20, damping: 50, highCut: 12_000)
    case .largeRoom: Self.room(decay: 1.1, preDelay: 0.010, size: 40, damping: 45, highCut: 12_000)
    case .largeRoom2: Self.room(decay: 1.4, preDelay: 0.014, size: 45, damping: 65, highCut: 9000)
    case .mediumHall: Self.room(decay: 1.8, preDelay: 0.020, size: 60, damping: 45, highCut: 11_000)
    case .mediumHall2: Self.room(decay: 2.1, preDelay: 0.024, size: 65, damping: 55, highCut: 9000)
    case .mediumHall3: Self.room(decay: 1.6, preDelay: 0.016, size: 55, damping: 30, highCut: 15_000)
    case .largeHall: Self.room(decay: 2.8, preDelay: 0.030, size: 85, damping: 50, highCut: 10_000)
    case .largeHall2: Self.room(decay: 3.4, preDelay: 0.036, size: 90, damping: 40, highCut: 12_000)
    case .plate:
      Self.room(decay: 1.8, preDelay: 0, size: 40, damping: 25, highCut: 16_000).merging(["character": 1]) { $1 }
    case .mediumChamber: Self.room(decay: 1.2, preDelay: 0.008, size: 30, damping: 30, highCut: 14_000)
    case .largeChamber: Self.room(decay: 1.9, preDelay: 0.012, size: 50, damping: 30, highCut: 14_000)
    case .cathedral: Self.room(decay: 6, preDelay: 0.045, size: 100, damping: 60, highCut: 8000)
    }
  }

  /// All, for the parameter `preset`.
  static let units = allCases.map { UnitPreset($0.rawValue, $0.parameters) }

  private static func room(
    decay: Float, preDelay: Float, size: Float, damping: Float, highCut: Float
  ) -> [String: Float] {
    [
      "decayTime": decay, "preDelay": preDelay, "size": size, "damping": damping, "lowCut": 60, "highCut": highCut,
      "modulationDepth": 30, "width": 100, "character": 0,
    ]
  }
}
