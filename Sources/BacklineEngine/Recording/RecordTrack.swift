import BacklineGraph

/// One track of a recording: where its sound comes from, and where it goes in the ring.
public struct RecordTrack: Sendable, Equatable {
  /// `input` or `output` (all ports, or those of one bus), or a node's output bus.
  public var source: Endpoint
  public let firstChannel: Int
  public let channelCount: Int

  public init(source: Endpoint, firstChannel: Int, channelCount: Int) {
    self.source = source
    self.firstChannel = firstChannel
    self.channelCount = channelCount
  }
}

/// A track as the compiler knows it.
struct RecordStep {
  enum Place: Equatable {
    case input(port: Int32)
    case output(port: Int32)
    case node(slot: Int32, bus: Int32)
    /// Its node is gone: silence.
    case nothing
  }

  let place: Place
  let firstChannel: Int32
  let channelCount: Int32

  func step(_ kind: RenderStep.Kind) -> RenderStep {
    var step = RenderStep(kind)
    step.bus = firstChannel
    step.outputCount = channelCount
    return step
  }
}
