import BacklineRealtime
import CBackline

extension BlockRings {
  /// `count` rings that can be read up to `longest` frames behind their ends, zeroed. Freed by `deallocate()`.
  init(count: Int, longest: Int) {
    let margin = BacklineRingMargin
    // No larger than needed, so that the rings stay in the cache.
    let size = (max(longest, 0) + 2 * margin) & ~15
    // An odd number of cache lines apart, or the writes of a frame would fight for the same places in the cache.
    let stride = (size + margin) | 16
    self.init(
      samples: SampleMemory.allocate(count * stride), stride: Int64(stride), size: Int64(size), position: 0,
      written: 0)
  }

  /// Frees the memory.
  func deallocate() { SampleMemory.free(samples) }

  /// Forgets everything, in no time: what was written before is never read again.
  @_noLocks
  mutating func clear() {
    position = 0
    written = 0
  }
}
