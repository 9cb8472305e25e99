import BacklineEngine
import CJACK

/// Threads that help the process callback, made by the JACK library so that they are scheduled as its own are.
extension JACKSession {
  /// Starts them at the client's real-time priority: below it, another client's callback could keep one from a task that this
  /// client's callback waits for. On a server without real-time scheduling there are none (R19).
  func employ(_ workers: WorkerThreads) {
    guard let client else { return }
    self.workers = workers
    let priority = jack_client_real_time_priority(client)
    for _ in 0..<workers.wanted {
      var thread = jack_native_thread_t()
      let context = Unmanaged.passRetained(workers)
      let isStarted =
        jack_is_realtime(client) != 0 && priority > 0
        && jack_client_create_thread(client, &thread, priority, 1, jackWorker, context.toOpaque()) == 0
      if isStarted {
        helpers.append(thread)
      } else {
        context.release()
        workers.noteUnfit()
      }
    }
    if helpers.count < workers.wanted {
      options.log(
        "\(helpers.count) of \(workers.wanted) threads beside the callback got real-time scheduling: "
          + "the rest of the work is done without more")
    }
  }

  /// Ends them and waits for that, before the client goes. Each leaves when it has nothing in hand.
  func dismissWorkers(_ client: OpaquePointer) {
    workers?.end()
    for thread in helpers { jack_client_stop_thread(client, thread) }
    helpers = []
    workers = nil
  }
}

private func jackWorker(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
  guard let context else { return nil }
  Unmanaged<WorkerThreads>.fromOpaque(context).takeRetainedValue().serve(needsRealtime: true)
  return nil
}
