import Backline
import Foundation

/// How an engine is rendered by its caller.
public enum AVAudioEngineManualRenderingMode: Int, Sendable {
  case offline, realtime
}

/// What became of a request for frames.
public enum AVAudioEngineManualRenderingStatus: Int, Sendable {
  case error = -1
  case success = 0
  case insufficientDataFromInputNode = 1
  case cannotDoInCurrentContext = 2
}

/// Renders in real-time mode into a list of buffers.
public typealias AVAudioEngineManualRenderingBlock = (
  _ numberOfFrames: AVAudioFrameCount, _ outputBuffer: UnsafeMutablePointer<AudioBufferList>,
  _ outError: UnsafeMutablePointer<OSStatus>?
) -> AVAudioEngineManualRenderingStatus

extension Notification.Name {
  /// Posted after the engine has stopped since its server changed its rate or went away. Whoever hears of it may do anything to the
  /// engine, also let it go.
  public static let AVAudioEngineConfigurationChange = Notification.Name("AVAudioEngineConfigurationChangeNotification")
}

/// A graph of nodes; see `AudioEngine`, which it is underneath.
///
/// Where a method of the older spelling fails that does not throw, its error is kept, and the next `start()` throws it. So it
/// is where the system has no thread or descriptor left for an engine: everything that can throws that error then, and the rest
/// does nothing.
public final class AVAudioEngine: NSObject, @unchecked Sendable {
  // Why unchecked: the engine underneath is Sendable; the rest is under the lock.

  /// The engine underneath; throws where the system had nothing left to make one.
  public var audioEngine: AudioEngine { get throws(AudioError) { try made.get() } }
  private let made: Result<AudioEngine, AudioError>
  private var present: AudioEngine? { try? made.get() }
  private let lock = NSLock()
  private var wrappers: [ObjectIdentifier: AVAudioNode] = [:]
  private var kept: (any Error)?

  /// An engine that will play through JACK, under the program's name.
  public override convenience init() {
    self.init(
      EngineConfiguration(
        name: String(ProcessInfo.processInfo.processName.prefix(60)).replacingOccurrences(of: ":", with: "_")))
  }

  /// An engine of the given configuration.
  public init(_ configuration: EngineConfiguration) {
    made = Result { () throws(AudioError) in try AudioEngine(configuration) }
    super.init()
    let box = WeakEngine(self)
    try? present?.observe { event in
      switch event {
      case .configurationChanged(cause: "sampleRate", old: _, new: _, epoch: _), .stateChanged(.interrupted):
        guard let engine = box.engine else { return }
        NotificationCenter.default.post(name: .AVAudioEngineConfigurationChange, object: engine)
      default: break
      }
    }
  }

  private final class WeakEngine: @unchecked Sendable {
    // Why unchecked: a weak reference is read whole.
    weak var engine: AVAudioEngine?
    init(_ engine: AVAudioEngine) { self.engine = engine }
  }

  private func locked<Value>(_ body: () -> Value) -> Value {
    lock.lock()
    defer { lock.unlock() }
    return body()
  }

  /// Keeps the first error of what could not throw it.
  func keep(_ error: any Error) { locked { if kept == nil { kept = error } } }

  private func keeping(_ body: () throws -> Void) {
    do { try body() } catch { keep(error) }
  }

  // MARK: Nodes

  /// Takes a node into the engine.
  public func attach(_ node: AVAudioNode) {
    keeping {
      try audioEngine.attach(node.node)
      adopt(node)
    }
  }

  /// Takes a node out, with its connections.
  public func detach(_ node: AVAudioNode) {
    present?.detach(node.node)
    locked { wrappers[ObjectIdentifier(node.node)] = nil }
    node.owner = nil
  }

  private func adopt(_ node: AVAudioNode) {
    locked { wrappers[ObjectIdentifier(node.node)] = node }
    node.owner = self
  }

  /// The one wrapper of a node of the engine's own.
  private func wrapper<Node: AudioNode, Wrapper: AVAudioNode>(_ node: Node, _ make: (Node) -> Wrapper) -> Wrapper {
    if let present = locked({ wrappers[ObjectIdentifier(node)] }) as? Wrapper { return present }
    let new = make(node)
    adopt(new)
    return new
  }

  /// The nodes that are attached, but for the engine's own ends.
  public var attachedNodes: Set<AVAudioNode> {
    let attached = Set((present?.attachedNodes ?? []).map { ObjectIdentifier($0) })
    return locked { Set(wrappers.filter { attached.contains($0.key) }.values) }
  }

  /// Where sound comes in; made when it is first asked for.
  public var inputNode: AVAudioInputNode { wrapper(present?.inputNode ?? InputNode()) { AVAudioInputNode($0) } }
  /// Where sound goes out.
  public var outputNode: AVAudioOutputNode { wrapper(present?.outputNode ?? OutputNode()) { AVAudioOutputNode($0) } }
  /// A mixer in front of the output, made and connected when it is first asked for.
  public var mainMixerNode: AVAudioMixerNode { wrapper(present?.mainMixerNode ?? MixerNode()) { AVAudioMixerNode($0) } }

  // MARK: Connections

  /// Connects two nodes; an error is kept for the start.
  public func connect(_ node1: AVAudioNode, to node2: AVAudioNode, format: AVAudioFormat?) {
    keeping { try connectNode(node1, to: node2, format: format) }
  }

  /// Connects by buses; an error is kept for the start.
  public func connect(
    _ node1: AVAudioNode, to node2: AVAudioNode, fromBus bus1: AVAudioNodeBus, toBus bus2: AVAudioNodeBus,
    format: AVAudioFormat?
  ) {
    keeping { try connectNode(node1, to: node2, fromBus: bus1, toBus: bus2, format: format) }
  }

  /// Connects by buses; an error is kept for the start.
  public func connect(
    _ sourceNode: AVAudioNode, to destNodes: [AVAudioConnectionPoint], fromBus sourceBus: AVAudioNodeBus,
    format: AVAudioFormat?
  ) {
    keeping { try connectNode(sourceNode, to: destNodes, fromBus: sourceBus, format: format) }
  }

  /// Connects two nodes; throws where that cannot be.
  public func connectNode(_ node1: AVAudioNode, to node2: AVAudioNode, format: AVAudioFormat?) throws {
    try audioEngine.connect(node1.node, to: node2.node, format: format?.format)
  }

  /// Connects by buses; throws where that cannot be.
  public func connectNode(
    _ node1: AVAudioNode, to node2: AVAudioNode, fromBus bus1: AVAudioNodeBus, toBus bus2: AVAudioNodeBus,
    format: AVAudioFormat?
  ) throws {
    try audioEngine.connect(node1.node, bus: bus1, to: node2.node, bus: bus2, format: format?.format)
  }

  /// Connects by buses; throws where that cannot be.
  public func connectNode(
    _ sourceNode: AVAudioNode, to destNodes: [AVAudioConnectionPoint], fromBus sourceBus: AVAudioNodeBus,
    format: AVAudioFormat?
  ) throws {
    let points = destNodes.compactMap { point in point.node.map { ConnectionPoint($0.node, bus: point.bus) } }
    try audioEngine.connect(sourceNode.node, bus: sourceBus, to: points, format: format?.format)
  }

  /// Takes the connection into an input bus away.
  public func disconnectNodeInput(_ node: AVAudioNode, bus: AVAudioNodeBus) {
    try? audioEngine.disconnectInput(of: node.node, bus: bus)
  }

  /// Takes all connections into a node away.
  public func disconnectNodeInput(_ node: AVAudioNode) { try? audioEngine.disconnectInput(of: node.node) }

  /// Takes the connections that leave an output bus away.
  public func disconnectNodeOutput(_ node: AVAudioNode, bus: AVAudioNodeBus) {
    try? audioEngine.disconnectOutput(of: node.node, bus: bus)
  }

  /// Takes all connections that leave a node away.
  public func disconnectNodeOutput(_ node: AVAudioNode) { try? audioEngine.disconnectOutput(of: node.node) }

  /// What is connected to an input bus.
  public func inputConnectionPoint(for node: AVAudioNode, inputBus bus: AVAudioNodeBus) -> AVAudioConnectionPoint? {
    present?.inputConnectionPoint(for: node.node, bus: bus).flatMap(point)
  }

  /// What an output bus is connected to.
  public func outputConnectionPoints(for node: AVAudioNode, outputBus bus: AVAudioNodeBus) -> [AVAudioConnectionPoint] {
    (present?.outputConnectionPoints(for: node.node, bus: bus) ?? []).compactMap(point)
  }

  private func point(_ point: ConnectionPoint) -> AVAudioConnectionPoint? {
    locked { wrappers[ObjectIdentifier(point.node)] }.map { AVAudioConnectionPoint(node: $0, bus: point.bus) }
  }

  // MARK: Running

  /// Does ahead what would be done at the start.
  public func prepare() { present?.prepare() }

  /// Starts the engine; throws what an earlier call could not throw, and else why the engine cannot start.
  public func start() throws {
    let error = locked {
      defer { kept = nil }
      return kept
    }
    if let error { throw error }
    try audioEngine.start()
  }

  /// Ends rendering and keeps everything as it is.
  public func pause() { present?.pause() }
  /// Ends rendering. Units forget past sound; what is scheduled stays.
  public func stop() { present?.stop() }
  /// Has every unit forget past sound, and every player what is scheduled.
  public func reset() { present?.reset() }
  /// True while sound is rendered, or may be asked for.
  public var isRunning: Bool { present?.isRunning ?? false }

  /// Kept, and without effect: an engine without sound costs next to nothing here.
  public var isAutoShutdownEnabled: Bool {
    get { locked { shutsDown } }
    set { locked { shutsDown = newValue } }
  }
  private var shutsDown = false

  // MARK: Manual rendering

  /// Takes the engine off its sound server: frames are rendered when they are asked for. Only while it is stopped.
  public func enableManualRenderingMode(
    _ mode: AVAudioEngineManualRenderingMode, format pcmFormat: AVAudioFormat, maximumFrameCount: AVAudioFrameCount
  ) throws {
    try audioEngine.enableManualRendering(
      mode == .offline ? .offline : .realtime, format: pcmFormat.format, maximumFrameCount: Int(maximumFrameCount))
  }

  /// Gives the engine back to its sound server; an error is kept for the start.
  public func disableManualRenderingMode() { keeping { try audioEngine.disableManualRendering() } }

  /// Renders frames into a buffer, whose `frameLength` says how many there are.
  public func renderOffline(
    _ numberOfFrames: AVAudioFrameCount, to buffer: AVAudioPCMBuffer
  ) throws -> AVAudioEngineManualRenderingStatus {
    Self.status(try audioEngine.renderOffline(Int(numberOfFrames), to: buffer.buffer))
  }

  private static func status(_ status: ManualRenderingStatus) -> AVAudioEngineManualRenderingStatus {
    switch status {
    case .success: .success
    case .insufficientDataFromInputNode: .insufficientDataFromInputNode
    case .cannotDoInCurrentContext: .cannotDoInCurrentContext
    case .error: .error
    }
  }

  /// Renders in real-time mode; answers `error` where that has not been enabled.
  public var manualRenderingBlock: AVAudioEngineManualRenderingBlock {
    let renderer = try? audioEngine.manualRenderer()
    let channels = UnsafeMutablePointer<UnsafeMutablePointer<Float>>.allocate(capacity: 32)
    let holder = ChannelHolder(channels)
    return { count, list, error in
      let buffers = UnsafeMutableAudioBufferListPointer(list)
      guard let renderer, buffers.count >= renderer.channelCount else {
        error?.pointee = -50
        return .error
      }
      for channel in 0..<renderer.channelCount {
        guard let data = buffers[channel].mData, Int(buffers[channel].mDataByteSize) >= Int(count) * 4 else {
          error?.pointee = -50
          return .error
        }
        (holder.channels + channel).initialize(to: data.assumingMemoryBound(to: Float.self))
      }
      error?.pointee = noErr
      return Self.status(renderer.render(Int(count), to: UnsafePointer(holder.channels)))
    }
  }

  private final class ChannelHolder: @unchecked Sendable {
    // Why unchecked: one thread at a time renders.
    let channels: UnsafeMutablePointer<UnsafeMutablePointer<Float>>
    init(_ channels: UnsafeMutablePointer<UnsafeMutablePointer<Float>>) { self.channels = channels }
    deinit { channels.deallocate() }
  }

  /// True while manual rendering is on.
  public var isInManualRenderingMode: Bool { present?.manualRenderingMode != nil }
  /// The mode; offline where none is on.
  public var manualRenderingMode: AVAudioEngineManualRenderingMode {
    present?.manualRenderingMode == .realtime ? .realtime : .offline
  }
  /// The format of manual rendering.
  public var manualRenderingFormat: AVAudioFormat {
    AVAudioFormat(present?.manualRenderingFormat ?? AudioFormat(sampleRate: 48_000, channelCount: 2))
  }
  /// The most frames of one request.
  public var manualRenderingMaximumFrameCount: AVAudioFrameCount {
    AVAudioFrameCount(present?.manualRenderingMaximumFrameCount ?? 0)
  }
  /// The frames rendered since manual rendering was enabled.
  public var manualRenderingSampleTime: AVAudioFramePosition { present?.manualRenderingSampleTime ?? 0 }
}
