/// Where sound comes into an engine: the capture side of a sound server, or the caller's own function in manual rendering.
/// Made by its engine.
public final class InputNode: AudioNode, @unchecked Sendable {
  package override init() {}

  public override var outputCount: Int { 1 }
  override var kindName: String { "input node" }

  /// Seconds from where sound arises to the graph, on the longest way, as the server tells it; 0 where nothing is known.
  public var presentationLatency: Double { engine?.presentationLatencies.input ?? 0 }

  /// In manual rendering: has `block` asked for the frames that a cycle takes, of the given format (in the standard form, at
  /// the engine's rate). It gives a buffer with all of them, or `nil`, and then nothing is rendered.
  ///
  /// In real-time mode it is called on the thread that renders and has to keep that thread's rules. Before the engine starts.
  public func setManualRenderingInput(
    format: AudioFormat, block: @escaping @Sendable (_ frameCount: Int) -> PCMBuffer?
  ) throws(AudioError) {
    try attachedEngine().setManualInput(format: format, block: block)
  }
}

/// Where sound leaves an engine: the playback side of a sound server, or the buffer of manual rendering. Made by its engine.
public final class OutputNode: AudioNode, @unchecked Sendable {
  package override init() {}

  public override var inputCount: Int { 1 }
  override var kindName: String { "output node" }

  /// Seconds from the graph to where sound is heard, on the longest way, as the server tells it; 0 where nothing is known.
  public var presentationLatency: Double { engine?.presentationLatencies.output ?? 0 }
}
