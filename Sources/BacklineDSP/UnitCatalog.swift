/// The kinds of unit that there are.
public struct UnitCatalog: Sendable {
  /// The units that come with Backline, in the order in which they are listed.
  public static let standard = UnitCatalog([
    Gain.description,
    Pan.description,
    Mixer.description,
    Balance.description,
    Width.description,
    Polarity.description,
    ChannelMap.description,
    Crossfader.description,
    Send.description,
    Return.description,
    DCBlocker.description,
    Crossover.description,
    Equalizer.description,
    GraphicEqualizer.description,
    Filter.description,
    AutoWah.description,
    DeEsser.description,
    Compressor.description,
    Gate.description,
    Limiter.description,
    MultibandCompressor.description,
    TransientShaper.description,
    Delay.description,
    Reverb.description,
    Oscillator.description,
    Noise.description,
    Meter.description,
    Spectrum.description,
    Correlation.description,
    Tuner.description,
    Player.description,

    // Drive
    Distortion.description,
    Saturation.description,
    BitCrusher.description,
    Amplifier.description,

    // Modulation
    Chorus.description,
    Flanger.description,
    Phaser.description,
    Tremolo.description,
    Vibrato.description,
    Rotary.description,
    RingModulator.description,

    // Time
    Cabinet.description,
    Convolver.description,
    Looper.description,
    Freeze.description,

    // Pitch
    PitchShifter.description,
    Harmonizer.description,
  ])

  /// The descriptions in order.
  public let descriptions: [UnitDescription]
  private let byKind: [String: Int]

  /// A catalog of these units; a later one replaces an earlier one of the same kind.
  public init(_ descriptions: [UnitDescription]) {
    self.descriptions = descriptions
    byKind = Dictionary(descriptions.indices.map { (descriptions[$0].kind, $0) }, uniquingKeysWith: { $1 })
  }

  /// The description of a kind.
  public subscript(kind: String) -> UnitDescription? { byKind[kind].map { descriptions[$0] } }

  /// This catalog with more units.
  public func adding(_ more: [UnitDescription]) -> UnitCatalog { UnitCatalog(descriptions + more) }
}
