import BacklineGraph
import CBackline
import Synchronization

/// The crew of one opening of a host: the memory that its threads share, kept until the last of them has left.
///
/// A host starts the threads, for it knows how its own render thread is scheduled: each calls `serve()`, which returns after
/// `end()`. Every method may be called from any thread.
public final class WorkerThreads: @unchecked Sendable {
  // Why unchecked: the crew's memory is shared through its own atomics.

  /// How many threads the engine would like to have beside the host's own.
  public let wanted: Int
  let crew: UnsafeMutablePointer<RenderCrew>
  private let started = Atomic<Int>(0)
  private let running = Atomic<Int>(0)
  private let unfit = Atomic<Int>(0)

  init(_ count: Int, policy: ParallelPolicy, sampleRate: Double, yields: Bool) {
    wanted = count
    crew = .allocate(capacity: 1)
    crew.initialize(to: RenderCrew(workerCount: count, policy: policy, sampleRate: sampleRate, yields: yields))
  }

  deinit {
    crew.deinitialize(count: 1)
    crew.deallocate()
  }

  /// What each thread runs. With `needsRealtime`, one without real-time scheduling leaves at once: it would keep a render thread
  /// waiting that has it (R19).
  public func serve(needsRealtime: Bool) {
    running.wrappingAdd(1, ordering: .relaxed)
    defer { running.wrappingSubtract(1, ordering: .releasing) }
    if needsRealtime && !backline_is_realtime() {
      return noteUnfit()
    }
    let number = started.wrappingAdd(1, ordering: .relaxed).newValue
    if number <= wanted { crew.pointee.serve(number) }
  }

  /// Says that a thread could not be had as it has to be scheduled.
  public func noteUnfit() { unfit.wrappingAdd(1, ordering: .relaxed) }

  /// Has all threads leave as soon as they have nothing in hand.
  public func end() { crew.pointee.end() }

  /// True while a thread is in `serve()`.
  public var isRunning: Bool { running.load(ordering: .acquiring) > 0 }

  /// Threads that were refused real-time scheduling.
  public var unfitCount: Int { unfit.load(ordering: .relaxed) }

  /// Starts ordinary threads, for hosts without deadlines; those that the system has none left for are missing.
  public func startOrdinary() {
    for _ in 0..<wanted {
      let context = Unmanaged.passRetained(self)
      if !startDetachedThread(ordinaryWorker, context.toOpaque()) { context.release() }
    }
  }
}

private func ordinaryWorker(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
  guard let context else { return nil }
  backline_name_thread("render worker")
  Unmanaged<WorkerThreads>.fromOpaque(context).takeRetainedValue().serve(needsRealtime: false)
  return nil
}
