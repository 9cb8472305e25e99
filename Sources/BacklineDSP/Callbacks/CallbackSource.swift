import CBackline

/// A unit whose sound a function of the caller's makes, with any number of channels.
public struct CallbackSource: RenderUnit, ~Copyable {
  public static let functions = UnitFunctions(
    render: callbackSourceRender, set: callbackSet, reset: callbackReset, tail: callbackTail)

  /// A unit that calls `function` with `context` on the render thread to write its output bus, which is zero before. `owner`
  /// owns the context. The function writes at `sampleRate` Hz, the engine's rate where it is `nil`, and is converted from there;
  /// `prepare` is told its rate before, on the control queue.
  public static func description(
    kind: String, channelCount: Int, sampleRate: Double? = nil, function: @escaping UnitRender,
    context: UnsafeMutableRawPointer, owner: (any AnyObject & Sendable)?, prepare: @escaping @Sendable (Double) -> Void
  ) -> UnitDescription {
    nonisolated(unsafe) let context = context
    return UnitDescription(
      kind: kind, title: "Source", summary: "Makes sound by a function.", inputs: [],
      outputs: [.init("output", channels: channelCount)], parameters: [],
      make: { format in
        let rate = sampleRate ?? format.sampleRate
        prepare(rate)
        let converter =
          rate == format.sampleRate
          ? nil : SourceRateConverter(inputRate: rate, outputRate: format.sampleRate, channelCount: channelCount)
        return UnitInstance(initializing: CallbackSource(channelCount, converter, function, context, owner))
      })
  }

  private let channelCount: Int
  private var converter: SourceRateConverter?
  private let function: UnitRender
  private let context: UnsafeMutableRawPointer
  /// Keeps the context; never touched while rendering.
  private let owner: AnyObject?

  private init(
    _ channelCount: Int, _ converter: SourceRateConverter?, _ function: @escaping UnitRender,
    _ context: UnsafeMutableRawPointer, _ owner: AnyObject?
  ) {
    self.channelCount = channelCount
    self.converter = converter
    self.function = function
    self.context = context
    self.owner = owner
  }

  deinit { converter?.deallocate() }

  @_noLocks
  mutating func render(_ block: UnsafePointer<RenderBlock>) {
    if converter != nil {
      converter?.render(block.pointee, function, context)
      return
    }
    for channel in 0..<channelCount { backline_zero(block.pointee.output(0, channel), Int64(block.pointee.frameCount)) }
    backline_render(function, context, block)
  }
}

@_noLocks
private func callbackSourceRender(_ state: UnsafeMutableRawPointer, _ block: UnsafePointer<RenderBlock>) {
  state.assumingMemoryBound(to: CallbackSource.self).pointee.render(block)
}

@_noLocks
func callbackSet(_ state: UnsafeMutableRawPointer, _ parameter: Int32, _ value: Float, _ rampFrames: Int32) {}

@_noLocks
func callbackReset(_ state: UnsafeMutableRawPointer) {}

@_noLocks
func callbackTail(_ state: UnsafeMutableRawPointer) -> Int64 { Tail.endless }
