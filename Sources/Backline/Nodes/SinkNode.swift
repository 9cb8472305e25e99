import BacklineDSP
import CBackline

/// A node that hands sound to a function, on the render thread; silence, too. It may be connected anywhere.
///
/// For the function the same holds as for that of a `SourceNode`. Where it may take its time, use a tap.
public final class SinkNode: AudioNode, @unchecked Sendable {
  /// A function in the manner of C: it reads `channelCount` channels of `frameCount` samples each.
  public typealias Function =
    @convention(c) (
      _ reference: UnsafeMutableRawPointer?, _ channels: UnsafePointer<UnsafePointer<Float>>, _ channelCount: Int32,
      _ frameCount: Int32, _ frame: Int64
    ) -> Void

  private let box: CallbackBox

  /// A sink around a closure that keeps no state of its own.
  public convenience init(receive: @escaping @Sendable (SinkBlock) -> Void) {
    self.init(state: ()) { _, block in receive(block) }
  }

  /// A sink around a closure and the state that it alone uses, which lives as long as the node.
  public init<State: ~Copyable>(
    state: consuming sending State, receive: @escaping @Sendable (inout State, SinkBlock) -> Void
  ) {
    let memory = CallbackState(state)
    box = CallbackBox { box, block in
      receive(&memory.pointer.pointee, SinkBlock(block, sampleRate: box.sampleRate))
    }
  }

  /// A sink around a function in the manner of C. Whatever `reference` points to has to outlive the node.
  public init(function: @escaping Function, reference: UnsafeMutableRawPointer?) {
    nonisolated(unsafe) let reference = reference
    box = CallbackBox { _, block in
      guard let input = block.pointee.inputs else { return }
      let channels = UnsafeRawPointer(input[0].channels).assumingMemoryBound(to: UnsafePointer<Float>.self)
      function(reference, channels, input[0].channelCount, block.pointee.frameCount, block.pointee.frame)
    }
  }

  public override var inputCount: Int { 1 }
  override var kindName: String { "sink node" }
  override var hasFreeChannels: Bool { true }

  override func realization(kind: String, channelCount: Int) -> NodeRealization? {
    let box = box
    return .own(
      CallbackSink.description(
        kind: kind, channelCount: channelCount, function: callBack, context: box.context, owner: box
      ) { box.sampleRate = $0 })
  }
}

/// The frames that a sink node is given. Valid during the call only.
public struct SinkBlock {
  private let block: UnsafePointer<RenderBlock>
  /// Frames a second.
  public let sampleRate: Double

  init(_ block: UnsafePointer<RenderBlock>, sampleRate: Double) {
    self.block = block
    self.sampleRate = sampleRate
  }

  /// The number of frames.
  public var frameCount: Int { Int(block.pointee.frameCount) }
  /// The number of channels.
  public var channelCount: Int { block.pointee.inputs.map { Int($0[0].channelCount) } ?? 0 }
  /// The engine's frame of the first of them, counted from its first one ever.
  public var frame: Int64 { block.pointee.frame }
  /// True where every sample is known to be zero.
  public var isSilent: Bool { block.pointee.inputs?[0].isSilent ?? true }

  /// The samples of a channel; empty where there is no such channel.
  public subscript(channel: Int) -> UnsafeBufferPointer<Float> {
    guard let input = block.pointee.inputs, (0..<channelCount).contains(channel) else {
      return UnsafeBufferPointer(start: nil, count: 0)
    }
    return UnsafeBufferPointer(start: input[0].channels[channel], count: frameCount)
  }
}
