import BacklineDSP
import BacklineEngine

/// The buses that connections of one preset can name.
struct BusTable {
  /// A side of the graph that connections start or end at.
  struct Place {
    /// The place's number: the node's index, then one for the host's `input` and one for its `output`.
    let number: Int
    /// The name as the node has it, which may be another normal form of the one asked for.
    let name: String
    /// Channels of each bus on the side asked for; `nil` where the unit is not known.
    let channels: [Int]?
    /// Every input has the channels of the first, and there are so many of them.
    let growingCount: Int?

    /// How many buses there are, `nil` where not known.
    var busCount: Int? { growingCount ?? channels?.count }

    func channelCount(_ bus: Int) -> Int? {
      guard let channels, !channels.isEmpty else { return nil }
      return growingCount == nil ? channels[bus] : channels[0]
    }
  }

  private let nodes: [NodesReader.Entry]
  private let ports: Preset.Ports
  private let numbers: [String: Int]

  init(nodes: [NodesReader.Entry], ports: Preset.Ports) {
    self.nodes = nodes
    self.ports = ports
    numbers = Dictionary(nodes.indices.map { (nodes[$0].name, $0) }, uniquingKeysWith: { first, _ in first })
  }

  /// The nodes and the two sides of the host.
  var placeCount: Int { nodes.count + 2 }

  /// The name of a place.
  func name(_ number: Int) -> String {
    number < nodes.count ? nodes[number].name : NodeName.reserved[number - nodes.count]
  }

  /// Where a connection can start.
  func source(_ name: String) -> Place? {
    if name == "input" {
      return Place(number: nodes.count, name: name, channels: ports.inputs.map(\.count), growingCount: nil)
    }
    return numbers[name].map { number in
      Place(
        number: number, name: nodes[number].name, channels: nodes[number].unit?.outputs.map(\.channelCount),
        growingCount: nil)
    }
  }

  /// Where a connection can end.
  func destination(_ name: String) -> Place? {
    if name == "output" {
      return Place(number: nodes.count + 1, name: name, channels: ports.outputs.map(\.count), growingCount: nil)
    }
    return numbers[name].map { number in
      let unit = nodes[number].unit
      return Place(
        number: number, name: nodes[number].name, channels: unit?.inputs.map(\.channelCount),
        growingCount: unit?.growingInputs)
    }
  }

  /// All names that a connection may mean.
  var names: [String] { nodes.map(\.name) + NodeName.reserved }
}
