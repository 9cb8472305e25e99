import CBackline
import Synchronization

/// The place in a recorder's ring from which on the frames belong to another time than those before.
struct RecordJump: BitwiseCopyable {
  /// Counted in frames that went through the ring.
  let position: Int
  /// The frame of the first one from there on, on the recording's clock.
  let frame: Int64
  /// How many of the frames that are missing before it the sound server has lost.
  let serverFrames: Int64
}

/// Frames of all the tracks of a recording on their way from a render thread to the thread that writes them down.
///
/// All channels have one head and one tail, so that tracks cannot drift apart. Where the reader is too slow whole stretches are
/// left out, and where time jumps for another reason it says so: what stands in the ring is a row of stretches, each with the
/// frame that it begins with. Neither side ever waits.
public struct RecordRing: ~Copyable {
  public let channelCount: Int
  /// The frames that fit.
  public let capacity: Int
  private let stride: Int
  private static var jumpCapacity: Int { @_noLocks get { 1024 } }
  private let samples: UnsafeMutablePointer<Float>
  private let jumps: UnsafeMutablePointer<RecordJump>
  private let head = Atomic<Int>(0)  // frames written, the render thread's
  private let tail = Atomic<Int>(0)  // frames read, the reader's
  private let jumpHead = Atomic<Int>(0)
  private let jumpTail = Atomic<Int>(0)
  private let lost = Atomic<Int>(0)
  private let clock = Atomic<Int64>(0)
  /// What the server has lost so far: a recording's clock goes on while the engine's stands still.
  private let shift = Atomic<Int64>(0)
  private let behind = Atomic<Bool>(false)

  // The render thread's alone.
  private var nextFrame = Int64.min
  private var pendingServerFrames: Int64 = 0
  private var isOpen = false

  /// The bytes that a ring takes.
  public static func bytes(channelCount: Int, frames: Int) -> Int { 4 * channelCount * (size(frames) + 16) }

  private static func size(_ frames: Int) -> Int {
    var size = 512
    while size < frames { size *= 2 }
    return size
  }

  /// Room for at least `frames` frames of `channelCount` channels: 4 bytes each.
  public init(channelCount: Int, frames: Int) {
    let size = Self.size(frames)
    capacity = size
    // A cache line more, so that equal places of many channels do not fall into the same cache sets.
    stride = size + 16
    self.channelCount = channelCount
    samples = SampleMemory.allocate(stride * channelCount)
    // A queue of its own kind: a generic one is refused here by the check for allocations.
    jumps = .allocate(capacity: Self.jumpCapacity)
    jumps.initialize(repeating: RecordJump(position: 0, frame: 0, serverFrames: 0), count: Self.jumpCapacity)
  }

  deinit {
    SampleMemory.free(samples)
    jumps.deallocate()
  }

  // MARK: Render thread

  /// Goes on where another ring has stopped, on the same clock; before the first stretch.
  @_noLocks
  public mutating func follow(_ ring: UnsafeMutablePointer<RecordRing>) {
    shift.store(ring.pointee.shift.load(ordering: .relaxed), ordering: .relaxed)
    pendingServerFrames = ring.pointee.pendingServerFrames
    clock.store(ring.pointee.clock.load(ordering: .relaxed), ordering: .relaxed)
  }

  /// Begins a stretch of `count` frames at the engine's frame `frame`, right before which the server has lost `serverFrames`.
  /// Where there is no room it is left out, and so is all that is written to it.
  @_noLocks
  public mutating func begin(_ frame: Int64, _ count: Int, serverFrames: Int64) {
    let shift = shift.load(ordering: .relaxed) &+ serverFrames
    self.shift.store(shift, ordering: .relaxed)
    pendingServerFrames &+= serverFrames
    let at = head.load(ordering: .relaxed)
    let place = frame &+ shift
    clock.store(place &+ Int64(count), ordering: .relaxed)
    isOpen = at &- tail.load(ordering: .acquiring) &+ count <= capacity
    if isOpen && place != nextFrame {
      isOpen = jump(RecordJump(position: at, frame: place, serverFrames: pendingServerFrames))
    }
    behind.store(!isOpen, ordering: .relaxed)
    if isOpen {
      nextFrame = place &+ Int64(count)
    } else {
      lost.store(lost.load(ordering: .relaxed) &+ count, ordering: .relaxed)
    }
  }

  @_noLocks
  private mutating func jump(_ jump: RecordJump) -> Bool {
    let at = jumpHead.load(ordering: .relaxed)
    if at &- jumpTail.load(ordering: .acquiring) >= Self.jumpCapacity { return false }
    jumps[at & (Self.jumpCapacity &- 1)] = jump
    jumpHead.store(at &+ 1, ordering: .releasing)
    pendingServerFrames = 0
    return true
  }

  /// Writes `count` samples of the present stretch; silence where there are none.
  @_noLocks
  public func write(_ channel: Int, _ source: UnsafePointer<Float>?, count: Int) {
    if !isOpen { return }
    let line = samples + channel &* stride
    let at = head.load(ordering: .relaxed) & (capacity &- 1)
    let first = min(count, capacity &- at)
    if let source {
      backline_copy(line + at, source, Int64(first))
      backline_copy(line, source + first, Int64(count &- first))
    } else {
      backline_zero(line + at, Int64(first))
      backline_zero(line, Int64(count &- first))
    }
  }

  /// Ends the stretch, which has been written to all channels.
  @_noLocks
  public func end(_ count: Int) {
    if isOpen { head.store(head.load(ordering: .relaxed) &+ count, ordering: .releasing) }
  }

  // MARK: Reader

  /// What comes next: a jump, or frames that follow on those before.
  public enum Next: Sendable, Equatable {
    case nothing
    case jump(to: Int64, serverFrames: Int64)
    case frames(Int)
  }

  /// Looks at what comes next; a jump is taken by that.
  public func next() -> Next {
    let at = tail.load(ordering: .relaxed)
    let available = head.load(ordering: .acquiring) &- at
    let jumpAt = jumpTail.load(ordering: .relaxed)
    if jumpAt == jumpHead.load(ordering: .acquiring) { return available > 0 ? .frames(available) : .nothing }
    let jump = jumps[jumpAt & (Self.jumpCapacity &- 1)]
    if jump.position > at { return available > 0 ? .frames(min(available, jump.position - at)) : .nothing }
    jumpTail.store(jumpAt &+ 1, ordering: .releasing)
    return .jump(to: jump.frame, serverFrames: jump.serverFrames)
  }

  /// Copies `count` frames of the channels in `channels`, interleaved, from `offset` frames behind the tail.
  public func read(
    _ channels: Range<Int>, offset: Int = 0, count: Int, into target: UnsafeMutablePointer<Float>
  ) {
    let start = tail.load(ordering: .relaxed) &+ offset
    let width = channels.count
    for (place, channel) in channels.enumerated() {
      let line = samples + channel * stride
      for index in 0..<count { target[index &* width &+ place] = line[(start &+ index) & (capacity &- 1)] }
    }
  }

  /// Gives the room of `count` frames back.
  public func advance(_ count: Int) {
    tail.store(tail.load(ordering: .relaxed) &+ count, ordering: .releasing)
  }

  /// True once something has been written: what went before it in another ring is all there by then.
  public var hasBegun: Bool { jumpHead.load(ordering: .acquiring) > 0 }

  /// The frames that wait.
  public var waitingFrames: Int { head.load(ordering: .acquiring) &- tail.load(ordering: .relaxed) }

  /// True while frames are being left out: what the clock says will not come. Any thread.
  public var isBehind: Bool { behind.load(ordering: .relaxed) }

  /// The frames that were left out for want of room. Any thread.
  public var lostFrames: Int { lost.load(ordering: .relaxed) }

  /// The frame after the last one that was rendered, on the recording's clock, written down or not. Any thread.
  public var currentFrame: Int64 { clock.load(ordering: .relaxed) }

  /// By how many frames the recording's clock is ahead of the engine's by now. Any thread.
  public var serverFrames: Int64 { shift.load(ordering: .relaxed) }
}

/// A ring in memory of its own, for as long as anybody holds this.
public final class RecordMemory: @unchecked Sendable {
  // Why unchecked: the ring is shared by its own rules.

  public let ring: UnsafeMutablePointer<RecordRing>

  public init(channelCount: Int, frames: Int) {
    ring = .allocate(capacity: 1)
    ring.initialize(to: RecordRing(channelCount: channelCount, frames: frames))
  }

  deinit {
    ring.deinitialize(count: 1)
    ring.deallocate()
  }
}
