import BacklineRealtime
import CBackline
import Synchronization

/// Wakes one thread for many senders, with one system call however many have something for it, and none while it looks by itself.
public struct WakeSignal: ~Copyable {
  /// Set by a sender, cleared by the thread before it looks around.
  ///
  /// A sender that finds it set does nothing, and does not even wait for its stores to be seen, which would cost more than all else
  /// of many small blocks. So the thread looks around once more a while after it has cleared this.
  public let isPending = Atomic<Bool>(false)
  private let descriptor: Int32

  /// A signal by an eventfd.
  public init(descriptor: Int32) { self.descriptor = descriptor }

  /// Render thread.
  @_noLocks
  public func raise() {
    if isPending.load(ordering: .relaxed) { return }
    if !isPending.exchange(true, ordering: .acquiringAndReleasing) { backline_wake(descriptor) }
  }
}

/// The blocks of one tap on their way from the render thread to whoever wants them, in memory of its own.
public struct TapLink: ~Copyable {
  /// What is known of a block.
  public struct Header: BitwiseCopyable, Sendable {
    /// The absolute frame of its first sample.
    public let frame: Int64
    /// Counts the blocks, from 0.
    public let sequence: Int
    /// The frames that had to be left out right before this block.
    public let droppedFrames: Int
  }

  public let channelCount: Int
  /// The frames of a block.
  public let blockFrames: Int
  public let slotCount: Int
  public let sampleRate: Double
  let signal: UnsafeMutablePointer<WakeSignal>
  /// Frames left out since the beginning.
  public let droppedFrames = Atomic<Int>(0)
  /// The slots: a cache line with the header, then one channel after the other, up to the end of a line.
  fileprivate let slots: UnsafeMutablePointer<Float>
  fileprivate let slotStride: Int
  // What one of the two threads writes stands on a cache line of its own, as these are aligned.
  private let apart = SIMD16<Float>(repeating: 0)
  let head = Atomic<Int>(0)
  private let farApart = SIMD16<Float>(repeating: 0)
  let tail = Atomic<Int>(0)

  /// Samples in a cache line, which is more than a header takes.
  private static var line: Int { 16 }

  /// For a second of sound, and for four blocks at least.
  private static func slotCount(_ blockFrames: Int, _ sampleRate: Double) -> Int {
    max(4, Int(sampleRate) / blockFrames + 1)
  }

  private static func slotStride(_ channelCount: Int, _ blockFrames: Int) -> Int {
    line + (channelCount * blockFrames + line - 1) / line * line
  }

  /// The bytes that a link takes.
  static func bytes(channelCount: Int, blockFrames: Int, sampleRate: Double) -> Int {
    4 * slotCount(blockFrames, sampleRate) * slotStride(channelCount, blockFrames)
  }

  public init(channelCount: Int, blockFrames: Int, sampleRate: Double, signal: UnsafeMutablePointer<WakeSignal>) {
    self.channelCount = channelCount
    self.blockFrames = blockFrames
    self.sampleRate = sampleRate
    self.signal = signal
    slotCount = Self.slotCount(blockFrames, sampleRate)
    slotStride = Self.slotStride(channelCount, blockFrames)
    slots = SampleMemory.allocate(slotCount * slotStride)
  }

  deinit { SampleMemory.free(slots) }

  /// Hands the oldest block to `body` and gives its place back; false where there is none. One thread at a time.
  public func take(_ body: (Header, _ channel: (Int) -> UnsafePointer<Float>) -> Void) -> Bool {
    let at = tail.load(ordering: .relaxed)
    if at == head.load(ordering: .acquiring) { return false }
    let slot = TapSlot(slots + at % slotCount * slotStride, blockFrames: blockFrames)
    body(slot.header.pointee) { UnsafePointer(slot.channel($0)) }
    tail.store(at + 1, ordering: .releasing)
    return true
  }
}

/// The place of one block in a link's memory.
private struct TapSlot {
  let header: UnsafeMutablePointer<TapLink.Header>
  private let samples: UnsafeMutablePointer<Float>
  private let blockFrames: Int

  @_noLocks
  init(_ base: UnsafeMutablePointer<Float>, blockFrames: Int) {
    header = UnsafeMutableRawPointer(base).assumingMemoryBound(to: TapLink.Header.self)
    samples = base + 16
    self.blockFrames = blockFrames
  }

  @_noLocks
  func channel(_ channel: Int) -> UnsafeMutablePointer<Float> { samples + channel &* blockFrames }
}

/// Listens on a bus: cuts what passes into blocks of one length and hands them to another thread, silence too.
///
/// Where that thread is too slow, whole stretches are left out and counted with the next block.
public struct StreamTap: RenderUnit, ~Copyable {
  public static let functions = UnitFunctions(
    render: streamTapRender, set: callbackSet, reset: callbackReset, tail: callbackTail, isSleepless: true)

  /// The description of one tap.
  public static func description(
    kind: String, channelCount: Int, blockFrames: Int, make: @escaping @Sendable (UnitFormat) -> UnitInstance
  ) -> UnitDescription {
    UnitDescription(
      kind: kind, title: "Tap", summary: "Hands what passes to another thread.",
      inputs: [.init("input", channels: channelCount)], outputs: [], parameters: [],
      memory: TapLink.bytes(channelCount: channelCount, blockFrames: blockFrames, sampleRate: 48_000), make: make)
  }

  private let link: UnsafeMutablePointer<TapLink>
  /// Keeps the link; never touched while rendering.
  private let owner: AnyObject?
  // The link's, here since they are looked at all the time.
  private let channelCount: Int
  private let blockFrames: Int
  private let slotCount: Int
  private let slotStride: Int
  private let slots: UnsafeMutablePointer<Float>
  /// The block that is being filled, counted in the link, and its place there.
  private var head = 0
  private var place = 0
  /// Blocks that had been taken when that was looked at last.
  private var seenTail = 0
  /// Frames in the block that is being filled.
  private var filled = 0
  private var sequence = 0
  private var dropped = 0
  private var nextFrame = Int64.min

  /// A tap into `link`, which `owner` owns and nothing has gone through yet. Blocks are counted on from `sequence`.
  public init(_ link: UnsafeMutablePointer<TapLink>, sequence: Int, owner: AnyObject) {
    self.link = link
    self.sequence = sequence
    self.owner = owner
    channelCount = link.pointee.channelCount
    blockFrames = link.pointee.blockFrames
    slotCount = link.pointee.slotCount
    slotStride = link.pointee.slotStride
    slots = link.pointee.slots
  }

  @_noLocks
  mutating func render(_ block: borrowing RenderBlock) {
    if block.frame != nextFrame && filled > 0 {
      // Time has jumped within a block: its beginning is given up.
      drop(filled)
      filled = 0
    }
    nextFrame = block.frame &+ Int64(block.frameCount)
    var at = 0
    let count = Int(block.frameCount)
    while at < count {
      let slot = TapSlot(slots + place &* slotStride, blockFrames: blockFrames)
      if filled == 0 {
        if !hasRoom() {
          drop(count &- at)
          return
        }
        slot.header.initialize(
          to: TapLink.Header(frame: block.frame &+ Int64(at), sequence: sequence, droppedFrames: dropped))
        dropped = 0
      }
      let length = min(count &- at, blockFrames &- filled)
      for channel in 0..<channelCount {
        backline_copy(slot.channel(channel) + filled, block.input(0, channel) + at, Int64(length))
      }
      filled &+= length
      at &+= length
      if filled < blockFrames { return }
      finish()
    }
  }

  /// True where there is a place for one more block. The other thread's count is read only when all that was known to be free is used.
  @_noLocks
  private mutating func hasRoom() -> Bool {
    if head &- seenTail < slotCount { return true }
    seenTail = link.pointee.tail.load(ordering: .acquiring)
    return head &- seenTail < slotCount
  }

  /// Hands the block over, and asks for the memory of the next one, which nobody has touched for a second.
  @_noLocks
  private mutating func finish() {
    filled = 0
    sequence &+= 1
    head &+= 1
    place = place &+ 1 == slotCount ? 0 : place &+ 1
    link.pointee.head.store(head, ordering: .releasing)
    backline_prefetch(slots + place &* slotStride, Int32(truncatingIfNeeded: min(slotStride >> 4, 12)))
    link.pointee.signal.pointee.raise()
  }

  @_noLocks
  private mutating func drop(_ count: Int) {
    dropped &+= count
    link.pointee.droppedFrames.store(
      link.pointee.droppedFrames.load(ordering: .relaxed) &+ count, ordering: .relaxed)
  }
}

@_noLocks
private func streamTapRender(_ state: UnsafeMutableRawPointer, _ block: UnsafePointer<RenderBlock>) {
  state.assumingMemoryBound(to: StreamTap.self).pointee.render(block.pointee)
}
