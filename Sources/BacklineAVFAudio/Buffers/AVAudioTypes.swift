@_exported import Foundation

/// A number of frames.
public typealias AVAudioFrameCount = UInt32
/// A place in a stream of frames.
public typealias AVAudioFramePosition = Int64
/// A number of channels.
public typealias AVAudioChannelCount = UInt32
/// A bus of a node.
public typealias AVAudioNodeBus = Int
/// Called when something has ended.
public typealias AVAudioNodeCompletionHandler = @Sendable () -> Void
/// Called with what a tap has heard.
public typealias AVAudioNodeTapBlock = @Sendable (AVAudioPCMBuffer, AVAudioTime) -> Void
/// Called when what was scheduled has come to a point.
public typealias AVAudioPlayerNodeCompletionHandler = @Sendable (AVAudioPlayerNodeCompletionCallbackType) -> Void

/// The kinds of sample.
public enum AVAudioCommonFormat: UInt, Sendable {
  case otherFormat = 0
  case pcmFormatFloat32
  case pcmFormatFloat64
  case pcmFormatInt16
  case pcmFormatInt32
}

/// Keys of a file's settings.
public let AVFormatIDKey = "AVFormatIDKey"
/// Frames a second.
public let AVSampleRateKey = "AVSampleRateKey"
/// The number of channels.
public let AVNumberOfChannelsKey = "AVNumberOfChannelsKey"
/// Bits a second of a lossy codec.
public let AVEncoderBitRateKey = "AVEncoderBitRateKey"
/// The bits of a sample: 16, 24, 32, 64.
public let AVLinearPCMBitDepthKey = "AVLinearPCMBitDepthKey"
/// The order of bytes, which the kind of file decides here.
public let AVLinearPCMIsBigEndianKey = "AVLinearPCMIsBigEndianKey"
/// True for floating point.
public let AVLinearPCMIsFloatKey = "AVLinearPCMIsFloatKey"
/// True for one channel after the other.
public let AVLinearPCMIsNonInterleaved = "AVLinearPCMIsNonInterleaved"
/// The kind of file, which the name's ending decides here.
public let AVAudioFileTypeKey = "AVAudioFileTypeKey"
/// Linear PCM, `lpcm`.
public let kAudioFormatLinearPCM: UInt32 = 0x6C70_636D
/// FLAC, `flac`.
public let kAudioFormatFLAC: UInt32 = 0x666C_6163
/// AAC, `aac `.
public let kAudioFormatMPEG4AAC: UInt32 = 0x6161_6320
/// Opus, `opus`.
public let kAudioFormatOpus: UInt32 = 0x6F70_7573

/// The Mac's whole number for success and failure.
public typealias OSStatus = Int32
/// Success.
public let noErr: OSStatus = 0
