import CBackline
import Glibc
import Synchronization

/// The control queue: one thread that runs an actor's jobs, the handlers of descriptors that have become readable, and
/// timers, strictly one after the other.
///
/// Sockets are watched here rather than on threads of their own, so that an OSC message acts on the graph without
/// changing threads. Nothing that may wait for a disk, a network or a server belongs on it.
public final class ControlExecutor: SerialExecutor, @unchecked Sendable {
  /// A timer that has been set; see `schedule(after:repeating:_:)`.
  public struct Timer: Hashable, Sendable {
    let id: UInt64
  }

  private struct Pending {
    let id: UInt64
    let due: Int64
    let interval: Int64?
    let handler: @Sendable () -> Void
  }

  private struct State {
    var jobs: [UnownedJob] = []
    var readers: [Int32: @Sendable () -> Void] = [:]
    var writers: [Int32: @Sendable () -> Void] = [:]
    var timers: [Pending] = []
    var nextTimer: UInt64 = 1
    var isEnding = false
  }

  private let state = Mutex(State())
  private let poll: Int32
  private let wakeUp: Int32
  private let thread = Mutex<pthread_t?>(nil)

  /// A running queue; `limitReached` where the system has no descriptors or no thread for it. Its thread ends with `shutdown()`.
  public init() throws(EngineError) {
    poll = backline_poll_create()
    wakeUp = backline_event_create()
    guard poll >= 0, wakeUp >= 0, backline_poll_set(poll, wakeUp, true, false) == 0 else {
      closeDescriptors()
      throw EngineError(.limitReached, "no descriptors left for the control queue: allow more open files (ulimit -n)")
    }
    var id = pthread_t()
    // The thread keeps the executor alive until it has been told to end.
    let context = Unmanaged.passRetained(self)
    guard pthread_create(&id, nil, controlThread, context.toOpaque()) == 0 else {
      context.release()
      closeDescriptors()
      throw EngineError(.limitReached, "no thread left for the control queue: allow more of them (ulimit -u)")
    }
    thread.withLock { $0 = id }
  }

  private func closeDescriptors() { for descriptor in [poll, wakeUp] where descriptor >= 0 { close(descriptor) } }

  // MARK: Jobs

  public func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    state.withLock { $0.jobs.append(job) }
    backline_wake(wakeUp)
  }

  public func checkIsolated() {
    precondition(isCurrent, "called off the control queue")
  }

  /// True on the control queue's own thread.
  public var isCurrent: Bool {
    guard let id = thread.withLock({ $0 }) else { return true }
    return pthread_equal(id, pthread_self()) != 0
  }

  // MARK: Descriptors

  /// Calls `handler` on the queue whenever `descriptor` can be read or has been closed by its peer.
  public func watch(_ descriptor: Int32, _ handler: @escaping @Sendable () -> Void) {
    state.withLock { $0.readers[descriptor] = handler }
    updateInterest(in: descriptor)
  }

  /// Stops watching; call it before the descriptor is closed.
  public func unwatch(_ descriptor: Int32) {
    _ = state.withLock { $0.readers.removeValue(forKey: descriptor) }
    updateInterest(in: descriptor)
  }

  /// Calls `handler` on the queue whenever `descriptor` has room to write: for as long as something waits to be sent only,
  /// since an idle connection always has room.
  public func watchWritable(_ descriptor: Int32, _ handler: @escaping @Sendable () -> Void) {
    state.withLock { $0.writers[descriptor] = handler }
    updateInterest(in: descriptor)
  }

  /// Stops watching for room to write; call it before the descriptor is closed.
  public func unwatchWritable(_ descriptor: Int32) {
    _ = state.withLock { $0.writers.removeValue(forKey: descriptor) }
    updateInterest(in: descriptor)
  }

  private func updateInterest(in descriptor: Int32) {
    let (reads, writes) = state.withLock { ($0.readers[descriptor] != nil, $0.writers[descriptor] != nil) }
    if reads || writes {
      _ = backline_poll_set(poll, descriptor, reads, writes)
    } else {
      backline_poll_remove(poll, descriptor)
    }
  }

  // MARK: Timers

  /// Calls `handler` on the queue after `seconds`, and from then on every `interval` seconds where one is given.
  @discardableResult
  public func schedule(
    after seconds: Double, repeating interval: Double? = nil, _ handler: @escaping @Sendable () -> Void
  ) -> Timer {
    let due = backline_now() + Int64(seconds * 1e9)
    let timer = state.withLock { state in
      let id = state.nextTimer
      state.nextTimer += 1
      state.timers.append(
        Pending(id: id, due: due, interval: interval.map { max(Int64($0 * 1e9), 100_000) }, handler: handler))
      return Timer(id: id)
    }
    if !isCurrent { backline_wake(wakeUp) }
    return timer
  }

  /// Calls `body` on the queue: at once where that is the caller's thread, else as soon as its turn comes.
  public func run(_ body: @escaping @Sendable () -> Void) {
    if isCurrent { body() } else { schedule(after: 0, body) }
  }

  /// Takes a timer back. It does not fire any more once this has returned on the queue.
  public func cancel(_ timer: Timer) {
    state.withLock { state in state.timers.removeAll { $0.id == timer.id } }
  }

  // MARK: The thread

  /// Ends the thread once the jobs that wait have run. The queue is of no use afterwards.
  public func shutdown() {
    state.withLock { $0.isEnding = true }
    backline_wake(wakeUp)
    if !isCurrent, let id = thread.withLock({ $0 }) { pthread_join(id, nil) }
  }

  fileprivate func run() {
    backline_name_thread("control")
    let capacity = 64
    let ready = UnsafeMutablePointer<ReadyDescriptor>.allocate(capacity: capacity)
    defer { ready.deallocate() }
    while true {
      runJobs()
      runTimers()
      if state.withLock({ $0.isEnding && $0.jobs.isEmpty }) { break }
      let count = backline_poll_wait(poll, ready, Int32(capacity), timeUntilDue())
      for index in 0..<Int(count) {
        let descriptor = ready[index].descriptor
        if descriptor == wakeUp {
          backline_event_clear(wakeUp)
          continue
        }
        if ready[index].isReadable, let handler = state.withLock({ $0.readers[descriptor] }) {
          handler()
          runJobs()
        }
        if ready[index].isWritable, let handler = state.withLock({ $0.writers[descriptor] }) {
          handler()
          runJobs()
        }
      }
    }
    closeDescriptors()
  }

  private func runJobs() {
    while true {
      let jobs = state.withLock { state in
        defer { state.jobs.removeAll(keepingCapacity: true) }
        return state.jobs
      }
      if jobs.isEmpty { return }
      for job in jobs { job.runSynchronously(on: asUnownedSerialExecutor()) }
    }
  }

  private func runTimers() {
    let now = backline_now()
    let due = state.withLock { state -> [Pending] in
      guard state.timers.contains(where: { $0.due <= now }) else { return [] }
      let due = state.timers.filter { $0.due <= now }.sorted { ($0.due, $0.id) < ($1.due, $1.id) }
      state.timers.removeAll { $0.due <= now }
      for timer in due {
        guard let interval = timer.interval else { continue }
        let next = max(timer.due + interval, now)
        state.timers.append(Pending(id: timer.id, due: next, interval: interval, handler: timer.handler))
      }
      return due
    }
    for timer in due {
      let isWanted = timer.interval == nil || state.withLock { $0.timers.contains { $0.id == timer.id } }
      if isWanted {
        timer.handler()
        runJobs()
      }
    }
  }

  /// Nanoseconds until the next timer; negative where there is none.
  private func timeUntilDue() -> Int64 {
    guard let due = state.withLock({ $0.timers.map(\.due).min() }) else { return -1 }
    return max(0, due - backline_now())
  }
}

private func controlThread(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
  guard let context else { return nil }
  Unmanaged<ControlExecutor>.fromOpaque(context).takeRetainedValue().run()
  return nil
}
