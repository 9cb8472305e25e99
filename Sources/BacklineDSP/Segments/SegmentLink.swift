import BacklineRealtime
import Synchronization

/// What a segment player is told.
public struct SegmentCommand: BitwiseCopyable, Sendable {
  public enum Kind: UInt8, Sendable, BitwiseCopyable {
    /// Puts `segment` at the end of the queue.
    case schedule
    /// Begins to play, at `frame` exactly where it is one.
    case play
    /// Fades out and holds.
    case pause
    /// Fades out, and empties the queue. The player's time begins anew.
    case stop
  }

  public var kind: Kind
  /// An absolute frame; the least number means the coming block.
  public var frame: Int64
  /// The address of a `SoundSegment`.
  public var segment: UInt

  public init(_ kind: Kind, frame: Int64 = .min, segment: UnsafeMutablePointer<SoundSegment>? = nil) {
    self.kind = kind
    self.frame = frame
    self.segment = UInt(bitPattern: segment)
  }
}

/// What a segment player tells of one segment, just once: the render thread does not touch it any more.
public struct SegmentReport: BitwiseCopyable, Sendable {
  public enum End: UInt8, Sendable, BitwiseCopyable {
    /// Its last frame has been rendered.
    case played
    /// It ended early, since its sound could not be read on.
    case brokenOff
    /// Another piece took its place.
    case interrupted
    /// The player was stopped.
    case stopped
  }

  public let end: End
  public let id: Int
  /// The absolute frame after the last one that was heard of it.
  public let frame: Int64

  @_noLocks
  init(_ end: End, id: Int, frame: Int64) {
    self.end = end
    self.id = id
    self.frame = frame
  }
}

/// What a segment player shares with its control side. Lives in memory of its own, which its owner frees when no plan holds
/// the unit any more.
public struct SegmentLink: ~Copyable {
  /// The segments that the render thread may have at a time, so that there is room for a report of each.
  public static let mostSegments = 1_024

  public let commands = RingQueue<SegmentCommand>(capacity: 2 * SegmentLink.mostSegments)
  public let reports = RingQueue<SegmentReport>(capacity: SegmentLink.mostSegments)
  /// An eventfd to be woken when there is a report; -1 for none.
  public let wakeDescriptor = Atomic<Int32>(-1)

  // Written by the render thread.
  /// True from a play that has begun to the next pause or stop.
  public let isRunning = Atomic<Bool>(false)
  /// True while there is something to play.
  public let hasSound = Atomic<Bool>(false)
  /// The player's frame that comes next, and the absolute frame at which it does while it runs. A sequence lock, as `FrameClock`'s.
  let sequence = Atomic<Int>(0)
  let playerFrame = Atomic<Int64>(0)
  let absoluteFrame = Atomic<Int64>(0)
  /// The frames of sound that have been played since the last stop.
  public let position = Atomic<Int64>(0)
  /// The times that sound was due and had not been read yet.
  public let underruns = Atomic<Int>(0)
  /// The starts and pieces that came after their frame.
  public let lateStarts = Atomic<Int>(0)

  public init() {}

  @_noLocks
  func publish(playerFrame: Int64, absoluteFrame: Int64) {
    let before = sequence.load(ordering: .relaxed)
    sequence.store(before &+ 1, ordering: .relaxed)
    atomicMemoryFence(ordering: .releasing)
    self.playerFrame.store(playerFrame, ordering: .relaxed)
    self.absoluteFrame.store(absoluteFrame, ordering: .relaxed)
    sequence.store(before &+ 2, ordering: .releasing)
  }

  /// The player's frame that comes next, and the absolute frame that it comes at where the player runs. Any thread.
  public var time: (playerFrame: Int64, absoluteFrame: Int64) {
    while true {
      let before = sequence.load(ordering: .acquiring)
      let time = (playerFrame.load(ordering: .relaxed), absoluteFrame.load(ordering: .relaxed))
      atomicMemoryFence(ordering: .acquiring)
      if before & 1 == 0 && sequence.load(ordering: .relaxed) == before { return time }
    }
  }
}
