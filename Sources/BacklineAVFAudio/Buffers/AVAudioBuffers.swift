import Backline
import Foundation

/// Samples in memory.
public class AVAudioBuffer: NSObject {
  /// What the samples are.
  public let format: AVAudioFormat

  init(format: AVAudioFormat) { self.format = format }
}

/// Samples in memory; see `PCMBuffer`.
///
/// As on the Mac it may be handed from thread to thread, and belongs to one at a time.
public final class AVAudioPCMBuffer: AVAudioBuffer, @unchecked Sendable {
  // Why unchecked: as on the Mac, whoever hands a buffer on does not use it any more.

  let buffer: PCMBuffer

  /// An empty buffer; `nil` for a format that is not valid, for no frames, and where memory is short.
  public init?(pcmFormat: AVAudioFormat, frameCapacity: AVAudioFrameCount) {
    guard let buffer = PCMBuffer(format: pcmFormat.format, frameCapacity: Int(frameCapacity)) else { return nil }
    self.buffer = buffer
    super.init(format: pcmFormat)
  }

  init(_ buffer: PCMBuffer) {
    self.buffer = buffer
    super.init(format: AVAudioFormat(buffer.format))
  }

  /// The frames that fit.
  public var frameCapacity: AVAudioFrameCount { AVAudioFrameCount(clamping: buffer.frameCapacity) }
  /// The frames that hold sound; a number above the capacity is taken as the capacity.
  public var frameLength: AVAudioFrameCount {
    get { AVAudioFrameCount(clamping: buffer.frameLength) }
    set { buffer.frameLength = Int(newValue) }
  }
  /// The samples from one frame of a channel to the next.
  public var stride: Int { buffer.stride }
  /// A pointer a channel, of 32-bit floating point samples; `nil` for other kinds.
  public var floatChannelData: UnsafePointer<UnsafeMutablePointer<Float>>? { buffer.floatChannelData }
  /// The same of 16-bit samples.
  public var int16ChannelData: UnsafePointer<UnsafeMutablePointer<Int16>>? { buffer.int16ChannelData }
  /// The same of 32-bit whole samples.
  public var int32ChannelData: UnsafePointer<UnsafeMutablePointer<Int32>>? { buffer.int32ChannelData }
}
