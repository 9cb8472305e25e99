import BacklineEngine
import CBackline
import Glibc
import Synchronization

/// A thread that sleeps until it is woken, for work that may wait for a disk.
final class WorkerThread: @unchecked Sendable {
  private let name: String
  private let poll: Int32
  private let event: Int32
  private let isEndingFlag = Atomic<Bool>(false)
  private let state = Mutex<(id: pthread_t?, body: (@Sendable (WorkerThread) -> Void)?)>((nil, nil))

  /// Starts the thread with `body`, which returns once `isEnding`.
  init(_ name: String, _ body: @escaping @Sendable (WorkerThread) -> Void) throws(EngineError) {
    self.name = name
    poll = backline_poll_create()
    event = backline_event_create()
    guard poll >= 0, event >= 0, backline_poll_set(poll, event, true, false) == 0 else {
      throw EngineError(.limitReached, "no descriptors are left for reading files")
    }
    state.withLock { $0.body = body }
    let context = Unmanaged.passRetained(self)
    var id = pthread_t()
    guard pthread_create(&id, nil, workerThread, context.toOpaque()) == 0 else {
      context.release()
      throw EngineError(.limitReached, "no thread is left for reading files")
    }
    state.withLock { $0.id = id }
  }

  deinit {
    if poll >= 0 { close(poll) }
    if event >= 0 { close(event) }
  }

  /// True when the body is to return.
  var isEnding: Bool { isEndingFlag.load(ordering: .acquiring) }

  /// Ends a wait, or the next one.
  func wake() { backline_wake(event) }

  /// Sleeps until `wake` or, where it is not negative, `nanoseconds` have passed.
  func wait(_ nanoseconds: Int64) {
    var ready = ReadyDescriptor()
    if backline_poll_wait(poll, &ready, 1, nanoseconds) > 0 { backline_event_clear(event) }
  }

  /// Ends the thread once the work at hand is done; returns when it has.
  func end() {
    isEndingFlag.store(true, ordering: .releasing)
    wake()
    let id = state.withLock { state in
      defer { state.id = nil }
      return state.id
    }
    if let id { pthread_join(id, nil) }
  }

  fileprivate func run() {
    backline_name_thread(name)
    let body = state.withLock { state in
      defer { state.body = nil }
      return state.body
    }
    body?(self)
  }
}

private func workerThread(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
  guard let context else { return nil }
  Unmanaged<WorkerThread>.fromOpaque(context).takeRetainedValue().run()
  return nil
}
