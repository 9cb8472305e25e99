import BacklineDSP
import BacklineEngine

/// What an engine's nodes and connections are, as the user made them; the kernel's graph follows it. Used on the control
/// queue only.
final class AudioGraph: @unchecked Sendable {
  // Why unchecked: see above.

  /// One end of a connection.
  struct Bus: Hashable {
    let node: ObjectIdentifier
    let bus: Int
  }

  struct Connection {
    let source: Bus
    let destination: Bus
    var format: AudioFormat
    /// False where no format was asked for: the rate follows the engine's.
    let isFixed: Bool
  }

  /// A node with what stands for it in the kernel.
  final class Entry {
    let node: AudioNode
    /// The kernel's name of the node; that of the JACK side for the engine's ends.
    let name: String
    /// The kind that was registered for it, where it is none of the catalog.
    var ownKind: String?
    /// The channels of the kernel's unit.
    var inputChannels: Int
    var outputChannels: Int
    var taps: [Int: (tap: Tap, name: String, kind: String)] = [:]

    init(_ node: AudioNode, name: String, inputChannels: Int, outputChannels: Int) {
      self.node = node
      self.name = name
      self.inputChannels = inputChannels
      self.outputChannels = outputChannels
    }
  }

  var entries: [ObjectIdentifier: Entry] = [:]
  var connections: [Connection] = []
  private var counter = 0

  /// A name that no other node of this engine has had.
  func newName(_ base: String) -> String {
    counter += 1
    return "\(base)~\(counter)"
  }

  func entry(_ node: AudioNode) throws(AudioError) -> Entry {
    if let entry = entries[ObjectIdentifier(node)] { return entry }
    throw AudioError(.notAttached, "the \(node.kindName) does not belong to this engine: attach it first")
  }

  func bus(_ node: AudioNode, _ bus: Int) -> Bus { Bus(node: ObjectIdentifier(node), bus: bus) }

  /// The connection into an input bus.
  func connection(into bus: Bus) -> Connection? { connections.first { $0.destination == bus } }

  /// The connections that leave an output bus.
  func connections(from bus: Bus) -> [Connection] { connections.filter { $0.source == bus } }

  func connections(of node: AudioNode) -> [Connection] {
    let id = ObjectIdentifier(node)
    return connections.filter { $0.source.node == id || $0.destination.node == id }
  }

  /// The rate that sound has that leaves a node: a source's own, else that of what comes in.
  func rate(of entry: Entry) -> Double? {
    let id = ObjectIdentifier(entry.node)
    if let connected = connections.first(where: { $0.source.node == id }) { return connected.format.sampleRate }
    if entry.node.isSource || entry.node.convertsRate { return nil }
    return connections.first { $0.destination.node == id }?.format.sampleRate
  }

  /// Gives connections without a format of their own the rate that comes to them in an engine of this rate.
  func followRate(_ sampleRate: Double) {
    for index in connections.indices where !connections[index].isFixed {
      connections[index].format.sampleRate = rate(from: connections[index].source.node, sampleRate, depth: 0)
    }
  }

  /// The rate that a node gives where no connection says it.
  func rate(from id: ObjectIdentifier, _ sampleRate: Double, depth: Int) -> Double {
    guard let node = entries[id]?.node, depth <= connections.count else { return sampleRate }
    if node.isSource { return node.naturalFormat(isInput: false, bus: 0, sampleRate: sampleRate).sampleRate }
    if node.convertsRate || node is InputNode { return sampleRate }
    guard let incoming = connections.first(where: { $0.destination.node == id }) else { return sampleRate }
    return incoming.isFixed
      ? incoming.format.sampleRate : rate(from: incoming.source.node, sampleRate, depth: depth + 1)
  }

  func endpoint(_ bus: Bus) -> Endpoint {
    Endpoint(entries[bus.node]?.name ?? "?", bus: bus.bus)
  }

  // MARK: Channels

  /// The ways of the channels of a connection: from the unit's own to those of the format, and on by `second` to those of the
  /// destination. `nil` where they do not fit.
  static func parts(from source: Int, through declared: Int, by second: [ChannelPart]?) -> [ChannelPart]? {
    guard let first = ways(from: source, to: declared, isSumming: false), let second else { return nil }
    var gains: [Int: [Int: Float]] = [:]
    for one in first {
      for other in second where other.source == one.destination {
        gains[one.source, default: [:]][other.destination, default: 0] += one.gain * other.gain
      }
    }
    return gains.flatMap { source, destinations in
      destinations.map { ChannelPart(source, $0.key, $0.value) }
    }.sorted { ($0.destination, $0.source) < ($1.destination, $1.source) }
  }

  /// One step of that (R8); an output of more than two channels gets two in its first ones.
  static func ways(from: Int, to: Int, isSumming: Bool) -> [ChannelPart]? {
    if from == to { return (0..<to).map { ChannelPart($0, $0) } }
    if from == 1 && to == 2 { return [ChannelPart(0, 0), ChannelPart(0, 1)] }
    if from == 2 && to == 1 { return [ChannelPart(0, 0, 0.5), ChannelPart(1, 0, 0.5)] }
    if isSumming && to == 2 {
      return (0..<from).map { ChannelPart($0, $0 % 2, 1 / Float((from + 1 - $0 % 2) / 2)) }
    }
    return nil
  }
}
