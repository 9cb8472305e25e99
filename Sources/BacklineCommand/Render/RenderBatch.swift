import BacklineEngine
import BacklineOffline
import CBackline
import Glibc
import Synchronization

/// Renders tasks, several at a time, and goes on after one that fails.
final class RenderBatch: Sendable {
  /// How one task ended.
  struct Outcome: Sendable {
    let task: RenderTask
    let result: OfflineResult
  }

  private struct State {
    var next = 0
    var outcomes: [Outcome?]
    var renderers: [Int: OfflineRenderer] = [:]
    var isCancelled = false
    var threads: [SerialThread] = []
  }

  let tasks: [RenderTask]
  let begin = backline_now()
  private let jobs: Int
  private let state: Mutex<State>

  init(_ tasks: [RenderTask], jobs: Int?) {
    self.tasks = tasks
    self.jobs = min(tasks.count, jobs ?? max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))))
    state = Mutex(State(outcomes: Array(repeating: nil, count: tasks.count)))
  }

  /// Begins; `onEnd` is called on some thread once all is over.
  func start(onEnd: @escaping @Sendable () -> Void) {
    var threads: [SerialThread] = []
    for _ in 0..<jobs {
      guard let thread = try? SerialThread(name: "render job") else { break }
      threads.append(thread)
    }
    if threads.isEmpty {
      let error = OfflineError(.internalError, "no thread is left for rendering")
      state.withLock { state in state.outcomes = tasks.map { Outcome(task: $0, result: .failed(error)) } }
    }
    state.withLock { $0.threads = threads }
    for thread in threads {
      thread.run { [self] in
        while let index = take() { finish(index, run(index)) }
        if isOver { onEnd() }
      }
    }
  }

  private func take() -> Int? {
    state.withLock { state in
      guard state.next < tasks.count else { return nil }
      defer { state.next += 1 }
      return state.next
    }
  }

  private func run(_ index: Int) -> OfflineResult {
    do throws(OfflineError) {
      // The tracks of a movie come one after the other; the last one's end is that of the task.
      var result = OfflineResult.cancelled
      for job in try tasks[index].jobs() {
        let renderer = OfflineRenderer(job)
        let isCancelled = state.withLock { state in
          state.renderers[index] = renderer
          return state.isCancelled
        }
        if isCancelled { renderer.cancel() }
        result = renderer.runAndWait()
        guard case .completed = result else { return result }
      }
      return result
    } catch {
      return .failed(error)
    }
  }

  private func finish(_ index: Int, _ result: OfflineResult) {
    state.withLock { state in
      state.renderers[index] = nil
      state.outcomes[index] = Outcome(task: tasks[index], result: result)
    }
  }

  /// Ends everything as soon as may be.
  func cancel() {
    let renderers = state.withLock { state in
      state.isCancelled = true
      return Array(state.renderers.values)
    }
    for renderer in renderers { renderer.cancel() }
  }

  var isOver: Bool { state.withLock { $0.outcomes.allSatisfy { $0 != nil } } }

  /// How each task ended, in order; those that have not ended count as cancelled.
  var results: [Outcome] {
    state.withLock { state in
      zip(tasks, state.outcomes).map { $1 ?? Outcome(task: $0, result: .cancelled) }
    }
  }

  /// From 0 to 1; `nil` where a length is not known.
  var fraction: Double? {
    let (done, running) = state.withLock { state in
      (state.outcomes.count { $0 != nil }, Array(state.renderers.values))
    }
    var sum = Double(done)
    for renderer in running {
      guard let progress = renderer.progress else { continue }
      guard let fraction = progress.fraction else { return tasks.count == 1 ? nil : min(1, sum / Double(tasks.count)) }
      sum += fraction
    }
    return min(1, sum / Double(max(1, tasks.count)))
  }

  /// Seconds since the beginning.
  var seconds: Double { Double(backline_now() - begin) * 1e-9 }
  var doneCount: Int { state.withLock { $0.outcomes.count { $0 != nil } } }
}
