import BacklineEngine

/// Reads the key `connections`: gives out buses and checks occupation, channels and rings.
struct ConnectionsReader {
  private struct Slot: Hashable {
    let place: Int
    let bus: Int
  }

  private struct Pair: Hashable {
    let from: Slot
    let to: Int
  }

  let buses: BusTable
  let limits: PresetLimits
  let problems: ProblemCollector
  /// The connections that feed the inputs taken so far.
  private var taken: [Slot: Int] = [:]

  init(buses: BusTable, limits: PresetLimits, problems: ProblemCollector) {
    self.buses = buses
    self.limits = limits
    self.problems = problems
  }

  mutating func read(_ list: [JSONValue], at place: JSONPlace) -> [Preset.Connection] {
    if list.count > limits.connections {
      problems.add(
        place, "connections",
        "\(list.count) connections are more than the \(limits.connections) allowed; remove some")
      return []
    }
    var drafts: [ConnectionDraft] = []
    drafts.reserveCapacity(list.count)
    for (index, value) in list.enumerated() {
      let path = JSONKeyPath.element(index, of: "connections")
      if let draft = ConnectionDraft(value, path: path, buses: buses, problems: problems) { drafts.append(draft) }
    }
    // Why in this order: an input that is named is never given to a connection that leaves the choice, wherever it stands.
    takeNamedInputs(&drafts)
    takeFreeInputs(&drafts)
    let connections = drafts.map(connection)
    refuseRings(drafts)
    return connections
  }

  // MARK: Inputs

  private mutating func takeNamedInputs(_ drafts: inout [ConnectionDraft]) {
    for index in drafts.indices where drafts[index].to.place.busCount != nil {
      guard drafts[index].to.bus != nil || drafts[index].to.place.growingCount == nil else { continue }
      let slot = Slot(place: drafts[index].to.place.number, bus: drafts[index].to.bus ?? 0)
      drafts[index].toBus = slot.bus
      guard let other = taken[slot] else {
        taken[slot] = index
        continue
      }
      drafts[index].isSound = false
      report(occupied: slot, by: drafts[other], drafts[index])
    }
  }

  private func report(occupied slot: Slot, by other: ConnectionDraft, _ draft: ConnectionDraft) {
    let isSame = other.from.place.number == draft.from.place.number && other.fromBus == draft.fromBus
    let name = quoted("\(draft.to.place.name):\(slot.bus)")
    problems.add(
      draft.to.value.place, draft.path + ".to",
      isSame
        ? "this is the same connection as \(other.path); remove one"
        : "\(name) is fed by \(other.path) already; bring both together in a mixer")
  }

  private mutating func takeFreeInputs(_ drafts: inout [ConnectionDraft]) {
    var next: [Int: Int] = [:]
    var pairs: [Pair: Int] = [:]
    for index in drafts.indices {
      let draft = drafts[index]
      guard let count = draft.to.place.growingCount, draft.to.bus == nil else { continue }
      let number = draft.to.place.number
      let source = Slot(place: draft.from.place.number, bus: draft.fromBus)
      if let other = pairs.updateValue(index, forKey: Pair(from: source, to: number)) {
        problems.add(
          draft.place, draft.path,
          "this is the same connection as \(drafts[other].path); remove one, or write the input's number to mean both")
        drafts[index].isSound = false
        continue
      }
      var bus = next[number] ?? 0
      while bus < count, taken[Slot(place: number, bus: bus)] != nil { bus += 1 }
      next[number] = bus + 1
      if bus < count {
        drafts[index].toBus = bus
        taken[Slot(place: number, bus: bus)] = index
      } else {
        problems.add(
          draft.to.value.place, draft.path + ".to",
          "all \(count) inputs of \(quoted(draft.to.place.name)) are taken; add another mixer")
        drafts[index].isSound = false
      }
    }
  }

  // MARK: Channels

  private func connection(_ draft: ConnectionDraft) -> Preset.Connection {
    let from = draft.from.place.channelCount(draft.fromBus)
    let to = draft.to.place.channelCount(draft.toBus)
    var map: [Int]?
    if let value = draft.map {
      map = self.map(value, draft, from: from, to: to)
    } else if let from, let to, draft.to.place.growingCount == nil, !Self.fits(from, to) {
      problems.add(
        draft.place, draft.path,
        "\(from) channels do not fit \(to); go through a mixer, or add \"map\" with a source channel for each of the \(to)"
      )
    }
    return Preset.Connection(
      from: Preset.Endpoint(draft.from.place.name, bus: draft.fromBus),
      to: Preset.Endpoint(draft.to.place.name, bus: draft.toBus), isFeedback: draft.isFeedback, map: map)
  }

  /// The pairs of channel counts that need no map (R8).
  private static func fits(_ from: Int, _ to: Int) -> Bool {
    from == to || (from == 1 && to == 2) || (from == 2 && to == 1)
  }

  private func map(_ value: JSONValue, _ draft: ConnectionDraft, from: Int?, to: Int?) -> [Int]? {
    let path = draft.path + ".map"
    guard let list = value.array else {
      problems.add(value.place, path, "a list of channel numbers was expected, not \(value.typeName)")
      return nil
    }
    if let to, list.count != to {
      problems.add(
        value.place, path, "the map has \(list.count) channels, but \(quoted(draft.to.place.name)) takes \(to) there")
      return nil
    }
    for (index, element) in list.enumerated() {
      let channel = element.integer ?? -1
      if channel < 0 || channel >= from ?? limits.channels {
        problems.add(
          element.place, JSONKeyPath.element(index, of: path),
          "a channel of the source was expected, a whole number from 0 to \((from ?? limits.channels) - 1)")
      }
    }
    return list.map { $0.integer ?? 0 }
  }

  // MARK: Rings

  private func refuseRings(_ drafts: [ConnectionDraft]) {
    let edges = drafts.indices.lazy.filter { drafts[$0].isSound && !drafts[$0].isFeedback }.map {
      RingFinder.Edge(from: drafts[$0].from.place.number, to: drafts[$0].to.place.number, tag: $0)
    }
    RingFinder.find(placeCount: buses.placeCount, edges: Array(edges)) { edge, ring in
      problems.add(
        drafts[edge.tag].place, drafts[edge.tag].path,
        "this closes the ring \(ringText(ring)); add \"feedback\": true to the connection that leads back")
    }
  }

  /// `a -> b -> a`; the middle of a long ring is left out.
  private func ringText(_ ring: ArraySlice<Int>) -> String {
    let most = 16
    let shown = ring.prefix(most).map(buses.name)
    let rest = ring.count > most ? ["(\(ring.count - most) more)"] : []
    return (shown + rest + ring.prefix(1).map(buses.name)).joined(separator: " -> ")
  }
}
