import CBackline
import Glibc
import Synchronization

/// A thread of a pipeline: begins with a body and is waited for.
final class PipelineThread: @unchecked Sendable {
  // Why unchecked: the body is taken out by the thread itself, once.

  private let body: Mutex<(@Sendable () -> Void)?>
  private let name: String
  private var id = pthread_t()

  init(_ name: String, _ body: @escaping @Sendable () -> Void) throws(OfflineError) {
    self.name = name
    self.body = Mutex(body)
    let context = Unmanaged.passRetained(self)
    guard pthread_create(&id, nil, pipelineThread, context.toOpaque()) == 0 else {
      context.release()
      throw OfflineError(.internalError, "no thread is left for rendering")
    }
  }

  /// Waits for the end of the body. Once.
  func join() { pthread_join(id, nil) }

  /// Lets it go: it ends by itself.
  func detach() { pthread_detach(id) }

  fileprivate func run() {
    backline_name_thread(name)
    let body = body.withLock { body in
      defer { body = nil }
      return body
    }
    body?()
  }
}

private func pipelineThread(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
  guard let context else { return nil }
  Unmanaged<PipelineThread>.fromOpaque(context).takeRetainedValue().run()
  return nil
}
