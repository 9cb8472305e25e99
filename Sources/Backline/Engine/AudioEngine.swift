import BacklineDSP
import BacklineEngine
import BacklineJACK
import Synchronization

/// A graph of nodes that make, change and take sound, and what makes it run: a sound server, or the caller by hand.
///
/// ```swift
/// let engine = try AudioEngine()
/// let player = PlayerNode()
/// try engine.attach(player)
/// try engine.connect(player, to: engine.mainMixerNode)
/// try engine.start()
/// try player.schedule(AudioFile(forReading: "song.wav"))
/// try player.play()
/// ```
///
/// Every method may be called on any thread but a render thread. Calls take their turn on the engine's control queue; each
/// returns when it is done, and none waits for a disk or a server but `start`, `stop` and `pause`. The graph may be changed at
/// any time, also while sound runs: nothing clicks, and what a change does not touch stays as it is to the bit.
public final class AudioEngine: Sendable {
  /// What the engine was made with.
  public let configuration: EngineConfiguration
  let engine: Engine
  /// Control queue only.
  let graph = AudioGraph()
  let ends: Mutex<Ends>
  let life: EngineLife
  let manual: Mutex<ManualRendering>
  /// Taken by whoever starts or stops, one at a time.
  let transition = Mutex(())
  /// Tells of ends, taps and events; made when they are first wanted.
  let couriers = Mutex<Couriers>(Couriers())
  /// Who records, or listens to begin with the past.
  let recorder = Mutex<AudioRecorder?>(nil)

  struct Ends {
    var input: InputNode?
    var output: OutputNode?
    var mixer: MixerNode?
  }

  struct Couriers {
    var events: Courier?
    var taps: Courier?
    var reader: SegmentReader?
  }

  /// An engine without sound yet. Nothing is asked of a sound server before `start`.
  ///
  /// Throws `limitReached` where the system has no descriptors or no thread left for it.
  public init(_ configuration: EngineConfiguration = EngineConfiguration()) throws(AudioError) {
    self.configuration = configuration
    do throws(EngineError) {
      engine = try Engine(rampTime: configuration.rampTime)
    } catch {
      throw AudioError(error)
    }
    ends = Mutex(Ends())
    manual = Mutex(ManualRendering())
    life = EngineLife()
    let life = life
    let graph = graph
    let outputs = AudioEngine.portNames("out", configuration.outputChannelCount)
    engine.wait { engine in
      try? engine.perform(.setPorts(PortLayout(inputs: [], outputs: [outputs])))
      engine.flush()
      engine.observe { event in
        if case .configurationChanged(cause: "sampleRate", old: _, let rate, epoch: _) = event {
          graph.followRate(Double(rate))
        }
        life.take(event)
      }
    }
  }

  deinit {
    recorder.withLock { $0 }?.end()
    let graph = graph
    let engine = engine
    engine.wait { engine in
      for entry in graph.entries.values {
        entry.node.willDetach()
        _ = entry.node.belong(to: nil)
        for tap in entry.taps.values { tap.tap.end(isOnCourier: true) }
      }
      // The host has to be done before the engine's memory goes.
      engine.stop { [engine] _ in withExtendedLifetime(engine) {} }
    }
    couriers.withLock { $0.reader?.setRunning(false) }
  }

  static func portNames(_ prefix: String, _ count: Int) -> [String] { (1...max(1, count)).map { "\(prefix)_\($0)" } }

  // MARK: On the control queue

  /// Runs `body` on the control queue and waits for it, with errors as callers know them.
  func control<Value>(_ body: (isolated Engine) throws(AudioError) -> Value) throws(AudioError) -> Value {
    try engine.wait(body)
  }

  /// Applies commands as one.
  func perform(_ commands: [Command], _ engine: isolated Engine) throws(AudioError) {
    if commands.isEmpty { return }
    do throws(TransactionError) {
      try engine.perform(commands)
    } catch {
      throw AudioError(error.error)
    }
    life.changes.add(1, ordering: .relaxed)
  }

  // MARK: Threads that call back

  func eventCourier() throws(AudioError) -> Courier {
    try lazily { couriers throws(AudioError) in
      if let present = couriers.events { return present }
      let new = try Courier(name: "library-events")
      couriers.events = new
      return new
    }
  }

  func tapCourier() throws(AudioError) -> Courier {
    try lazily { couriers throws(AudioError) in
      if let present = couriers.taps { return present }
      let new = try Courier(name: "library-taps")
      couriers.taps = new
      return new
    }
  }

  func segmentReader() throws(AudioError) -> SegmentReader {
    try lazily { couriers throws(AudioError) in
      if let present = couriers.reader { return present }
      let new = try SegmentReader()
      couriers.reader = new
      return new
    }
  }

  private func lazily<Thing: Sendable>(
    _ make: (inout Couriers) throws(AudioError) -> Thing
  ) throws(AudioError) -> Thing {
    let result = couriers.withLock { couriers in Result { () throws(AudioError) in try make(&couriers) } }
    return try result.get()
  }
}
