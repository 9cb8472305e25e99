import BacklineEngine
import BacklineMedia
import CBackline
import Synchronization

/// Renders one job from its beginning to its end, faster than it sounds.
///
/// Reading, rendering and writing overlap on three threads with a few blocks between them, so that memory does not grow with the
/// length; whoever is ahead waits. There is one result, and "completed" means that the destination is finished.
public final class OfflineRenderer: Sendable {
  private let job: OfflineJob
  private let isCancelledFlag = Atomic<Bool>(false)
  private let pass = Mutex<RenderPass?>(nil)

  public init(_ job: OfflineJob) { self.job = job }

  /// Renders on the calling thread, which must not be a control queue's, and returns when all is over.
  public func runAndWait() -> OfflineResult {
    let begin = backline_now()
    let result: OfflineResult
    do throws(OfflineError) {
      guard (1...8192).contains(job.blockFrames) else {
        throw OfflineError(.wrongUsage, "1 to 8192 frames are rendered at once, not \(job.blockFrames)")
      }
      let graph = try OfflineGraph(job, sampleRate: job.source.sampleRate)
      let made = try RenderPass(job, graph, begin: begin)
      pass.withLock { $0 = made }
      if isCancelled { made.cancel() }
      result = try made.run(isCancelled: { self.isCancelled }).map { .completed($0) } ?? .cancelled
    } catch {
      result = isCancelled ? .cancelled : .failed(error)
    }
    pass.withLock { $0 = nil }
    if case .completed = result { return result }
    job.destination.discard()
    return result
  }

  /// Renders on a thread of its own. Cancelling the task cancels the rendering, which then leaves nothing behind.
  public func run() async -> OfflineResult {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        do throws(OfflineError) {
          try PipelineThread("render") { continuation.resume(returning: self.runAndWait()) }.detach()
        } catch {
          continuation.resume(returning: .failed(error))
        }
      }
    } onCancel: {
      cancel()
    }
  }

  /// Ends the rendering as soon as may be, from any thread; what has completed by then stays completed.
  public func cancel() {
    isCancelledFlag.store(true, ordering: .sequentiallyConsistent)
    pass.withLock { $0 }?.cancel()
  }

  private var isCancelled: Bool { isCancelledFlag.load(ordering: .sequentiallyConsistent) }

  /// How far it has come; `nil` before it has begun and after its end.
  public var progress: OfflineProgress? { pass.withLock { $0 }?.progress }
}
