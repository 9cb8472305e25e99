import BacklineRealtime
import CBackline
import Synchronization

/// Plays a queue of segments, with any number of channels; what the library's player node renders with.
///
/// The rules:
/// - A start at a frame, and a piece at a frame of the player's, are exact. What comes late starts at once and is counted.
/// - Pieces follow each other without a gap, to the frame. A cut lets the old piece fade out under the new one.
/// - Pause fades out over the ramp while the sound runs on, and holds it there; the player's time stands still.
/// - Sound that is due and not there is silence: counted once a gap. The piece waits, the player's time goes on.
public struct SegmentPlayer: RenderUnit, ~Copyable {
  public static let functions = UnitFunctions(
    render: segmentPlayerRender, set: segmentPlayerSet, reset: segmentPlayerReset, tail: segmentPlayerTail)

  /// The description of one player.
  public static func description(
    kind: String, channelCount: Int, make: @escaping @Sendable (UnitFormat) -> UnitInstance
  ) -> UnitDescription {
    UnitDescription(
      kind: kind, title: "Player", summary: "Plays what has been scheduled.", inputs: [],
      outputs: [.init("output", channels: channelCount)], parameters: [], make: make)
  }

  private var transport: SegmentTransport
  private let channelCount: Int
  /// Keeps the link's memory; never touched while rendering.
  private let owner: AnyObject?

  /// A player of the link's queue; `owner` owns the link.
  public init(
    _ format: UnitFormat, channelCount: Int, link: UnsafeMutablePointer<SegmentLink>, playerFrame: Int64,
    position: Int64, isRunning: Bool, owner: AnyObject
  ) {
    self.channelCount = channelCount
    self.owner = owner
    transport = SegmentTransport(link: link, rampFrames: format.rampFrames)
    transport.playerFrame = playerFrame
    transport.position = position
    transport.isRunning = isRunning
    transport.publish(at: 0)
  }

  deinit { transport.deallocate() }

  /// Takes in what waits, at once and without fades, while nothing renders; `frame` is the coming one.
  public static func takeInWhileIdle(_ state: UnsafeMutableRawPointer, at frame: Int64) {
    let unit = state.assumingMemoryBound(to: SegmentPlayer.self)
    let ramp = unit.pointee.transport.rampFrames
    unit.pointee.transport.rampFrames = 0
    unit.pointee.transport.receive(at: frame)
    unit.pointee.transport.rampFrames = ramp
    unit.pointee.transport.endVoices(at: frame)
    unit.pointee.transport.publish(at: frame)
  }

  @_noLocks
  mutating func render(_ block: borrowing RenderBlock) {
    let count = Int(block.frameCount)
    if count <= 0 { return }
    transport.receive(at: block.frame)
    for channel in 0..<channelCount { backline_zero(block.output(0, channel), Int64(count)) }
    let channels = block.outputs.unsafelyUnwrapped[0].channels
    if !transport.render(channels, channelCount, frame: block.frame, count: count) {
      block.outputs.unsafelyUnwrapped[0].isSilent = true
    }
    transport.publish(at: block.frame &+ Int64(count))
  }
}

@_noLocks
private func segmentPlayerRender(_ state: UnsafeMutableRawPointer, _ block: UnsafePointer<RenderBlock>) {
  state.assumingMemoryBound(to: SegmentPlayer.self).pointee.render(block.pointee)
}

@_noLocks
private func segmentPlayerSet(
  _ state: UnsafeMutableRawPointer, _ parameter: Int32, _ value: Float, _ rampFrames: Int32
) {}

/// What has been scheduled is no memory of past sound.
@_noLocks
private func segmentPlayerReset(_ state: UnsafeMutableRawPointer) {}

@_noLocks
private func segmentPlayerTail(_ state: UnsafeMutableRawPointer) -> Int64 { Tail.endless }
