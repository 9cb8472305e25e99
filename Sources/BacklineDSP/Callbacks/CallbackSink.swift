import CBackline

/// A unit whose sound goes to a function of the caller's, with any number of channels. Silence goes there, too.
public struct CallbackSink: RenderUnit, ~Copyable {
  public static let functions = UnitFunctions(
    render: callbackSinkRender, set: callbackSet, reset: callbackReset, tail: callbackTail, isSleepless: true)

  /// A unit that calls `function` with `context` on the render thread to read its input bus. `owner` owns the context;
  /// `prepare` is told the rate before, on the control queue.
  public static func description(
    kind: String, channelCount: Int, function: @escaping UnitRender, context: UnsafeMutableRawPointer,
    owner: (any AnyObject & Sendable)?, prepare: @escaping @Sendable (Double) -> Void
  ) -> UnitDescription {
    nonisolated(unsafe) let context = context
    return UnitDescription(
      kind: kind, title: "Sink", summary: "Hands sound to a function.",
      inputs: [.init("input", channels: channelCount)], outputs: [], parameters: [],
      make: { format in
        prepare(format.sampleRate)
        return UnitInstance(initializing: CallbackSink(function, context, owner))
      })
  }

  private let function: UnitRender
  private let context: UnsafeMutableRawPointer
  /// Keeps the context; never touched while rendering.
  private let owner: AnyObject?

  private init(_ function: @escaping UnitRender, _ context: UnsafeMutableRawPointer, _ owner: AnyObject?) {
    self.function = function
    self.context = context
    self.owner = owner
  }

  @_noLocks
  func render(_ block: UnsafePointer<RenderBlock>) { backline_render(function, context, block) }
}

@_noLocks
private func callbackSinkRender(_ state: UnsafeMutableRawPointer, _ block: UnsafePointer<RenderBlock>) {
  state.assumingMemoryBound(to: CallbackSink.self).pointee.render(block)
}
