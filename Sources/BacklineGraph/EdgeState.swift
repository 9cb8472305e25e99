import BacklineRealtime
import CBackline

/// One source channel's part in one destination channel.
public struct ChannelMix: BitwiseCopyable, Sendable {
  public let source: Int16
  public let destination: Int16
  public let gain: Float

  public init(_ source: Int, _ destination: Int, _ gain: Float = 1) {
    self.source = Int16(source)
    self.destination = Int16(destination)
    self.gain = gain
  }
}

/// A connection as the render thread knows it: its fade, its alignment delay, its loop memory.
///
/// Made and freed by the control queue, like `NodeState`.
public struct EdgeState {
  /// From 0 to 1 when the connection is made, back to 0 when it is taken away (R4).
  var fade: Ramp
  /// Frames to wait before the fade begins, until the alignment line has filled.
  var hold: Int32
  /// Frames until a fade-out over `endRamp` begins; negative where none is planned (R5).
  var endIn: Int32 = -1
  var endRamp: Int32 = 0
  /// The control queue's, which frees it.
  var line: UnsafeMutablePointer<AlignmentLine>?
  /// A quantum of the source's past, for a connection that closes a loop (R7).
  let loop: UnsafeMutablePointer<Float>?
  let channelCount: Int
  let mix: UnsafeMutablePointer<ChannelMix>
  let mixCount: Int

  /// A connection that is silent until a plan fades it in. `mix` is sorted by destination.
  public init(channelCount: Int, mix: [ChannelMix], isFeedback: Bool) {
    fade = Ramp(0)
    hold = 0
    self.channelCount = channelCount
    self.mix = .allocate(capacity: max(1, mix.count))
    for (index, part) in mix.enumerated() { (self.mix + index).initialize(to: part) }
    mixCount = mix.count
    loop = isFeedback ? SampleMemory.allocate(channelCount * Int(Quantum.frames)) : nil
  }

  /// Frees the memory.
  public func deallocate() {
    mix.deallocate()
    if let loop { SampleMemory.free(loop) }
  }
}
