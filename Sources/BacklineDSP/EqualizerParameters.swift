/// The parameters of the equalizer: one for all, then five a band.
enum EqualizerParameters {
  enum Band: Int, CaseIterable {
    case type, frequency, gain, q, enabled

    @_noLocks
    init?(index: Int) { self.init(rawValue: index) }
  }

  static var globalGain: Int { @_noLocks get { 0 } }
  static var firstBand: Int { @_noLocks get { 1 } }
  static var perBand: Int { @_noLocks get { 5 } }

  /// Two thirds of an octave apart (ISO 266), so that bands switched on one after the other cover the range.
  static let defaultFrequencies: [Float] = [
    25, 40, 63, 100, 160, 250, 400, 630, 1000, 1600, 2500, 4000, 6300, 10_000, 16_000, 20_000,
  ]

  static let all: [ParameterDescription] =
    [.init("globalGain", "How much louder or softer all of it gets.", -96...24, default: 0, measure: .decibels)]
    + defaultFrequencies.enumerated().flatMap { band("band\($0.offset + 1)", frequency: $0.element) }

  private static func band(_ name: String, frequency: Float) -> [ParameterDescription] {
    Band.allCases.map { parameter in
      switch parameter {
      case .type:
        .discrete(name + "Type", "The shape of the band.", EqualizerFilterType.allCases.map { "\($0)" })
      case .frequency:
        .init(
          name + "Frequency", "The centre, the corner, or the middle of a shelf's slope.", 20...20_000,
          default: frequency, measure: .hertz, taper: .logarithmic)
      case .gain:
        .init(
          name + "Gain", "How much louder or softer the band gets; without effect on passes and stops.", -96...24,
          default: 0, measure: .decibels)
      case .q:
        .init(
          name + "Q",
          """
          How narrow the band or how resonant the corner is; without effect on lowPass and highPass (Butterworth, 0.7071) \
          and on lowShelf and highShelf (slope 1).
          """,
          0.1...40, default: 0.7071, taper: .logarithmic)
      case .enabled:
        .toggle(name + "Enabled", "Switches the band on.", default: false)
      }
    }
  }
}
