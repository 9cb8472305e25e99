import BacklineRealtime
import CBackline
import Synchronization

/// One scheduled piece of sound: a ring between whoever reads it and the render thread, in memory of its own.
///
/// A piece that fits into its ring is kept whole, and repeated from there; any other is read again and again where it loops.
/// What is not atomic is written before the segment is sent to the render thread, or by that thread alone.
public struct SoundSegment: ~Copyable {
  /// The frames that a ring has at most.
  public static let longestRing = 65_536

  /// Told in reports.
  public let id: Int
  public let channelCount: Int
  /// The frames of one pass, at the engine's rate.
  public let frameCount: Int
  /// The frames that fit into the ring.
  public let capacity: Int
  /// Repeated until something ends it.
  public let isLooping: Bool
  /// True where the length shows only when all has been read.
  public let isOpenEnded: Bool
  /// Set where reading has failed.
  let hasFailed = Atomic<Bool>(false)
  /// What it does to pieces before it.
  let entry: Entry
  /// The player's frame to start at; the least number for right after the piece before.
  let startFrame: Int64
  /// One channel after the other, `capacity` samples each.
  public let samples: UnsafeMutablePointer<Float>
  /// The frames written so far, by the reader.
  public let written: Atomic<Int>
  /// The frames played so far, by the render thread.
  public let consumed: Atomic<Int>
  /// True when no more will be written: all is there, or reading has failed.
  public let isComplete = Atomic<Bool>(false)

  /// The next piece in the queue; render thread.
  var next: UnsafeMutablePointer<SoundSegment>?

  /// How a piece begins.
  public enum Entry: UInt8, Sendable {
    /// When the pieces before it have ended.
    case waits
    /// At once, or at its frame: what was before is cut off.
    case interrupts
    /// At the end of the present pass of a loop; anything else is cut off.
    case interruptsAtLoop

    /// True where pieces before it are cut off.
    var cuts: Bool {
      @_noLocks get {
        switch self {
        case .waits: false
        case .interrupts, .interruptsAtLoop: true
        }
      }
    }

    var waitsForLoop: Bool {
      @_noLocks get {
        switch self {
        case .interruptsAtLoop: true
        case .waits, .interrupts: false
        }
      }
    }
  }

  /// A piece of `frameCount` frames (1 or more) that starts `offset` frames into its first pass.
  public init(
    id: Int, channelCount: Int, frameCount: Int, offset: Int = 0, isLooping: Bool = false, entry: Entry = .waits,
    startFrame: Int64? = nil
  ) {
    self.id = id
    self.channelCount = channelCount
    isOpenEnded = false
    self.frameCount = max(1, frameCount)
    self.isLooping = isLooping
    self.entry = entry
    self.startFrame = startFrame ?? .min
    capacity = min(self.frameCount, Self.longestRing)
    samples = .allocate(capacity: capacity * channelCount)
    // A whole piece is read from its first frame on, wherever it starts to play.
    written = Atomic(capacity == self.frameCount ? 0 : offset)
    consumed = Atomic(offset)
  }

  /// A piece whose length shows only when all has been read, with a ring of `capacity` frames.
  public init(
    openEnded id: Int, channelCount: Int, capacity: Int, entry: Entry = .waits, startFrame: Int64? = nil
  ) {
    self.id = id
    self.channelCount = channelCount
    isOpenEnded = true
    frameCount = Int.max / 4
    isLooping = false
    self.entry = entry
    self.startFrame = startFrame ?? .min
    self.capacity = capacity
    samples = .allocate(capacity: capacity * channelCount)
    written = Atomic(0)
    consumed = Atomic(0)
  }

  deinit { samples.deallocate() }

  /// True where all of a pass stays in the ring.
  public var isWhole: Bool { @_noLocks get { capacity == frameCount } }

  /// The frames that can be played at the present position without a break; the largest number where that never ends.
  @_noLocks
  func available(_ position: Int) -> Int {
    let written = written.load(ordering: .acquiring)
    if isWhole && isLooping && written == frameCount { return Int.max }
    return written &- position
  }

  /// True when all frames have been played.
  @_noLocks
  func hasEnded(_ position: Int) -> Bool { !isLooping && position >= frameCount }

  /// The frames from a position to the end of its pass.
  @_noLocks
  func leftOfPass(_ position: Int) -> Int { frameCount &- position % frameCount }

  /// Where the frame at a position lies in the ring of each channel.
  @_noLocks
  func place(_ position: Int) -> Int { position % capacity }

  /// The room for frames that can be written now, in one piece: where they go and how many.
  public func room() -> (at: Int, count: Int) {
    let written = written.load(ordering: .relaxed)
    if isComplete.load(ordering: .relaxed) { return (0, 0) }
    if isWhole { return (written, frameCount - written) }
    let at = written % capacity
    let free = capacity - (written - consumed.load(ordering: .acquiring))
    let left = isLooping ? Int.max : frameCount - written
    return (at, max(0, min(free, capacity - at, left)))
  }

  /// Tells that `count` frames have been written into the room.
  public func advance(by count: Int) {
    let now = written.load(ordering: .relaxed) + count
    written.store(now, ordering: .releasing)
    if now >= frameCount && (isWhole || !isLooping) { isComplete.store(true, ordering: .releasing) }
  }

  /// Tells that reading has failed: what is there is played, and then the piece ends.
  public func breakOff() {
    hasFailed.store(true, ordering: .relaxed)
    isComplete.store(true, ordering: .releasing)
  }

  /// Tells that all of an open-ended piece has been written.
  public func finish() { isComplete.store(true, ordering: .releasing) }

  /// How a piece has ended of which all that is there has been played.
  var earlyEnd: SegmentReport.End {
    @_noLocks get { isOpenEnded && !hasFailed.load(ordering: .relaxed) ? .played : .brokenOff }
  }
}
