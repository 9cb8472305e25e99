import BacklineEngine

/// A connection as it was read, before its buses have been given out.
struct ConnectionDraft {
  /// One end: where it is and the bus that was written.
  struct End {
    let place: BusTable.Place
    let bus: Int?
    /// Where the file says so.
    let value: JSONValue
  }

  let path: String
  let place: JSONPlace
  let from: End
  let to: End
  let isFeedback: Bool
  let map: JSONValue?
  /// The input that it takes; given out later.
  var toBus = 0
  /// False once a problem has been found with it.
  var isSound = true

  var fromBus: Int { from.bus ?? 0 }

  /// Reads a connection; `nil` and problems where its ends are not there.
  init?(_ value: JSONValue, path: String, buses: BusTable, problems: ProblemCollector) {
    guard let object = PresetObject(value, path: path, keys: PresetKeys.connection, problems: problems) else {
      return nil
    }
    let from = Self.end(object, "from", buses, isSource: true)
    let to = Self.end(object, "to", buses, isSource: false)
    self.path = path
    place = value.place
    isFeedback = object.bool("feedback")
    map = object.optional("map")
    guard let from, let to else { return nil }
    self.from = from
    self.to = to
  }

  private static func end(_ object: PresetObject, _ key: String, _ buses: BusTable, isSource: Bool) -> End? {
    let hint = isSource ? "name the node that the signal comes from, or input" : "name the node it goes to, or output"
    guard let value = object.required(key, hint), let text = object.string(value, key) else { return nil }
    let problems = object.problems
    guard let endpoint = EndpointText(text) else {
      problems.add(
        value.place, object.path(key), "\(quoted(text)) is not NAME or NAME:BUS, with the bus as a number from 0")
      return nil
    }
    guard let place = isSource ? buses.source(endpoint.node) : buses.destination(endpoint.node) else {
      problems.add(value.place, object.path(key), missing(endpoint.node, buses, problems, isSource: isSource))
      return nil
    }
    let side = isSource ? "output" : "input"
    if let count = place.busCount, endpoint.bus ?? 0 >= count {
      let what = NodeName.reserved.contains(place.name) ? "bus" : side
      let range = count == 0 ? "it has none" : count == 1 ? "it has only 0" : "it has 0 to \(count - 1)"
      problems.add(
        value.place, object.path(key), "\(quoted(place.name)) has no \(what) \(endpoint.bus ?? 0); \(range)")
      return nil
    }
    return End(place: place, bus: endpoint.bus, value: value)
  }

  private static func missing(
    _ name: String, _ buses: BusTable, _ problems: ProblemCollector, isSource: Bool
  ) -> String {
    if isSource && name == "output" { return "`output` is where the sound leaves; nothing comes from it" }
    if !isSource && name == "input" { return "`input` is where the sound enters; nothing goes to it" }
    return "there is no node \(quoted(name))\(problems.nearest(name, in: buses.names))"
  }
}
