/// A change that is not a change of the graph: a parameter, a bypass, a reset. Travels from the control queue to the
/// render thread.
public struct RenderEvent: BitwiseCopyable, Sendable {
  /// What an event's `parameter` means where it is not a parameter's index.
  public enum Target {
    /// Bypass on (1) or off (0).
    public static var bypass: Int32 { @_noLocks get { -1 } }
    /// Forget past sound.
    public static var reset: Int32 { @_noLocks get { -2 } }
  }

  /// The slot of what belongs to no node: its parameter 0 is the level of all outputs.
  public static var master: Int32 { @_noLocks get { -1 } }

  /// The absolute frame; at once where it has passed.
  public var frame: Int64
  /// The node, by its place in the slot table, and that place's generation: an event for a node that is gone is dropped.
  public var slot: Int32
  public var generation: UInt32
  public var parameter: Int32
  public var value: Float
  public var rampFrames: Int32
  /// True when the event after this one in the queue has to be taken at the same frame.
  public var isContinued = false
  /// The plan that has to be running before the event means anything.
  public var serial: Int32
  /// Under which it is reported when it is taken; 0 for most.
  public var id: Int32 = 0

  public init(
    frame: Int64 = .min, slot: Int32, generation: UInt32, parameter: Int32, value: Float, rampFrames: Int32,
    serial: Int32 = 0
  ) {
    self.frame = frame
    self.slot = slot
    self.generation = generation
    self.parameter = parameter
    self.value = value
    self.rampFrames = rampFrames
    self.serial = serial
  }
}

/// What the render thread tells the control queue.
public struct RenderReport: BitwiseCopyable, Sendable {
  public enum Kind: Int32, Sendable, BitwiseCopyable {
    /// A plan runs from `frame` on; `value` is its serial number.
    case adopted
    /// A scheduled event was taken at `frame`; `value` is how many frames late.
    case eventTaken
    /// The node in `value` (a slot) gave samples that are not finite.
    case nonFinite
    /// The event with the `id` in `value` was taken.
    case captured
  }

  public let kind: Kind
  public let value: Int32
  public let frame: Int64

  @_noLocks
  init(_ kind: Kind, value: Int32, frame: Int64) {
    self.kind = kind
    self.value = value
    self.frame = frame
  }
}

/// Events that wait for their frame, earliest first; those of one frame in the order of arrival.
///
/// A binary heap in memory of fixed size, used on the render thread only.
struct EventHeap {
  private struct Entry {
    var event: RenderEvent
    var order: UInt64
  }

  private let entries: UnsafeMutablePointer<Entry>
  private let capacity: Int
  private(set) var count = 0
  private var nextOrder: UInt64 = 0

  init(capacity: Int) {
    self.capacity = capacity
    entries = .allocate(capacity: capacity)
  }

  func deallocate() { entries.deallocate() }

  /// The frame of the earliest event; the largest number where there is none.
  var firstFrame: Int64 { @_noLocks get { count == 0 ? Int64.max : entries[0].event.frame } }

  var isFull: Bool { @_noLocks get { count == capacity } }

  @_noLocks
  private func precedes(_ a: Int, _ b: Int) -> Bool {
    let x = entries[a].event.frame, y = entries[b].event.frame
    return x != y ? x < y : entries[a].order < entries[b].order
  }

  @_noLocks
  private func exchange(_ a: Int, _ b: Int) {
    let entry = entries[a]
    (entries + a).initialize(to: entries[b])
    (entries + b).initialize(to: entry)
  }

  @_noLocks
  mutating func insert(_ event: RenderEvent) {
    if count == capacity { return }
    (entries + count).initialize(to: Entry(event: event, order: nextOrder))
    nextOrder &+= 1
    var at = count
    count &+= 1
    while at > 0 {
      let parent = (at &- 1) / 2
      if !precedes(at, parent) { return }
      exchange(at, parent)
      at = parent
    }
  }

  /// Takes the earliest event out; only when there is one.
  @_noLocks
  mutating func removeFirst() -> RenderEvent {
    let first = entries[0].event
    count &-= 1
    (entries + 0).initialize(to: entries[count])
    var at = 0
    while true {
      var smallest = at
      let left = 2 &* at &+ 1
      if left < count && precedes(left, smallest) { smallest = left }
      if left &+ 1 < count && precedes(left &+ 1, smallest) { smallest = left &+ 1 }
      if smallest == at { return first }
      exchange(at, smallest)
      at = smallest
    }
  }

  @_noLocks
  mutating func removeAll() { count = 0 }
}
