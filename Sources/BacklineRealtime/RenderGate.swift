import CBackline
import Synchronization

#if canImport(Glibc)
  import Glibc
#endif

/// The door through which a host's callback enters the engine, and which a control thread can shut for good.
///
/// Once `shut(within:)` has returned true, the engine's memory may be freed although the host's thread still lives. The
/// callback never waits: it finds the gate open or passes by.
public struct RenderGate: ~Copyable {
  @usableFromInline let isShut = Atomic<Bool>(false)
  @usableFromInline let isInside = Atomic<Bool>(false)

  /// An open gate.
  public init() {}

  /// Enters; false when the gate is shut. After true, `leave()` has to follow. Render thread.
  @inlinable @inline(__always) @_noLocks
  public func enter() -> Bool {
    isInside.store(true, ordering: .sequentiallyConsistent)
    if !isShut.load(ordering: .sequentiallyConsistent) { return true }
    isInside.store(false, ordering: .releasing)
    return false
  }

  /// Leaves. Render thread.
  @inlinable @inline(__always) @_noLocks
  public func leave() { isInside.store(false, ordering: .releasing) }

  /// Shuts the gate and waits until the cycle inside has left; false when it had not after `nanoseconds`. Control threads.
  public func shut(within nanoseconds: Int64) -> Bool {
    isShut.store(true, ordering: .sequentiallyConsistent)
    let limit = backline_now() + nanoseconds
    while isInside.load(ordering: .sequentiallyConsistent) {
      if backline_now() > limit { return false }
      usleep(100)
    }
    return true
  }
}
