import Foundation

/// The shapes of a band.
public enum AVAudioUnitEQFilterType: Int, Sendable {
  case parametric = 0
  case lowPass, highPass, resonantLowPass, resonantHighPass, bandPass, bandStop, lowShelf, highShelf, resonantLowShelf
  case resonantHighShelf
}

/// One band of an equalizer.
public class AVAudioUnitEQFilterParameters: NSObject, @unchecked Sendable {
  // Why unchecked: the unit underneath is Sendable.

  private weak var unit: AVAudioUnitEQ?
  private let prefix: String

  init(_ unit: AVAudioUnitEQ, band: Int) {
    self.unit = unit
    prefix = "band\(band + 1)"
  }

  private func value(_ name: String) -> Float { unit?.value(prefix + name) ?? 0 }
  private func set(_ name: String, _ value: Float) { unit?.set(prefix + name, value) }

  /// The shape.
  public var filterType: AVAudioUnitEQFilterType {
    get { AVAudioUnitEQFilterType(rawValue: Int(value("Type"))) ?? .parametric }
    set { set("Type", Float(newValue.rawValue)) }
  }

  /// Hz.
  public var frequency: Float {
    get { value("Frequency") }
    set { set("Frequency", newValue) }
  }

  /// The width in octaves, 0.05 to 5; of the pass filters and shelves that have one, their resonance.
  public var bandwidth: Float {
    get {
      // From Q to octaves (R. Bristow-Johnson, "Cookbook formulae for audio EQ biquad filter coefficients").
      let half = 1 / (2 * value("Q"))
      return 2 / Float(M_LN2) * asinh(half)
    }
    set {
      let octaves = newValue >= 0.05 ? min(newValue, 5) : 0.05
      set("Q", 1 / (2 * sinh(Float(M_LN2) / 2 * octaves)))
    }
  }

  /// dB, -96 to 24.
  public var gain: Float {
    get { value("Gain") }
    set { set("Gain", newValue) }
  }

  /// True leaves the band out, as all are at first.
  public var bypass: Bool {
    get { value("Enabled") == 0 }
    set { set("Enabled", newValue ? 0 : 1) }
  }
}

/// An equalizer of up to 16 bands.
public class AVAudioUnitEQ: AVAudioUnitEffect, @unchecked Sendable {
  private var all: [AVAudioUnitEQFilterParameters] = []

  /// An equalizer; of more than 16 bands it has 16.
  public init(numberOfBands: Int) {
    super.init(kind: "equalizer")
    all = (0..<min(max(0, numberOfBands), 16)).map { AVAudioUnitEQFilterParameters(self, band: $0) }
  }

  /// An equalizer of one band.
  public convenience init() { self.init(numberOfBands: 1) }

  /// The bands.
  public var bands: [AVAudioUnitEQFilterParameters] { all }

  /// dB, -96 to 24.
  public var globalGain: Float {
    get { value("globalGain") }
    set { set("globalGain", newValue) }
  }
}
