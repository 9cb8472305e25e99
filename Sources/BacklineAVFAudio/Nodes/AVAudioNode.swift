import Backline
import Foundation

/// One place of an engine's graph; see `AudioNode`.
public class AVAudioNode: NSObject, @unchecked Sendable {
  // Why unchecked: the node underneath is Sendable; what else changes is written while the node is attached.

  let node: AudioNode
  /// Keeps the wrapper's engine as long as anyone asks for it.
  weak var owner: AVAudioEngine?

  init(_ node: AudioNode) { self.node = node }

  /// The engine that the node is attached to.
  public var engine: AVAudioEngine? { node.engine == nil ? nil : owner }
  /// The buses that sound comes in by.
  public var numberOfInputs: Int { node.inputCount }
  /// The buses that sound leaves by.
  public var numberOfOutputs: Int { node.outputCount }
  /// Seconds by which sound leaves the node later than it came in.
  public var latency: TimeInterval { node.latency }
  /// The frame that was rendered last; `nil` while the engine does not run.
  public var lastRenderTime: AVAudioTime? { node.lastRenderTime.map(AVAudioTime.init) }

  /// The format of a bus; one without channels where there is no such bus.
  public func inputFormat(forBus bus: AVAudioNodeBus) -> AVAudioFormat {
    AVAudioFormat(node.inputFormat(bus: bus) ?? AudioFormat(sampleRate: 0, channelCount: 0))
  }

  /// The format of a bus; one without channels where there is no such bus.
  public func outputFormat(forBus bus: AVAudioNodeBus) -> AVAudioFormat {
    AVAudioFormat(node.outputFormat(bus: bus) ?? AudioFormat(sampleRate: 0, channelCount: 0))
  }

  /// Forgets past sound.
  public func reset() { node.reset() }

  /// Listens to a bus; see `AudioNode.installTap`. An error is kept for the engine's start to throw.
  public func installTap(
    onBus bus: AVAudioNodeBus, bufferSize: AVAudioFrameCount, format: AVAudioFormat?,
    block tapBlock: @escaping AVAudioNodeTapBlock
  ) {
    do {
      try installAudioTap(onBus: bus, bufferSize: bufferSize, format: format, block: tapBlock)
    } catch {
      owner?.keep(error)
    }
  }

  /// Listens to a bus; throws where that cannot be.
  public func installAudioTap(
    onBus bus: AVAudioNodeBus, bufferSize: AVAudioFrameCount, format: AVAudioFormat?,
    block tapBlock: @escaping AVAudioNodeTapBlock
  ) throws {
    try node.installTap(bus: bus, frameCount: Int(bufferSize), format: format?.format) { block in
      tapBlock(AVAudioPCMBuffer(block.buffer), AVAudioTime(block.time))
    }
  }

  /// Ends a tap.
  public func removeTap(onBus bus: AVAudioNodeBus) { try? node.removeTap(bus: bus) }
}

/// One end of a connection.
public class AVAudioConnectionPoint: NSObject, @unchecked Sendable {
  // Why unchecked: nothing changes after init.

  /// The node.
  public let node: AVAudioNode?
  /// Its bus.
  public let bus: AVAudioNodeBus

  /// A bus of a node.
  public init(node: AVAudioNode, bus: AVAudioNodeBus) {
    self.node = node
    self.bus = bus
  }
}

/// What sounds at a mixer's input: kept through reconnections.
public protocol AVAudioMixing: AnyObject {
  var volume: Float { get set }
  var pan: Float { get set }
}

extension AVAudioMixing where Self: AVAudioNode {
  /// How loud the node is in the mixers that it goes to: 0 to 1.
  public var volume: Float {
    get { node.volume }
    set { node.volume = newValue }
  }

  /// The balance, from -1 (left) to 1 (right).
  public var pan: Float {
    get { node.pan }
    set { node.pan = newValue }
  }

  /// One input of one mixer, to be set apart from the others.
  public func destination(forMixer mixer: AVAudioNode, bus: AVAudioNodeBus) -> AVAudioMixingDestination? {
    (mixer.node as? MixerNode).map { AVAudioMixingDestination(node.destination(mixer: $0, bus: bus)) }
  }
}

/// One input of one mixer.
public class AVAudioMixingDestination: NSObject, AVAudioMixing {
  private let destination: MixingDestination

  init(_ destination: MixingDestination) { self.destination = destination }

  /// How loud: 0 to 1.
  public var volume: Float {
    get { destination.volume }
    set { destination.volume = newValue }
  }

  /// The balance, from -1 (left) to 1 (right).
  public var pan: Float {
    get { destination.pan }
    set { destination.pan = newValue }
  }
}

/// An end of the engine.
public class AVAudioIONode: AVAudioNode, @unchecked Sendable {
  /// Seconds from where sound arises to the graph, or from the graph to the ear, as far as the server tells them.
  public var presentationLatency: TimeInterval {
    (node as? InputNode)?.presentationLatency ?? (node as? OutputNode)?.presentationLatency ?? 0
  }

  /// False: there is no voice processing on Linux.
  public var isVoiceProcessingEnabled: Bool { false }

  /// Throws where it is to be switched on: there is no voice processing (echo canceller, gain control) on Linux.
  public func setVoiceProcessingEnabled(_ enabled: Bool) throws {
    if enabled {
      throw AudioError(.unsupported, "there is no voice processing on Linux: put units of your own behind the input")
    }
  }
}

/// Where sound comes in.
public class AVAudioInputNode: AVAudioIONode, AVAudioMixing, @unchecked Sendable {
  /// In manual rendering: where input comes from; false where the engine is not in that mode or runs, or the format does not fit.
  public func setManualRenderingInputPCMFormat(
    _ format: AVAudioFormat, inputBlock block: @escaping @Sendable (AVAudioFrameCount) -> AVAudioPCMBuffer?
  ) -> Bool {
    guard let input = node as? InputNode else { return false }
    do {
      try input.setManualRenderingInput(format: format.format) { block(AVAudioFrameCount($0))?.buffer }
      return true
    } catch {
      owner?.keep(error)
      return false
    }
  }
}

/// Where sound goes out.
public class AVAudioOutputNode: AVAudioIONode, @unchecked Sendable {}

/// A mixer; see `MixerNode`.
public class AVAudioMixerNode: AVAudioNode, AVAudioMixing, @unchecked Sendable {
  private var mixer: MixerNode { node as? MixerNode ?? MixerNode() }

  /// A mixer.
  public convenience init() { self.init(MixerNode()) }

  /// The volume of the mix: 0 to 1.
  public var outputVolume: Float {
    get { mixer.outputVolume }
    set { mixer.outputVolume = newValue }
  }

  /// The first input that nothing is connected to.
  public var nextAvailableInputBus: AVAudioNodeBus { mixer.nextAvailableInputBus }
}
