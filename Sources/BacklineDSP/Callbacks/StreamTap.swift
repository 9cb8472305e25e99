import BacklineRealtime
import CBackline
import Synchronization

/// Wakes one thread for many senders, with one system call however many have something for it.
public struct WakeSignal: ~Copyable {
  /// Set by a sender, cleared by the thread before it looks around.
  public let isPending = Atomic<Bool>(false)
  private let descriptor: Int32

  /// A signal by an eventfd.
  public init(descriptor: Int32) { self.descriptor = descriptor }

  /// Render thread.
  @_noLocks
  public func raise() {
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
  let headers: UnsafeMutablePointer<Header>
  let samples: UnsafeMutablePointer<Float>
  let head = Atomic<Int>(0)
  let tail = Atomic<Int>(0)
  /// Frames left out since the beginning.
  public let droppedFrames = Atomic<Int>(0)
  let signal: UnsafeMutablePointer<WakeSignal>

  /// Frames of room: for a second of sound, and for four blocks at least.
  static func frameCount(blockFrames: Int, sampleRate: Double) -> Int {
    max(4, Int(sampleRate) / blockFrames + 1) * blockFrames
  }

  public init(channelCount: Int, blockFrames: Int, sampleRate: Double, signal: UnsafeMutablePointer<WakeSignal>) {
    self.channelCount = channelCount
    self.blockFrames = blockFrames
    self.sampleRate = sampleRate
    self.signal = signal
    slotCount = Self.frameCount(blockFrames: blockFrames, sampleRate: sampleRate) / blockFrames
    headers = .allocate(capacity: slotCount)
    headers.initialize(repeating: Header(frame: 0, sequence: 0, droppedFrames: 0), count: slotCount)
    samples = SampleMemory.allocate(slotCount * blockFrames * channelCount)
  }

  deinit {
    headers.deallocate()
    SampleMemory.free(samples)
  }

  @_noLocks
  func channel(_ channel: Int, of slot: Int) -> UnsafeMutablePointer<Float> {
    samples + (slot % slotCount &* channelCount &+ channel) &* blockFrames
  }

  /// Hands the oldest block to `body` and gives its place back; false where there is none. One thread at a time.
  public func take(_ body: (Header, _ channel: (Int) -> UnsafePointer<Float>) -> Void) -> Bool {
    let at = tail.load(ordering: .relaxed)
    if at == head.load(ordering: .acquiring) { return false }
    body(headers[at % slotCount]) { UnsafePointer(channel($0, of: at)) }
    tail.store(at + 1, ordering: .releasing)
    return true
  }
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
      memory: 4 * TapLink.frameCount(blockFrames: blockFrames, sampleRate: 48_000) * channelCount, make: make)
  }

  private let link: UnsafeMutablePointer<TapLink>
  /// Keeps the link; never touched while rendering.
  private let owner: AnyObject?
  /// Frames in the block that is being filled.
  private var filled = 0
  private var sequence = 0
  private var dropped = 0
  private var nextFrame = Int64.min

  /// A tap into `link`, which `owner` owns. Blocks are counted on from `sequence`.
  public init(_ link: UnsafeMutablePointer<TapLink>, sequence: Int, owner: AnyObject) {
    self.link = link
    self.sequence = sequence
    self.owner = owner
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
      let slot = link.pointee.head.load(ordering: .relaxed)
      if filled == 0 {
        if slot &- link.pointee.tail.load(ordering: .acquiring) >= link.pointee.slotCount {
          drop(count &- at)
          return
        }
        link.pointee.headers[slot % link.pointee.slotCount] = TapLink.Header(
          frame: block.frame &+ Int64(at), sequence: sequence, droppedFrames: dropped)
        dropped = 0
      }
      let length = min(count &- at, link.pointee.blockFrames &- filled)
      for channel in 0..<link.pointee.channelCount {
        backline_copy(link.pointee.channel(channel, of: slot) + filled, block.input(0, channel) + at, Int64(length))
      }
      filled &+= length
      at &+= length
      if filled < link.pointee.blockFrames { return }
      filled = 0
      sequence &+= 1
      link.pointee.head.store(slot &+ 1, ordering: .releasing)
      link.pointee.signal.pointee.raise()
    }
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
