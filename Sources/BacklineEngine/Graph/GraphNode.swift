import BacklineDSP
import BacklineGraph

/// A node as the control queue knows it.
final class GraphNode {
  var name: String
  let description: UnitDescription
  let slot: Int32
  var generation: UInt32
  /// The wanted values, by parameter; those of growing inputs follow, as many as have been set or connected.
  var values: [Float]
  var isBypassed = false
  /// The path of the file that it works with. Whoever reads files for the engine gives it to the unit.
  var file: String?
  var instance: UnitInstance
  var state: UnsafeMutablePointer<NodeState>
  let readings: UnsafeMutablePointer<Float>
  var latency = 0
  var dryLine: UnsafeMutablePointer<AlignmentLine>?
  /// The plan from which on the node is known to the render thread.
  var firstSerial: Int32

  init(
    name: String, description: UnitDescription, slot: Int32, generation: UInt32, values: [Float],
    instance: UnitInstance, state: UnsafeMutablePointer<NodeState>, readings: UnsafeMutablePointer<Float>,
    firstSerial: Int32
  ) {
    self.name = name
    self.description = description
    self.slot = slot
    self.generation = generation
    self.values = values
    self.instance = instance
    self.state = state
    self.readings = readings
    self.firstSerial = firstSerial
  }

  /// What makes this node again.
  var specification: NodeSpecification {
    NodeSpecification(name: name, kind: description.kind, values: values, isBypassed: isBypassed, file: file)
  }

  /// A node that sums its inputs and takes as many as are connected.
  var isGrowing: Bool { description.growingInputs != nil }
}

/// A node as an edit makes it.
public struct NodeSpecification: Sendable, Equatable {
  public var name: String
  public var kind: String
  /// By parameter index; parameters beyond the end have their defaults.
  public var values: [Float]
  public var isBypassed: Bool
  /// The path of the file that the unit works with, of a kind that does.
  public var file: String?

  public init(name: String, kind: String, values: [Float], isBypassed: Bool = false, file: String? = nil) {
    self.name = name
    self.kind = kind
    self.values = values
    self.isBypassed = isBypassed
    self.file = file
  }
}

/// A connection as an edit makes it: both buses named.
public struct ConnectionSpecification: Sendable, Equatable, Hashable {
  public var from: Endpoint
  public var to: Endpoint
  public var isFeedback: Bool
  /// The source channel for each destination channel; `nil` where R8 decides.
  public var map: [Int]?
  /// The way of every channel, in place of a map.
  public var parts: [ChannelPart]?

  public init(
    from: Endpoint, to: Endpoint, isFeedback: Bool = false, map: [Int]? = nil, parts: [ChannelPart]? = nil
  ) {
    self.from = from
    self.to = to
    self.isFeedback = isFeedback
    self.map = map
    self.parts = parts
  }

  /// The ways of channels that were given; `nil` where R8 decides.
  var channels: ChannelMap? { parts.map { .parts($0) } ?? map.map { .sources($0) } }
}

/// One source channel's part in one destination channel of a connection.
public struct ChannelPart: Sendable, Hashable {
  public var source: Int
  public var destination: Int
  public var gain: Float

  public init(_ source: Int, _ destination: Int, _ gain: Float = 1) {
    self.source = source
    self.destination = destination
    self.gain = gain
  }
}

/// The ways of channels that a user has given for a connection.
enum ChannelMap: Sendable {
  /// The source channel for each destination channel.
  case sources([Int])
  case parts([ChannelPart])

  var sources: [Int]? {
    if case .sources(let sources) = self { return sources }
    return nil
  }

  var parts: [ChannelPart]? {
    if case .parts(let parts) = self { return parts }
    return nil
  }
}

/// The buses of the JACK side, each a list of port names.
public struct PortLayout: Sendable, Equatable {
  public var inputs: [[String]]
  public var outputs: [[String]]

  public init(inputs: [[String]], outputs: [[String]]) {
    self.inputs = inputs
    self.outputs = outputs
  }

  /// Two inputs and two outputs, each pair a bus.
  public static let stereo = PortLayout(inputs: [["in_1", "in_2"]], outputs: [["out_1", "out_2"]])
}

/// The smallest changes that all others are made of, each with its opposite.
enum GraphEdit {
  case add(NodeSpecification)
  case remove(String)
  case rename(String, to: String)
  case connect(ConnectionSpecification)
  case disconnect(ConnectionSpecification)
  case setPorts(PortLayout)
  /// Lays one more bus of ports, behind the others of its side.
  case addPorts([String], isInput: Bool)
  /// Takes the last bus of a side away.
  case removePorts(isInput: Bool)

  /// What to tell of it where it is an undo or a redo.
  var change: (kind: EngineEvent.GraphChange, name: String)? {
    switch self {
    case .add(let node): (.added, node.name)
    case .remove(let name): (.removed, name)
    case .rename(let name, let new): (.renamed, "\(name) \(new)")
    case .connect(let connection): (.connected, "\(connection.from) \(connection.to)")
    case .disconnect(let connection): (.disconnected, "\(connection.from) \(connection.to)")
    case .setPorts, .addPorts, .removePorts: nil
    }
  }
}
