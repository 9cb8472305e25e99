import CBackline

#if canImport(Glibc)
  import Glibc
#endif

/// Zeroed, cache-line aligned sample memory, allocated and touched by a control thread before rendering needs it.
public enum SampleMemory {
  /// True where `bytes` more could be allocated just now. Asked by a control thread before it builds what it could not undo: where
  /// memory runs out in spite of it, the program ends, as it does for every other allocation of Swift's.
  public static func isAvailable(bytes: Int) -> Bool {
    guard let probe = aligned_alloc(64, (max(bytes, 1) + 63) & ~63) else { return false }
    Glibc.free(probe)
    return true
  }

  /// Allocates `count` samples, all zero and resident.
  public static func allocate(_ count: Int) -> UnsafeMutablePointer<Float> {
    let bytes = (max(count, 1) * MemoryLayout<Float>.stride + 63) & ~63
    guard let raw = aligned_alloc(64, bytes) else { fatalError("out of memory for \(bytes) bytes of samples") }
    memset(raw, 0, bytes)
    return raw.bindMemory(to: Float.self, capacity: bytes / MemoryLayout<Float>.stride)
  }

  /// Frees what `allocate(_:)` returned.
  public static func free(_ samples: UnsafeMutablePointer<Float>) {
    Glibc.free(samples)
  }
}
