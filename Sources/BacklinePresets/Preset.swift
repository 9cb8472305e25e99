/// A whole rack as a value: its ports, nodes and connections.
public struct Preset: Sendable, Equatable {
  /// What the key `format` says.
  public static let format = "backline.preset"
  /// The newest version that is known.
  public static let version = 1

  /// A title for people; the file has a name of its own.
  public var name: String
  public var description: String
  public var ports: Ports
  public var nodes: [Node]
  public var connections: [Connection]

  public init(
    name: String, description: String = "", ports: Ports = .stereo, nodes: [Node] = [],
    connections: [Connection] = []
  ) {
    self.name = name
    self.description = description
    self.ports = ports
    self.nodes = nodes
    self.connections = connections
  }

  /// The host's ports: one list of names a bus, one name a channel.
  public struct Ports: Sendable, Equatable {
    /// Buses of `input`.
    public var inputs: [[String]]
    /// Buses of `output`.
    public var outputs: [[String]]

    /// Two in, two out: what a preset without `ports` has.
    public static let stereo = Ports(inputs: [["in_1", "in_2"]], outputs: [["out_1", "out_2"]])

    public init(inputs: [[String]], outputs: [[String]]) {
      self.inputs = inputs
      self.outputs = outputs
    }
  }

  /// One node.
  public struct Node: Sendable, Equatable {
    public var name: String
    public var kind: String
    /// The values that differ from their defaults, by the parameter's name.
    public var parameters: [String: Float]
    public var isBypassed: Bool
    /// The path of the file that the unit works with; a relative one starts at the folder of the preset.
    public var file: String?

    public init(
      _ name: String, kind: String, parameters: [String: Float] = [:], isBypassed: Bool = false, file: String? = nil
    ) {
      self.name = name
      self.kind = kind
      self.parameters = parameters
      self.isBypassed = isBypassed
      self.file = file
    }
  }

  /// A bus of a node, or of the host (`input` as a source, `output` as a destination).
  public struct Endpoint: Sendable, Hashable {
    public var node: String
    /// From 0. Where a file names none, the reader has chosen: the next free one of a unit whose inputs grow, else 0.
    public var bus: Int

    public init(_ node: String, bus: Int = 0) {
      self.node = node
      self.bus = bus
    }
  }

  /// One connection.
  public struct Connection: Sendable, Equatable {
    public var from: Endpoint
    public var to: Endpoint
    /// True where it closes a loop, one quantum late (R7).
    public var isFeedback: Bool
    /// The source channel for each destination channel; `nil` for the rule (R8).
    public var map: [Int]?

    public init(from: Endpoint, to: Endpoint, isFeedback: Bool = false, map: [Int]? = nil) {
      self.from = from
      self.to = to
      self.isFeedback = isFeedback
      self.map = map
    }
  }
}
