import BacklineDSP
import CBackline

/// A node whose sound a function makes, frame by frame, on the render thread.
///
/// The function is called for any number of frames, 1 to 256 a time, one call after the other. It must be done well within
/// their time: it may not wait, lock, allocate, or call the system. In builds with RealtimeSanitizer it is checked for that like the
/// engine itself. What it captures it must not share with other threads, except through atomics.
public final class SourceNode: AudioNode, @unchecked Sendable {
  /// A function in the manner of C: it writes `channelCount` channels of `frameCount` samples each, which are zero before.
  public typealias Function =
    @convention(c) (
      _ reference: UnsafeMutableRawPointer?, _ channels: UnsafePointer<UnsafeMutablePointer<Float>>,
      _ channelCount: Int32,
      _ frameCount: Int32, _ frame: Int64
    ) -> Void

  /// The format that the function writes; `nil` for two channels at the engine's rate.
  public let format: AudioFormat?
  private let box: CallbackBox

  /// A source around a closure that keeps no state of its own.
  public convenience init(format: AudioFormat? = nil, render: @escaping @Sendable (SourceBlock) -> Void) {
    self.init(format: format, state: ()) { _, block in render(block) }
  }

  /// A source around a closure and the state that it alone uses (a phase, a filter's memory), which lives as long as the node.
  public init<State: ~Copyable>(
    format: AudioFormat? = nil, state: consuming sending State,
    render: @escaping @Sendable (inout State, SourceBlock) -> Void
  ) {
    self.format = format?.standard
    let memory = CallbackState(state)
    box = CallbackBox { box, block in
      render(&memory.pointer.pointee, SourceBlock(block, sampleRate: box.sampleRate))
    }
  }

  /// A source around a function in the manner of C. Whatever `reference` points to has to outlive the node.
  public init(format: AudioFormat? = nil, function: @escaping Function, reference: UnsafeMutableRawPointer?) {
    self.format = format?.standard
    nonisolated(unsafe) let reference = reference
    box = CallbackBox { _, block in
      guard let output = block.pointee.outputs else { return }
      function(
        reference, output[0].channels, output[0].channelCount, block.pointee.frameCount, block.pointee.frame)
    }
  }

  public override var outputCount: Int { 1 }
  override var kindName: String { "source node" }
  override var hasFreeChannels: Bool { format == nil }
  override var isSource: Bool { true }

  override func naturalFormat(isInput: Bool, bus: Int, sampleRate: Double) -> AudioFormat {
    format ?? AudioFormat(sampleRate: sampleRate, channelCount: 2)
  }

  override func realization(kind: String, channelCount: Int) -> NodeRealization? {
    let box = box
    return .own(
      CallbackSource.description(
        kind: kind, channelCount: channelCount, sampleRate: format?.sampleRate, function: callBack,
        context: box.context,
        owner: box
      ) { box.sampleRate = $0 })
  }
}

/// The frames that a source node is asked for. Valid during the call only.
public struct SourceBlock {
  private let block: UnsafePointer<RenderBlock>
  /// Frames a second.
  public let sampleRate: Double

  init(_ block: UnsafePointer<RenderBlock>, sampleRate: Double) {
    self.block = block
    self.sampleRate = sampleRate
  }

  /// The number of frames to be written.
  public var frameCount: Int { Int(block.pointee.frameCount) }
  /// The number of channels.
  public var channelCount: Int { block.pointee.outputs.map { Int($0[0].channelCount) } ?? 0 }
  /// The engine's frame that the first of them is heard at, counted from its first one ever.
  public var frame: Int64 { block.pointee.frame }

  /// The samples of a channel, all zero at first; empty where there is no such channel.
  public subscript(channel: Int) -> UnsafeMutableBufferPointer<Float> {
    guard let output = block.pointee.outputs, (0..<channelCount).contains(channel) else {
      return UnsafeMutableBufferPointer(start: nil, count: 0)
    }
    return UnsafeMutableBufferPointer(start: output[0].channels[channel], count: frameCount)
  }

  /// Says that every sample is zero, which saves others the work on them.
  public func markSilent() { block.pointee.outputs?[0].isSilent = true }
}
