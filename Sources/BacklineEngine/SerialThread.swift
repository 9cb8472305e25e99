import CBackline
import Glibc
import Synchronization

/// A thread that runs jobs one after the other, and one handler whenever a render thread wakes it.
///
/// For what may block (calls into a sound server) and for what has to be told while another thread blocks. It can be left
/// behind: `abandon()` lets a thread that hangs in a call go, and it ends by itself when that call returns.
public final class SerialThread: @unchecked Sendable {
  private struct Timed {
    let due: Int64
    let order: Int
    let job: @Sendable () -> Void
  }

  private struct State {
    var jobs: [@Sendable () -> Void] = []
    var timed: [Timed] = []
    var order = 0
    var isEnding = false
    /// The thread itself, once it runs.
    var id: pthread_t?
    /// True when nothing is run any more: what comes then is dropped.
    var isOver = false
  }

  private enum Step {
    case run(@Sendable () -> Void)
    case wait(milliseconds: Int32)
    case end
  }

  /// Wakes the thread and has it call its handler: `backline_wake(wakeDescriptor)`, from render threads too.
  public let wakeDescriptor: Int32
  private let name: String
  private let onWake: @Sendable () -> Void
  private let state = Mutex(State())

  /// A running thread. It ends with `end()` or `abandon()`, not by itself. `name` has at most 15 bytes.
  public init(name: String, onWake: @escaping @Sendable () -> Void = {}) throws(EngineError) {
    self.name = name
    self.onWake = onWake
    wakeDescriptor = backline_event_create()
    guard wakeDescriptor >= 0 else { throw EngineError(.limitReached, "no descriptor left for the thread \(name)") }
    let context = Unmanaged.passRetained(self)
    guard startDetachedThread(serialThread, context.toOpaque()) else {
      context.release()
      throw EngineError(.limitReached, "no thread left for \(name)")
    }
  }

  deinit { if wakeDescriptor >= 0 { close(wakeDescriptor) } }

  /// Runs `job` on the thread, after those that wait, unless the thread has ended.
  public func run(_ job: @escaping @Sendable () -> Void) {
    state.withLock { if !$0.isOver { $0.jobs.append(job) } }
    backline_wake(wakeDescriptor)
  }

  /// Runs `job` on the thread after `seconds`, unless the thread has ended before.
  public func run(after seconds: Double, _ job: @escaping @Sendable () -> Void) {
    let due = backline_now() + Int64(seconds * 1e9)
    state.withLock { state in
      state.order += 1
      if !state.isOver { state.timed.append(Timed(due: due, order: state.order, job: job)) }
    }
    backline_wake(wakeDescriptor)
  }

  /// True on the thread.
  public var isCurrent: Bool {
    guard let id = state.withLock({ $0.id }) else { return false }
    return pthread_equal(id, pthread_self()) != 0
  }

  /// Ends the thread when the jobs that wait have run. Does not wait for that.
  public func end() {
    state.withLock { $0.isEnding = true }
    backline_wake(wakeDescriptor)
  }

  /// Drops the jobs that wait and lets the thread end when the running one returns, if ever.
  public func abandon() {
    drop()
    backline_wake(wakeDescriptor)
  }

  /// Lets go of all jobs, and with them of what they hold, which may be what holds this thread.
  private func drop() {
    let dropped = state.withLock { state in
      defer {
        state.isOver = true
        state.jobs = []
        state.timed = []
      }
      return (state.jobs, state.timed)
    }
    withExtendedLifetime(dropped) {}  // freed outside the lock
  }

  // MARK: The thread

  fileprivate func loop() {
    backline_name_thread(name)
    state.withLock { $0.id = pthread_self() }
    while true {
      switch next() {
      case .end: return drop()
      case .run(let job): job()
      case .wait(let milliseconds):
        var descriptor = pollfd(fd: wakeDescriptor, events: Int16(POLLIN), revents: 0)
        if poll(&descriptor, 1, milliseconds) > 0 {
          backline_event_clear(wakeDescriptor)
          onWake()
        }
      }
    }
  }

  private func next() -> Step {
    state.withLock { state in
      if state.isOver { return .end }
      if !state.jobs.isEmpty { return .run(state.jobs.removeFirst()) }
      if state.isEnding {
        state.isOver = true
        return .end
      }
      guard let index = state.timed.indices.min(by: { before(state.timed[$0], state.timed[$1]) }) else {
        return .wait(milliseconds: -1)
      }
      let left = state.timed[index].due - backline_now()
      if left <= 0 { return .run(state.timed.remove(at: index).job) }
      return .wait(milliseconds: Int32(clamping: (left + 999_999) / 1_000_000))
    }
  }

  private func before(_ one: Timed, _ other: Timed) -> Bool {
    (one.due, one.order) < (other.due, other.order)
  }
}

/// Starts a thread that nobody joins and that no signal is delivered to (those belong to the main thread).
func startDetachedThread(
  _ function: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer?, _ context: UnsafeMutableRawPointer
) -> Bool {
  var all = sigset_t()
  var before = sigset_t()
  sigfillset(&all)
  pthread_sigmask(SIG_BLOCK, &all, &before)
  defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
  var id = pthread_t()
  guard pthread_create(&id, nil, function, context) == 0 else { return false }
  pthread_detach(id)
  return true
}

private func serialThread(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
  guard let context else { return nil }
  Unmanaged<SerialThread>.fromOpaque(context).takeRetainedValue().loop()
  return nil
}
