import BacklineRealtime
import CBackline

/// A delay of whole frames for all channels of a bus, which aligns paths of different latency where they meet (R6).
///
/// A new delay is crossfaded to, once the line holds enough of the past to start it without a gap. Made and freed by the
/// control queue, used on the render thread.
public struct AlignmentLine {
  let channelCount: Int
  let capacity: Int
  private let samples: UnsafeMutablePointer<Float>
  private var position = 0
  /// The frames written since the line was made or cleared, up to `capacity`.
  private var filled = 0
  /// Frames since the last sample that was not zero.
  private var quietFrames = 0
  /// Silent frames that have gone by without being written.
  private var skipped = 0

  private(set) var delay: Int
  private var nextDelay: Int
  private var crossfade = Ramp(0)
  private var wantedDelay: Int
  private var wantedRamp: Int32 = 0

  /// A line that can delay by up to `maximum` frames and starts with `delay`.
  public init(channelCount: Int, maximum: Int, delay: Int) {
    self.channelCount = channelCount
    var size = 512
    while size < maximum + 1 { size *= 2 }
    capacity = size
    samples = SampleMemory.allocate(size * channelCount)
    self.delay = delay
    nextDelay = delay
    wantedDelay = delay
    quietFrames = size
  }

  /// Frees the memory.
  public func deallocate() { SampleMemory.free(samples) }

  /// The longest delay.
  public var maximum: Int { capacity - 1 }

  @_noLocks
  mutating func clear() {
    backline_zero(samples, Int64(capacity &* channelCount))
    filled = 0
    skipped = 0
    quietFrames = capacity
  }

  /// Asks for another delay, to be reached by a crossfade over `rampFrames`.
  @_noLocks
  mutating func move(to delay: Int, over rampFrames: Int32) {
    wantedDelay = min(delay, capacity &- 1)
    wantedRamp = rampFrames
  }

  /// Takes over what another line holds.
  @_noLocks
  mutating func adopt(_ other: UnsafeMutablePointer<AlignmentLine>) {
    other.pointee.writeSkipped()
    adopt(other.pointee)
  }

  @_noLocks
  private mutating func adopt(_ other: borrowing AlignmentLine) {
    let count = min(other.capacity, capacity)
    for channel in 0..<min(channelCount, other.channelCount) {
      let from = other.samples + channel &* other.capacity
      let to = samples + channel &* capacity
      for age in 0..<count {
        to[(capacity &- 1 &- age) & (capacity &- 1)] = from[(other.position &- 1 &- age) & (other.capacity &- 1)]
      }
    }
    position = 0
    skipped = 0
    filled = min(other.filled, capacity)
    quietFrames = other.quietFrames
    delay = other.delay
    nextDelay = other.nextDelay
    crossfade = other.crossfade
  }

  /// True when every sample that can still come out is zero, and nothing moves: silence may be skipped then.
  var isQuiet: Bool { @_noLocks get { quietFrames > delay && wantedDelay == delay && crossfade.isSettled } }

  /// Lets `count` frames of silence go by, while the line is quiet.
  @_noLocks
  mutating func skip(_ count: Int) { skipped = min(skipped &+ count, capacity) }

  /// Writes the silence that was skipped, so that what is older is as old as it is.
  @_noLocks
  private mutating func writeSkipped() {
    if skipped == 0 { return }
    let first = min(skipped, capacity &- position)
    for channel in 0..<channelCount {
      let line = samples + channel &* capacity
      backline_zero(line + position, Int64(first))
      backline_zero(line, Int64(skipped &- first))
    }
    position = (position &+ skipped) & (capacity &- 1)
    filled = min(filled &+ skipped, capacity)
    quietFrames = min(quietFrames &+ skipped, capacity &* 2)
    skipped = 0
  }

  /// Writes `count` frames and reads as many, delayed. `source` is `nil` for silence.
  @_noLocks
  mutating func process(
    _ source: UnsafePointer<UnsafeMutablePointer<Float>>?, _ destination: UnsafePointer<UnsafeMutablePointer<Float>>,
    count: Int
  ) {
    writeSkipped()
    let mask = capacity &- 1
    if let source {
      var active = 0
      for channel in 0..<channelCount {
        active = max(active, Int(backline_active_length(source[channel], Int64(count))))
      }
      quietFrames = active > 0 ? count &- active : min(quietFrames &+ count, capacity &* 2)
    } else {
      quietFrames = min(quietFrames &+ count, capacity &* 2)
    }
    for i in 0..<count {
      for channel in 0..<channelCount {
        samples[channel &* capacity &+ position] = source == nil ? 0 : source.unsafelyUnwrapped[channel][i]
      }
      if filled < capacity { filled &+= 1 }
      if crossfade.isSettled && wantedDelay != delay && filled > wantedDelay {
        nextDelay = wantedDelay
        crossfade = Ramp(0)
        crossfade.move(to: 1, over: max(1, wantedRamp))
      }
      let mix = crossfade.value
      for channel in 0..<channelCount {
        let line = samples + channel &* capacity
        let now = line[(position &- delay) & mask]
        destination[channel][i] = mix == 0 ? now : now + (line[(position &- nextDelay) & mask] - now) * mix
      }
      if !crossfade.isSettled {
        crossfade.advance()
        if crossfade.isSettled {
          delay = nextDelay
          crossfade = Ramp(0)
        }
      }
      position = (position &+ 1) & mask
    }
  }
}
