import BacklineDSP
import BacklineMedia
import Synchronization

/// Something that has been scheduled with a player, until it has ended.
final class ScheduledSound: @unchecked Sendable {
  // Why unchecked: what changes belongs to the schedule, under its lock; the sound itself never changes.

  enum Content {
    /// A copy of a buffer's sound.
    case buffer(PCMBuffer)
    /// Frames of a file, at its own rate.
    case file(AudioFile, start: Int64, count: Int64)
  }

  let id: Int
  let content: Content
  let options: PlaybackOptions
  /// The player's frame to start at.
  let startFrame: Int64?
  let stage: PlaybackStage
  let completion: (@Sendable (PlaybackEnd) -> Void)?

  /// The present form for the render thread.
  var feed: SegmentFeed?
  var isSent = false
  /// Frames of it that had been played when the engine changed its rate or the player its channels, at the source's rate.
  var playedBefore: Int64 = 0
  var failure: AudioError?

  init(
    id: Int, content: Content, options: PlaybackOptions, startFrame: Int64?, stage: PlaybackStage,
    completion: (@Sendable (PlaybackEnd) -> Void)?
  ) {
    self.id = id
    self.content = content
    self.options = options
    self.startFrame = startFrame
    self.stage = stage
    self.completion = completion
  }

  var sourceFormat: AudioFormat {
    switch content {
    case .buffer(let buffer): buffer.format
    case .file(let file, _, _): file.processingFormat
    }
  }

  /// The length in frames of the source's own rate.
  var sourceFrames: Int64 {
    switch content {
    case .buffer(let buffer): Int64(buffer.frameLength)
    case .file(_, _, let count): count
    }
  }

  var entry: SoundSegment.Entry {
    if options.contains(.interruptsAtLoop) { return .interruptsAtLoop }
    return options.contains(.interrupts) ? .interrupts : .waits
  }
}
