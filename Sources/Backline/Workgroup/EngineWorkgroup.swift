import Synchronization

/// The workgroup of an engine: a new one each time that its rendering begins anew.
final class EngineWorkgroup: Sendable {
  private let present = Mutex<Workgroup?>(nil)

  /// The group of the present or the coming run.
  func current(_ name: String) -> Workgroup {
    present.withLock { present in
      if let group = present, !group.isCancelled { return group }
      let new = Workgroup(name, kind: .deadline)
      present = new
      return new
    }
  }

  /// Rendering has stopped.
  func cancel() { present.withLock { $0 }?.cancel() }
}

extension AudioEngine {
  /// The threads that share the render thread's deadline, for callers that have such threads of their own.
  ///
  /// Cancelled whenever rendering stops or the sound server goes or changes its rate; this gives the next one then. See
  /// <doc:HelpingTheRenderThread>.
  public var workgroup: Workgroup { workgroups.current(configuration.name) }
}
