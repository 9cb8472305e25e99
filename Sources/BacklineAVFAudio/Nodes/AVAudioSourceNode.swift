import Backline
import Foundation

/// Writes what a source node is asked for.
public typealias AVAudioSourceNodeRenderBlock =
  @Sendable (
    _ isSilence: UnsafeMutablePointer<ObjCBool>, _ timestamp: UnsafePointer<AudioTimeStamp>,
    _ frameCount: AVAudioFrameCount,
    _ outputData: UnsafeMutablePointer<AudioBufferList>
  ) -> OSStatus

/// Reads what a sink node is given.
public typealias AVAudioSinkNodeReceiverBlock =
  @Sendable (
    _ timestamp: UnsafePointer<AudioTimeStamp>, _ frameCount: AVAudioFrameCount,
    _ inputData: UnsafePointer<AudioBufferList>
  ) -> OSStatus

/// A node whose sound a block makes on the render thread; see `SourceNode`. The sound of a block that does not answer `noErr` is
/// silence.
public class AVAudioSourceNode: AVAudioNode, AVAudioMixing, @unchecked Sendable {
  /// A source of two channels at the engine's rate.
  public convenience init(renderBlock block: @escaping AVAudioSourceNodeRenderBlock) { self.init(nil, block) }

  /// A source of a format of its own.
  public convenience init(format: AVAudioFormat, renderBlock block: @escaping AVAudioSourceNodeRenderBlock) {
    self.init(format.format, block)
  }

  private init(_ format: AudioFormat?, _ block: @escaping AVAudioSourceNodeRenderBlock) {
    super.init(
      SourceNode(format: format, state: BufferListMemory()) { memory, call in
        memory.fill(call.channelCount, call.frameCount) { UnsafeMutableRawPointer(call[$0].baseAddress) }
        memory.time.pointee.mSampleTime = Double(call.frame)
        memory.isSilence.pointee = false
        let status = block(memory.isSilence, UnsafePointer(memory.time), UInt32(call.frameCount), memory.list)
        if status != noErr {
          for channel in 0..<call.channelCount { call[channel].update(repeating: 0) }
        }
        if status != noErr || memory.isSilence.pointee.boolValue { call.markSilent() }
      })
  }
}

/// A node that hands sound to a block on the render thread; see `SinkNode`.
public class AVAudioSinkNode: AVAudioNode, @unchecked Sendable {
  /// A sink around a block.
  public init(receiverBlock block: @escaping AVAudioSinkNodeReceiverBlock) {
    super.init(
      SinkNode(state: BufferListMemory()) { memory, call in
        memory.fill(call.channelCount, call.frameCount) { UnsafeMutableRawPointer(mutating: call[$0].baseAddress) }
        memory.time.pointee.mSampleTime = Double(call.frame)
        _ = block(UnsafePointer(memory.time), UInt32(call.frameCount), UnsafePointer(memory.list))
      })
  }
}

/// The list of buffers that a block is handed, made once.
private struct BufferListMemory: ~Copyable {
  let list: UnsafeMutablePointer<AudioBufferList>
  let time: UnsafeMutablePointer<AudioTimeStamp>
  let isSilence: UnsafeMutablePointer<ObjCBool>

  init() {
    list = AudioBufferList.allocate(maximumBuffers: 32).unsafeMutablePointer
    time = .allocate(capacity: 1)
    time.initialize(to: AudioTimeStamp())
    time.pointee.mFlags = .sampleTimeValid
    isSilence = .allocate(capacity: 1)
    isSilence.initialize(to: false)
  }

  deinit {
    list.deallocate()
    time.deallocate()
    isSilence.deallocate()
  }

  func fill(_ channels: Int, _ frames: Int, _ data: (Int) -> UnsafeMutableRawPointer?) {
    let buffers = UnsafeMutableAudioBufferListPointer(list)
    list.pointee.mNumberBuffers = UInt32(channels)
    for channel in 0..<channels {
      buffers[channel] = AudioBuffer(
        mNumberChannels: 1, mDataByteSize: UInt32(frames * MemoryLayout<Float>.stride), mData: data(channel))
    }
  }
}
