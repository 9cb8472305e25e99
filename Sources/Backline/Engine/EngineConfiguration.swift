import BacklineEngine
import BacklineJACK

/// Where an engine's sound comes from and goes to while it is not rendered manually.
public enum AudioOutput: Sendable {
  /// A JACK server, or PipeWire in its place. Starting fails where none runs.
  case jack(JACKOptions = JACKOptions())
  /// No sound card, but a real clock: silent input, output that nobody hears.
  case timer(sampleRate: Int = 48_000, period: Int = 256)
  /// A host of the caller's own.
  case host(any AudioHost)
}

/// What an engine is made with.
public struct EngineConfiguration: Sendable {
  /// The name under which a sound server knows the program, at most 63 bytes.
  public var name: String
  /// Where sound comes from and goes to.
  public var output: AudioOutput
  /// The channels that sound comes in by, once the input node has been asked for: 1 to 32.
  public var inputChannelCount: Int { didSet { inputChannelCount = min(max(1, inputChannelCount), 32) } }
  /// The channels that sound goes out by: 1 to 32.
  public var outputChannelCount: Int { didSet { outputChannelCount = min(max(1, outputChannelCount), 32) } }
  /// Seconds over which changes come, so that they do not click: 0 to 1.
  public var rampTime: Double { didSet { rampTime = Self.held(rampTime) } }

  /// A configuration, with every number held within its range.
  public init(
    name: String = "backline", output: AudioOutput = .jack(), inputChannelCount: Int = 2, outputChannelCount: Int = 2,
    rampTime: Double = 0.01
  ) {
    self.name = name
    self.output = output
    self.inputChannelCount = min(max(1, inputChannelCount), 32)
    self.outputChannelCount = min(max(1, outputChannelCount), 32)
    self.rampTime = Self.held(rampTime)
  }

  private static func held(_ rampTime: Double) -> Double { rampTime.isFinite ? min(max(0, rampTime), 1) : 0.01 }
}

/// Whether an engine's sound runs, and if not, why.
public enum AudioEngineState: Sendable, Equatable {
  /// Nothing is rendered, and nobody waits for a server.
  case stopped
  /// Sound is rendered, or may be asked for by hand.
  case running
  /// Rendering has ended since the server went away or changed; the engine comes back by itself.
  case interrupted(String)
  /// The server is being looked for, for so many times already.
  case recovering(attempt: Int)
  /// There is no server, or it refuses.
  case unavailable(String)

  init(_ state: EngineState) {
    switch state {
    case .stopped, .prepared: self = .stopped
    case .running: self = .running
    case .interrupted(let cause): self = .interrupted(cause)
    case .recovering(let attempt): self = .recovering(attempt: attempt)
    case .unavailable(let reason): self = .unavailable(reason)
    }
  }
}

/// What an engine tells those who watch it.
public enum AudioEngineEvent: Sendable, Equatable {
  /// The state has become another one.
  case stateChanged(AudioEngineState)
  /// The rate (`sampleRate`, in Hz) or the period (`period`, in frames) has changed. Nothing renders while this is told of a rate.
  case configurationChanged(cause: String, old: Int, new: Int, epoch: Int)
  /// A unit gave samples that were no numbers, was silenced for a moment and reset.
  case nonFinite(node: String)
}
