import BacklineEngine

/// What one track of a recording takes down: what comes in, what goes out, or what leaves a bus of a node.
public struct RecordingSource: Sendable {
  /// The engine's input node, its output node, or any other node.
  public let node: AudioNode
  /// The output bus, from 0; of the output node, what goes out by it.
  public let bus: Int
  /// Names the track's file where each track has one; the kind of node where it is `nil`.
  public let label: String?

  /// A source.
  public init(_ node: AudioNode, bus: Int = 0, label: String? = nil) {
    self.node = node
    self.bus = bus
    self.label = label
  }

  /// The kernel's name for it. Control queue.
  func endpoint(_ graph: AudioGraph) throws(AudioError) -> Endpoint {
    let entry = try graph.entry(node)
    let count = node is OutputNode ? node.inputCount : node.outputCount
    guard (0..<count).contains(bus) else {
      throw AudioError(.noSuchBus, "the \(node.kindName) has no bus \(bus) to record")
    }
    return Endpoint(entry.name, bus: bus)
  }
}
