import CBackline
import Glibc

/// A counting semaphore of the C library, in memory of its own.
public final class Semaphore: @unchecked Sendable {
  private let semaphore = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)

  public init(_ count: Int = 0) { sem_init(semaphore, 0, UInt32(max(0, count))) }

  deinit {
    sem_destroy(semaphore)
    semaphore.deallocate()
  }

  public func signal() { sem_post(semaphore) }

  public func wait() { while sem_wait(semaphore) != 0 {} }

  /// Waits no longer than `seconds`; false when that was too short.
  @discardableResult
  public func wait(seconds: Double) -> Bool {
    let end = backline_wall_time() + Int64(seconds * 1e9)
    var time = timespec(tv_sec: Int(end / 1_000_000_000), tv_nsec: Int(end % 1_000_000_000))
    while sem_timedwait(semaphore, &time) != 0 {
      if errno != EINTR { return false }
    }
    return true
  }
}
