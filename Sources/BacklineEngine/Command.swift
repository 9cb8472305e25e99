/// What anyone may ask of an engine; a list of them is a transaction, applied at one frame or refused whole.
public enum Command: Sendable {
  /// `values` by parameter index.
  case add(kind: String, name: String, values: [(index: Int, value: Float)])
  case remove(String)
  case rename(String, to: String)
  /// `map` has the source channel for each destination channel; `parts` says it in full. Without either, R8 decides.
  case connect(Endpoint, Endpoint, isFeedback: Bool = false, map: [Int]? = nil, parts: [ChannelPart]? = nil)
  case disconnect(Endpoint, Endpoint)
  /// Puts a new node into a connection.
  case insert(kind: String, name: String, from: Endpoint, to: Endpoint)
  /// Takes a node out of its place, closes the gap, and puts it into a connection.
  case move(String, from: Endpoint, to: Endpoint)
  /// Gives a node another kind, in the same place.
  case replace(String, kind: String)
  /// Lays out the JACK side anew, while nothing is connected to it.
  case setPorts(PortLayout)
  /// Replaces the whole graph.
  case load(GraphDescription)
  /// `ramp` in seconds; the default where `nil`.
  case set(node: String, parameter: Int, value: Float, ramp: Double? = nil)
  case bypass(String, Bool)
  case reset(String)
  case mute(Bool)

  /// True where it takes more than one edit, so that a later one may fail after the first has acted.
  var hasSteps: Bool {
    switch self {
    case .insert, .move, .replace, .load: true
    default: false
    }
  }
}

/// A whole graph as a value: what a preset holds.
public struct GraphDescription: Sendable, Equatable {
  public var ports: PortLayout
  public var nodes: [NodeSpecification]
  public var connections: [ConnectionSpecification]

  public init(ports: PortLayout, nodes: [NodeSpecification], connections: [ConnectionSpecification]) {
    self.ports = ports
    self.nodes = nodes
    self.connections = connections
  }
}

/// Which command of a transaction was refused, and why.
public struct TransactionError: Error, Equatable, Sendable {
  public let index: Int
  public let error: EngineError

  public init(index: Int, error: EngineError) {
    self.index = index
    self.error = error
  }
}

/// What an engine tells those who watch it, on the control queue.
public enum EngineEvent: Sendable, Equatable {
  public enum GraphChange: String, Sendable {
    case added, removed, renamed, connected, disconnected, replaced, moved, preset
  }

  case graphChanged(GraphChange, name: String)
  case stateChanged(EngineState)
  /// `cause` is `sampleRate` or `period`.
  case configurationChanged(cause: String, old: Int, new: Int, epoch: Int)
  /// Values that the engine changed other than by a plain set: a preset, an undo.
  case valuesChanged
  /// What was scheduled for `frame` was taken, `late` frames after it.
  case taken(frame: Int64, late: Int)
  case nonFinite(node: String)
  /// The host could not be opened; attempt number `attempt` comes after so many seconds.
  case retrying(attempt: Int, after: Double)
}

/// Whether audio runs, and if not, why (R15).
public enum EngineState: Sendable, Equatable {
  case stopped
  case prepared
  case running
  case interrupted(String)
  case recovering(Int)
  case unavailable(String)

  /// The word for the status.
  public var name: String {
    switch self {
    case .stopped: "stopped"
    case .prepared: "prepared"
    case .running: "running"
    case .interrupted: "interrupted"
    case .recovering: "recovering"
    case .unavailable: "unavailable"
    }
  }

  /// Why, in a word or a sentence; empty where there is nothing to say.
  public var cause: String {
    switch self {
    case .interrupted(let cause), .unavailable(let cause): cause
    case .recovering(let attempt): "attempt \(attempt)"
    default: ""
    }
  }
}
