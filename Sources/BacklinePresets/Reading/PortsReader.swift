import BacklineEngine

/// Reads the key `ports`.
struct PortsReader {
  let limits: PresetLimits
  let problems: ProblemCollector

  func read(_ value: JSONValue, path: String) -> Preset.Ports {
    var ports = Preset.Ports(inputs: [], outputs: [])
    guard let object = PresetObject(value, path: path, keys: PresetKeys.ports, problems: problems) else { return ports }
    // Why one set: all ports of a JACK client share one space of names, whatever their direction.
    var names: Set<String> = []
    if let list = object.required("inputs", "write [] for none") {
      ports.inputs = buses(list, object, "inputs", &names)
    }
    if let list = object.required("outputs", "write [] for none") {
      ports.outputs = buses(list, object, "outputs", &names)
    }
    return ports
  }

  private func buses(
    _ value: JSONValue, _ object: PresetObject, _ key: String, _ names: inout Set<String>
  ) -> [[String]] {
    guard let list = object.list(value, key), !list.isEmpty else { return [] }
    let isNested = list.contains { $0.array != nil }
    var buses: [[String]] = []
    if isNested {
      for (index, element) in list.enumerated() {
        let path = JSONKeyPath.element(index, of: object.path(key))
        guard let bus = element.array else {
          problems.add(element.place, path, "write a list for every bus, or one list of names for a single bus")
          continue
        }
        if bus.isEmpty { problems.add(element.place, path, "a bus has at least one port; name it") }
        buses.append(channels(bus, path, element.place, &names))
      }
    } else {
      buses = [channels(list, object.path(key), value.place, &names)]
    }
    let count = buses.reduce(0) { $0 + $1.count }
    if count > limits.ports {
      problems.add(
        value.place, object.path(key), "\(count) ports are more than the \(limits.ports) allowed; remove some")
    }
    return buses
  }

  private func channels(
    _ list: [JSONValue], _ path: String, _ place: JSONPlace, _ names: inout Set<String>
  ) -> [String] {
    if list.count > limits.channels {
      problems.add(
        place, path,
        "\(list.count) channels are more than the \(limits.channels) of a bus; write several lists, one a bus")
    }
    for (index, element) in list.enumerated() {
      if let problem = check(element, &names) {
        problems.add(element.place, JSONKeyPath.element(index, of: path), problem)
      }
    }
    return list.map { $0.string ?? "" }
  }

  private func check(_ value: JSONValue, _ names: inout Set<String>) -> String? {
    guard let name = value.string else { return "the name of a port was expected, not \(value.typeName)" }
    if name.isEmpty { return "the name of a port is empty; write one" }
    if name.utf8.count > limits.portNameLength {
      return "the name of a port has at most \(limits.portNameLength) bytes; shorten it"
    }
    if name.utf8.contains(UInt8(ascii: ":")) {
      return "the name of a port has no `:`, which JACK puts after the client's name; remove it"
    }
    if NodeName.hasControls(name) {
      return "the name of a port has no control characters; remove them"
    }
    return names.insert(name).inserted
      ? nil : "a port \(quoted(name)) is there already; all ports of a client differ in name"
  }
}
