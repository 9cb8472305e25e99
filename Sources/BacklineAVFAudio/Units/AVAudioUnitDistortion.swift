import Foundation

/// The Mac's distortions.
public enum AVAudioUnitDistortionPreset: Int, Sendable {
  case drumsBitBrush = 0
  case drumsBufferBeats, drumsLoFi, multiBrokenSpeaker, multiCellphoneConcert, multiDecimated1, multiDecimated2
  case multiDecimated3, multiDecimated4, multiDistortedFunk, multiDistortedCubed, multiDistortedSquared, multiEcho1
  case multiEcho2, multiEchoTight1, multiEchoTight2, multiEverythingIsBroken, speechAlienChatter
  case speechCosmicInterference, speechGoldenPi, speechRadioTower, speechWaves

  /// What Backline's own distortion is set to: the curve by its number, drive in dB, asymmetry in percent and the bounds in Hz.
  /// They keep to the character of the names as far as a curve between two filters can; decimation and echoes are not in them.
  var settings: (curve: Float, drive: Float, asymmetry: Float, lowCut: Float, highCut: Float) {
    switch self {
    case .drumsBitBrush, .drumsLoFi: (2, 24, 0, 60, 6_000)
    case .drumsBufferBeats, .multiDistortedFunk: (1, 18, 20, 60, 9_000)
    case .multiBrokenSpeaker, .multiEverythingIsBroken: (3, 40, 40, 200, 3_500)
    case .multiCellphoneConcert, .speechRadioTower: (2, 20, 0, 400, 3_200)
    case .multiDecimated1, .multiDecimated2, .multiDecimated3, .multiDecimated4: (2, 30, 0, 80, 5_000)
    case .multiDistortedCubed: (0, 30, 0, 60, 10_000)
    case .multiDistortedSquared: (4, 24, 50, 60, 10_000)
    case .multiEcho1, .multiEcho2, .multiEchoTight1, .multiEchoTight2: (0, 14, 10, 60, 12_000)
    case .speechAlienChatter, .speechCosmicInterference: (4, 30, 0, 250, 6_000)
    case .speechGoldenPi, .speechWaves: (0, 20, 30, 150, 5_000)
    }
  }
}

/// Distortion.
public class AVAudioUnitDistortion: AVAudioUnitEffect, @unchecked Sendable {
  private var drive: Float = 20
  private var gain: Float = -6

  /// With the Mac's first values.
  public init() {
    super.init(kind: "distortion")
    wetDryMix = 50
  }

  /// Takes one of the distortions. The mix stays.
  public func loadFactoryPreset(_ preset: AVAudioUnitDistortionPreset) {
    let settings = preset.settings
    drive = settings.drive
    set("curve", settings.curve)
    set("asymmetry", settings.asymmetry)
    set("lowCut", settings.lowCut)
    set("highCut", settings.highCut)
    preGain = gain
  }

  /// The level in front of the curve, -80 to 20 dB, added to that of the preset.
  public var preGain: Float {
    get { gain }
    set {
      gain = newValue >= -80 ? min(newValue, 20) : -80
      set("drive", drive + gain + 6)
    }
  }

  /// How much of the output is distorted: 0 to 100.
  public var wetDryMix: Float {
    get { value("wetDryMix") }
    set { set("wetDryMix", newValue) }
  }
}
