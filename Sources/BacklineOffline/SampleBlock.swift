import BacklineEngine
import Synchronization

/// Some frames of separate channels, handed from thread to thread: only the one that holds it touches it.
final class SampleBlock: @unchecked Sendable {
  let channelCount: Int
  let capacity: Int
  /// One pointer a channel, each to `capacity` samples.
  let channels: UnsafeMutablePointer<UnsafeMutablePointer<Float>>
  /// The frames that count.
  var count = 0
  /// True for frames of the tail, which may turn out to be nothing but silence to the end.
  var isTail = false
  private let samples: UnsafeMutablePointer<Float>

  init(channelCount: Int, capacity: Int) {
    self.channelCount = channelCount
    self.capacity = capacity
    samples = .allocate(capacity: max(1, channelCount * capacity))
    samples.initialize(repeating: 0, count: channelCount * capacity)
    channels = .allocate(capacity: max(1, channelCount))
    for channel in 0..<channelCount { (channels + channel).initialize(to: samples + channel * capacity) }
  }

  deinit {
    channels.deallocate()
    samples.deallocate()
  }
}

/// A queue of bounded length between two threads of a pipeline. Whoever finds it full or empty waits.
final class BlockQueue: @unchecked Sendable {
  // Why unchecked: guarded by the lock.

  private let items = Semaphore()
  private let spaces: Semaphore
  private let state = Mutex<(blocks: [SampleBlock], isBroken: Bool)>(([], false))

  init(capacity: Int) { spaces = Semaphore(capacity) }

  /// Adds a block; false when the queue has been broken.
  func push(_ block: SampleBlock) -> Bool {
    spaces.wait()
    let isOpen = state.withLock { state in
      if state.isBroken { return false }
      state.blocks.append(block)
      return true
    }
    if isOpen { items.signal() } else { spaces.signal() }
    return isOpen
  }

  /// The next block; `nil` after the last one, or when the queue has been broken.
  func pop() -> SampleBlock? {
    items.wait()
    let block = state.withLock { state -> SampleBlock? in
      if state.isBroken || state.blocks.isEmpty { return nil }
      return state.blocks.removeFirst()
    }
    // Left as it was found, for whoever asks again.
    if block == nil { items.signal() } else { spaces.signal() }
    return block
  }

  /// Tells that no block comes any more.
  func end() { items.signal() }

  /// Ends all waiting at once.
  func breakOff() {
    state.withLock { $0.isBroken = true }
    items.signal()
    spaces.signal()
  }
}
