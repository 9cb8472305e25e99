import BacklineRealtime
import Synchronization

/// The memory that a convolver's render thread and control share: engines on their way in and out. Lives as long as either.
final class ConvolverMemory: @unchecked Sendable {
  // Why unchecked: everything inside is atomic or a queue from one thread to one other.

  typealias Engine = UnsafeMutablePointer<ConvolutionEngine>

  /// What is shared, where the render thread reaches it without a reference.
  struct Link: ~Copyable {
    /// 0: nothing waits; 1: no response is wanted; else the address of an engine.
    let incoming = Atomic<UInt>(0)
    let retired = RingQueue<UInt>(capacity: 64)

    init() {}

    /// What waits, if anything. Render thread.
    @_noLocks
    func takeIncoming() -> UInt { incoming.exchange(0, ordering: .acquiringAndReleasing) }

    @_noLocks
    func hasIncoming() -> Bool { incoming.load(ordering: .relaxed) != 0 }

    /// Gives an engine back to be freed. Render thread.
    @_noLocks
    func retire(_ engine: Engine?) {
      if let engine { _ = retired.push(UInt(bitPattern: engine)) }
    }
  }

  let link: UnsafeMutablePointer<Link>

  init() {
    link = .allocate(capacity: 1)
    link.initialize(to: Link())
  }

  deinit {
    Self.free(link.pointee.takeIncoming())
    collect()
    link.deinitialize(count: 1)
    link.deallocate()
  }

  /// Puts an engine, or none, in the place of what waits.
  func offer(_ engine: Engine?) {
    let value = engine.map { UInt(bitPattern: $0) } ?? 1
    Self.free(link.pointee.incoming.exchange(value, ordering: .acquiringAndReleasing))
  }

  /// Frees what is no longer used.
  func collect() {
    while let address = link.pointee.retired.pop() { Self.free(address) }
  }

  static func free(_ address: UInt) {
    guard address > 1, let engine = Engine(bitPattern: address) else { return }
    engine.pointee.deallocate()
    engine.deallocate()
  }
}

/// Gives a convolver its impulse response. All calls from control threads.
public final class ConvolverControl: Sendable {
  /// Frames a second that a response has to have.
  public let sampleRate: Double
  private let memory: ConvolverMemory
  private let frames = Mutex<Int?>(nil)

  init(sampleRate: Double, memory: ConvolverMemory) {
    self.sampleRate = sampleRate
    self.memory = memory
  }

  /// Convolves with `response` from now on. Prepares everything before it returns, which takes
  /// milliseconds for long responses; the change is then made within the ramp, and what the response before holds rings out.
  /// When it throws, everything stays as it was.
  public func attach(_ response: ImpulseResponse) throws(ImpulseResponseError) {
    let bytes = ConvolutionEngine.bytes(channels: response.channels.count, frames: response.frameCount)
    guard SampleMemory.isAvailable(bytes: bytes) else { throw .noMemory(frames: response.frameCount) }
    let made = try ConvolutionEngine(response.channels)
    let engine = ConvolverMemory.Engine.allocate(capacity: 1)
    engine.initialize(to: made)
    offer(engine, response.frameCount)
  }

  /// Lets the input pass from now on, within the ramp; what the response holds rings out.
  public func detach() { offer(nil, nil) }

  private func offer(_ engine: ConvolverMemory.Engine?, _ frameCount: Int?) {
    frames.withLock { frames in
      frames = frameCount
      memory.offer(engine)
      memory.collect()
    }
  }

  /// The length of the response in frames, `nil` without one.
  public var frameCount: Int? { frames.withLock { $0 } }
}
