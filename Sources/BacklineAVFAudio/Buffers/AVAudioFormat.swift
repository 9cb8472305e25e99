import Backline
import Foundation

/// What samples are; see `AudioFormat`.
public class AVAudioFormat: NSObject, @unchecked Sendable {
  // Why unchecked: nothing changes after init.

  let format: AudioFormat

  init(_ format: AudioFormat) { self.format = format }

  /// 32-bit floating point, one channel after the other; `nil` where there are no channels, more than 32, or no such rate.
  public init?(standardFormatWithSampleRate sampleRate: Double, channels: AVAudioChannelCount) {
    format = AudioFormat(sampleRate: sampleRate, channelCount: Int(channels))
    if !format.isValid { return nil }
  }

  /// Any of the common forms; `nil` as above, and for a form that is none.
  public init?(
    commonFormat: AVAudioCommonFormat, sampleRate: Double, channels: AVAudioChannelCount, interleaved: Bool
  ) {
    guard let sampleType = commonFormat.sampleType else { return nil }
    format = AudioFormat(
      sampleRate: sampleRate, channelCount: Int(channels), sampleType: sampleType, isInterleaved: interleaved)
    if !format.isValid { return nil }
  }

  /// A format from settings with a rate and a number of channels.
  public init?(settings: [String: Any]) {
    guard let rate = (settings[AVSampleRateKey] as? NSNumber)?.doubleValue ?? settings[AVSampleRateKey] as? Double,
      let channels = integer(settings[AVNumberOfChannelsKey])
    else { return nil }
    let isFloat = (settings[AVLinearPCMIsFloatKey] as? Bool) ?? true
    let bits = integer(settings[AVLinearPCMBitDepthKey]) ?? 32
    let type: AudioFormat.SampleType = isFloat ? (bits == 64 ? .float64 : .float32) : (bits == 16 ? .int16 : .int32)
    format = AudioFormat(
      sampleRate: rate, channelCount: channels, sampleType: type,
      isInterleaved: !((settings[AVLinearPCMIsNonInterleaved] as? Bool) ?? true))
    if !format.isValid { return nil }
  }

  /// Frames a second.
  public var sampleRate: Double { format.sampleRate }
  /// The number of channels.
  public var channelCount: AVAudioChannelCount { AVAudioChannelCount(clamping: format.channelCount) }
  /// True where the samples of one frame lie side by side.
  public var isInterleaved: Bool { format.isInterleaved }
  /// True for 32-bit floating point, one channel after the other.
  public var isStandard: Bool { format.isStandard }

  /// Which of the common forms it is.
  public var commonFormat: AVAudioCommonFormat {
    switch format.sampleType {
    case .float32: .pcmFormatFloat32
    case .float64: .pcmFormatFloat64
    case .int16: .pcmFormatInt16
    case .int32: .pcmFormatInt32
    }
  }

  /// The settings of a file with samples of this kind.
  public var settings: [String: Any] {
    [
      AVFormatIDKey: kAudioFormatLinearPCM, AVSampleRateKey: format.sampleRate,
      AVNumberOfChannelsKey: format.channelCount, AVLinearPCMBitDepthKey: format.sampleType.byteCount * 8,
      AVLinearPCMIsFloatKey: format.sampleType == .float32 || format.sampleType == .float64,
      AVLinearPCMIsNonInterleaved: !format.isInterleaved, AVLinearPCMIsBigEndianKey: false,
    ]
  }

  public override var description: String { format.description }
  public override var hash: Int { format.hashValue }
  public override func isEqual(_ object: Any?) -> Bool { (object as? AVAudioFormat)?.format == format }
}

extension AVAudioCommonFormat {
  var sampleType: AudioFormat.SampleType? {
    switch self {
    case .otherFormat: nil
    case .pcmFormatFloat32: .float32
    case .pcmFormatFloat64: .float64
    case .pcmFormatInt16: .int16
    case .pcmFormatInt32: .int32
    }
  }
}

/// A whole number out of settings, of whatever type it was written.
func integer(_ value: Any?) -> Int? {
  switch value {
  case let number as Int: number
  case let number as UInt32: Int(number)
  case let number as Double: Int(exactly: number)
  case let number as NSNumber: number.intValue
  default: nil
  }
}
