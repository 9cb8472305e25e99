import Synchronization

/// A bounded queue of frames from a render thread to one other thread. Neither side ever waits.
public struct SampleRing: ~Copyable {
  private let samples: UnsafeMutablePointer<Float>
  private let channelCount: Int
  private let mask: Int
  private let head = Atomic<Int>(0)  // frames written, the producer's
  private let tail = Atomic<Int>(0)  // frames read, the consumer's

  /// Room for at least `frames` frames of `channelCount` channels.
  public init(channelCount: Int, frames: Int) {
    var size = 2
    while size < frames { size *= 2 }
    mask = size - 1
    self.channelCount = channelCount
    samples = SampleMemory.allocate(size * channelCount)
  }

  deinit { SampleMemory.free(samples) }

  /// Adds frames of separate channels; channels that are not there are silent. False, and none added, where there is no room.
  /// Producer only.
  @_noLocks
  public func write(
    _ channels: UnsafePointer<UnsafePointer<Float>>?, channelCount given: Int, frames: Int
  ) -> Bool {
    let at = head.load(ordering: .relaxed)
    if at &- tail.load(ordering: .acquiring) &+ frames > mask &+ 1 { return false }
    for channel in 0..<channelCount {
      if channel < given, let from = channels?[channel] {
        for index in 0..<frames { samples[((at &+ index) & mask) &* channelCount &+ channel] = from[index] }
      } else {
        for index in 0..<frames { samples[((at &+ index) & mask) &* channelCount &+ channel] = 0 }
      }
    }
    head.store(at &+ frames, ordering: .releasing)
    return true
  }

  /// Takes up to `frames` interleaved frames and returns how many. Consumer only.
  public func read(_ target: UnsafeMutablePointer<Float>, frames: Int) -> Int {
    let at = tail.load(ordering: .relaxed)
    let count = min(frames, head.load(ordering: .acquiring) &- at)
    for index in 0..<count {
      let from = samples + ((at &+ index) & mask) &* channelCount
      for channel in 0..<channelCount { target[index &* channelCount &+ channel] = from[channel] }
    }
    tail.store(at &+ count, ordering: .releasing)
    return count
  }
}
