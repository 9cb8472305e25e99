import CBackline

/// What an audio host is asked for.
public struct HostConfiguration: Sendable, Equatable {
  /// The client name to ask for, at most 63 bytes.
  public var name: String
  /// The short names of the input ports, one a channel, in order.
  public var inputPorts: [String]
  /// The short names of the output ports, one a channel, in order.
  public var outputPorts: [String]

  public init(name: String, inputPorts: [String], outputPorts: [String]) {
    self.name = name
    self.inputPorts = inputPorts
    self.outputPorts = outputPorts
  }
}

/// What a host tells the engine, from any thread but the render thread.
public enum HostEvent: Sendable, Equatable {
  /// The answer to `open`: the name that the host really has, the rate, and the period. Nothing renders yet.
  case opened(name: String, sampleRate: Int, period: Int)
  /// The other answer to `open`, after which the host may be opened again at once; also the answer to a `start` that
  /// the server refuses, after which `close` has to be called.
  case failed(HostFailure)
  /// Rendering has begun: the first cycle is done.
  case started
  /// The host is gone; no callback comes any more. `close` has still to be called.
  case lost(reason: String)
  case periodChanged(Int)
  case sampleRateChanged(Int)
  /// The server met a gap; one event may stand for several (`lateCounts` has the number).
  case xrun
  case freewheel(Bool)
  /// Connections or ports of the world outside have changed.
  case portsChanged
}

/// Why a host could not be opened.
public enum HostFailure: Error, Sendable, Equatable {
  /// No server runs (yet): trying again later is right.
  case noServer(String)
  /// The server runs but refuses: a name taken under `exactName`, too many ports.
  case refused(String)
}

/// The latencies inside the engine, between host ports: what the host adds to the latencies outside.
public struct LatencyMap: Sendable, Equatable {
  /// One entry a pair of ports with a path between them.
  public struct Path: Sendable, Equatable {
    public let input: Int
    public let output: Int
    /// The shortest and the longest way in frames.
    public let frames: ClosedRange<Int>

    public init(input: Int, output: Int, frames: ClosedRange<Int>) {
      self.input = input
      self.output = output
      self.frames = frames
    }
  }

  public let paths: [Path]

  public init(_ paths: [Path]) { self.paths = paths }
}

/// Where sound comes from and goes to: a JACK server, a timer, later a file. One at a time belongs to an engine.
///
/// No method waits longer than a few milliseconds: what may take longer is answered by an event.
public protocol AudioHost: AnyObject, Sendable {
  /// The word for it in the status: `jack`, `timer`.
  var kind: String { get }
  /// Opens the host. Calls `onEvent` from then on until `close` has completed; calls `render` with `state` from `start` on.
  func open(
    _ configuration: HostConfiguration, render: @escaping HostRender, state: UnsafeMutableRawPointer,
    onEvent: @escaping @Sendable (HostEvent) -> Void)
  /// Begins to call `render`. Only after `.opened`.
  func start()
  /// Ends rendering and gives everything back within two seconds; `completion` is called once no callback can come any more,
  /// with false when the host had to be left hanging on a thread of its own. Even then `render` is not called any more.
  func close(completion: @escaping @Sendable (_ isClean: Bool) -> Void)
  /// Ends rendering for this opening, from any thread, since what `state` points to is about to be freed: waits for a cycle
  /// that runs, two seconds at most, and is false where that one hangs. `close` follows.
  func cut() -> Bool
  /// Lays out the ports anew while the host stays open: kept ones, by position, may get another name; more appear or surplus
  /// ones go. The name in `configuration` is not looked at.
  func setPorts(_ configuration: HostConfiguration)
  /// Starts threads that help the one that calls `render`, scheduled like that one. Between `.opened` and `start`; the engine ends
  /// them after `close`, and a host may do so before.
  func employ(_ workers: WorkerThreads)
  /// Publishes new latencies.
  func setLatencies(_ latencies: LatencyMap)
  /// The absolute frame that plays at a time of CLOCK_MONOTONIC in nanoseconds; `nil` while nothing renders. Counted as the
  /// frames that this host has rendered since its creation, through closing and opening.
  func frame(at nanoseconds: Int64) -> Int64?
  /// The cycles that this client finished late, and the server's xruns, since the host's creation.
  var lateCounts: (own: Int, server: Int) { get }
  /// The part of the cycles' time that rendering takes: averaged over about a second, and the largest so far.
  var load: (mean: Float, largest: Float) { get }
  /// The part of its time that rendering took in no more than `part` of all cycles (0 to 1), to 12.5 %; 0 where nothing is known.
  func load(ofCycles part: Double) -> Float
  /// True when the render thread runs with real-time scheduling.
  var isRealtime: Bool { get }
  /// The frames rendered since the host's creation. Asked for while nothing renders.
  var renderedFrames: Int64 { get }
  /// Frames that sound takes outside, on the longest ways: to the inputs, and from the outputs to where it is heard. 0 where nothing
  /// is known.
  var outsideLatencies: (input: Int, output: Int) { get }
  /// True where sound has to come in and go out without a step, since someone listens; false where every frame counts.
  var fades: Bool { get }
  /// True where time passes only when somebody asks for a cycle: what the engine does by the clock, such as tidying, is left
  /// to whoever asks.
  var isOffline: Bool { get }
  /// True where a cycle has to be done by a certain time.
  var hasDeadline: Bool { get }
}

extension AudioHost {
  public var load: (mean: Float, largest: Float) { (0, 0) }
  public func load(ofCycles part: Double) -> Float { 0 }
  public var outsideLatencies: (input: Int, output: Int) { (0, 0) }
  public var fades: Bool { true }
  public var isOffline: Bool { false }
  public var hasDeadline: Bool { true }

  /// Ordinary threads, for a host that has nothing better.
  public func employ(_ workers: WorkerThreads) { workers.startOrdinary() }

  /// Nothing to do for a host that renders on the thread of its owner.
  public func cut() -> Bool { true }

  /// Nothing to do for a host whose ports have no names and whose callers bring the buffers.
  public func setPorts(_ configuration: HostConfiguration) {}
}
