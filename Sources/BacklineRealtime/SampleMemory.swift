import CBackline

#if canImport(Glibc)
  import Glibc
#endif

/// Zeroed, cache-line aligned sample memory, allocated and touched by a control thread before rendering needs it.
public enum SampleMemory {
  /// Memory in bytes that is left to the rest of the machine.
  private static let reserve = 64 << 20

  /// True where `bytes` more could be allocated and used just now. Asked by a control thread before it builds what it could not
  /// undo, wherever a caller, a file or a packet decides how much that is: where memory runs out in spite of it, the program ends, as
  /// it does for every other allocation of Swift's.
  public static func isAvailable(bytes: Int) -> Bool {
    let (wanted, isTooMuch) = max(bytes, 1).addingReportingOverflow(reserve)
    if isTooMuch { return false }
    guard let probe = aligned_alloc(64, (max(bytes, 1) + 63) & ~63) else { return false }
    Glibc.free(probe)
    // The system promises more than it has, and ends who takes it at its word. What is free is known at once; what it would
    // give up for us, its caches, it has to be asked.
    let free = sysconf(Int32(_SC_AVPHYS_PAGES)) * sysconf(Int32(_SC_PAGESIZE))
    if free >= wanted { return true }
    guard let available = availableBytes() else { return true }
    return available >= wanted
  }

  /// `MemAvailable` of /proc/meminfo (proc(5)); `nil` where there is none.
  private static func availableBytes() -> Int? {
    let descriptor = open("/proc/meminfo", O_RDONLY | O_CLOEXEC)
    if descriptor < 0 { return nil }
    defer { close(descriptor) }
    return withUnsafeTemporaryAllocation(byteCount: 4_096, alignment: 1) { text -> Int? in
      let count = read(descriptor, text.baseAddress, text.count)
      if count <= 0 { return nil }
      let label = "MemAvailable:"
      let lines = text[..<count].split(separator: UInt8(ascii: "\n"))
      guard let line = lines.first(where: { $0.starts(with: label.utf8) }) else { return nil }
      let digits = line.dropFirst(label.utf8.count).filter { (48...57).contains($0) }
      return Int(String(decoding: digits, as: UTF8.self)).map { $0 << 10 }
    }
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
