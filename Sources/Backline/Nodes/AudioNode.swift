import BacklineDSP
import BacklineEngine
import Synchronization

/// One place of an engine's graph that makes, changes or takes sound.
///
/// A node belongs to one engine at a time, from `attach` to `detach`. Everything about it may be asked and changed on any
/// thread but a render thread; changes while the engine runs come without a click, within 10 ms.
public class AudioNode: @unchecked Sendable {
  // Why unchecked: what changes is under locks; what subclasses add keeps to the same rule.

  private struct Belonging { weak var engine: AudioEngine? }

  private let belonging = Mutex(Belonging())
  let mixing = Mutex(MixingState())

  init() {}

  /// The engine that the node is attached to.
  public var engine: AudioEngine? { belonging.withLock { $0.engine } }

  /// The engine, for what cannot be done without one.
  func attachedEngine() throws(AudioError) -> AudioEngine {
    if let engine { return engine }
    throw AudioError(.notAttached, "the \(kindName) belongs to no engine: attach it first")
  }

  // MARK: Buses

  /// The buses that sound comes in by; a mixer has as many as there may be.
  public var inputCount: Int { 0 }
  /// The buses that sound leaves by.
  public var outputCount: Int { 0 }

  /// The format of an input bus: that of the connection into it, else what the node would like. `nil` where there is no such
  /// bus.
  public func inputFormat(bus: Int) -> AudioFormat? {
    guard (0..<inputCount).contains(bus) else { return nil }
    return engine?.format(of: self, input: bus) ?? naturalFormat(isInput: true, bus: bus, sampleRate: 48_000)
  }

  /// The format of an output bus. `nil` where there is no such bus.
  public func outputFormat(bus: Int) -> AudioFormat? {
    guard (0..<outputCount).contains(bus) else { return nil }
    return engine?.format(of: self, output: bus) ?? naturalFormat(isInput: false, bus: bus, sampleRate: 48_000)
  }

  // MARK: Sound

  /// Seconds by which sound leaves the node later than it came in.
  public var latency: Double { engine?.latency(of: self) ?? 0 }

  /// Forgets past sound: echoes, tails, filters' memories. Parameters stay.
  public func reset() { try? engine?.reset(self) }

  /// The frame that was rendered last, on the engine's timeline; `nil` while the engine does not run.
  public var lastRenderTime: AudioTime? { engine?.lastRenderTime }

  /// Has `block` called with what leaves an output bus, in blocks of just `frameCount` frames (1 to 384 000), one after the
  /// other without a gap unless it says so. It is called on a thread of the engine's, where it may take its time; where it takes
  /// too long, sound is left out and counted. The tap stays through stops, reconnections and changes of rate.
  ///
  /// A `format` other than that of the bus is refused, as is a second tap of one bus.
  public func installTap(
    bus: Int = 0, frameCount: Int, format: AudioFormat? = nil, block: @escaping @Sendable (TapBlock) -> Void
  ) throws(AudioError) {
    try attachedEngine().installTap(on: self, bus: bus, frameCount: frameCount, format: format, block: block)
  }

  /// Ends a tap; `block` is not called any more once this has returned, unless it is called from there.
  public func removeTap(bus: Int = 0) throws(AudioError) { try attachedEngine().removeTap(of: self, bus: bus) }

  // MARK: For subclasses

  /// The kind in words, for messages.
  var kindName: String { "node" }

  /// The format that a bus has by itself at an engine's rate.
  func naturalFormat(isInput: Bool, bus: Int, sampleRate: Double) -> AudioFormat {
    AudioFormat(sampleRate: sampleRate, channelCount: 2)
  }

  /// What stands for the node in the graph: a kind of the catalog, or a description of its own under the given name. `nil` for
  /// the engine's own ends.
  func realization(kind: String, channelCount: Int) -> NodeRealization? { nil }

  /// True where the node's channels follow its connections.
  var hasFreeChannels: Bool { false }

  /// True for mixers, of whatever kind: they take any rate and any number of channels, a source an input.
  var isMixing: Bool { false }

  /// True where sound of any rate may come in and the engine's leaves: at mixers and converters.
  var convertsRate: Bool { isMixing }

  /// The volume and pan that an input of this mixer has for a source that is set to `own`.
  func mixingValues(of source: AudioNode, _ own: MixingState.Values, channelCount: Int) -> MixingState.Values { own }

  /// True where the node makes sound of any rate by itself.
  var isSource: Bool { false }

  /// The values that parameters have been given, by index.
  var initialValues: [(index: Int, value: Float)] { [] }

  /// Called on the control queue.
  func willDetach() {}

  /// Takes the node for an engine; false where it belongs to another.
  func belong(to engine: AudioEngine?) -> Bool {
    belonging.withLock { belonging in
      if let engine, let present = belonging.engine, present !== engine { return false }
      belonging.engine = engine
      return true
    }
  }
}

/// What stands for a node in the kernel's graph.
enum NodeRealization {
  /// A unit of the catalog.
  case catalog(UnitDescription)
  /// A unit of its own, registered under its kind.
  case own(UnitDescription)

  var description: UnitDescription {
    switch self {
    case .catalog(let description), .own(let description): description
    }
  }
}
