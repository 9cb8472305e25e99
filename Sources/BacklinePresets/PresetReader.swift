import BacklineDSP
import BacklineEngine

/// Reads presets, all of it checked against the units that there are: what is returned can be built.
public enum PresetReader {
  /// Looks at a file that a node names: what is wrong with it, or `nil`.
  public typealias FileCheck = (_ path: String, _ unit: UnitDescription) -> String?

  /// The preset that the bytes of a file hold, or everything that is wrong with them, and with the files that it names where
  /// `checkFile` looks at them.
  public static func read(
    _ bytes: [UInt8], catalog: UnitCatalog, limits: PresetLimits = PresetLimits(), checkFile: FileCheck? = nil
  ) throws(PresetError) -> Preset {
    let problems = ProblemCollector(limit: max(1, limits.problems))
    let value: JSONValue
    do {
      var jsonLimits = JSONReader.Limits()
      jsonLimits.size = limits.size
      value = try JSONReader.read(bytes, limits: jsonLimits)
    } catch {
      problems.add(error.place, error.keyPath, error.message)
      throw problems.error
    }
    try checkIdentity(value)
    guard let root = PresetObject(value, path: JSONKeyPath.root, keys: PresetKeys.root, problems: problems) else {
      throw problems.error
    }
    let preset = read(root, catalog, limits, checkFile)
    try problems.finish()
    return preset
  }

  /// Refuses other formats and newer versions at once: whatever else seemed wrong with such a file would mislead.
  private static func checkIdentity(_ root: JSONValue) throws(PresetError) {
    guard root.object != nil else { return }
    let problems = ProblemCollector(limit: 1)
    if let format = root["format"], format.string != Preset.format {
      problems.add(format.place, "format", "this is not a preset; its format is \"\(Preset.format)\"")
    } else if let version = root["version"] {
      if let number = version.integer, number > Preset.version {
        problems.add(
          version.place, "version",
          "version \(number) is newer than \(Preset.version), the newest that this program knows; update the program")
      } else if version.integer ?? 0 < 1 {
        problems.add(version.place, "version", "the version is a whole number from 1 to \(Preset.version)")
      }
    }
    try problems.finish()
  }

  private static func read(
    _ root: PresetObject, _ catalog: UnitCatalog, _ limits: PresetLimits, _ checkFile: FileCheck?
  ) -> Preset {
    var preset = Preset(name: "")
    _ = root.required("format", "begin with \"format\": \"\(Preset.format)\"")
    _ = root.required("version", "write \"version\": \(Preset.version)")
    if let value = root.required("name", "give the preset a title"), let name = root.string(value, "name") {
      checkTitle(name, value, root, limits)
      preset.name = name
    }
    if let value = root.optional("description") { preset.description = root.string(value, "description") ?? "" }
    if let value = root.optional("ports") {
      preset.ports = PortsReader(limits: limits, problems: root.problems).read(value, path: "ports")
    }
    var nodes = NodesReader(catalog: catalog, limits: limits, problems: root.problems, checkFile: checkFile)
    if let value = root.required("nodes", "write \"nodes\": [] for none"), let list = root.list(value, "nodes") {
      preset.nodes = nodes.read(list, at: value.place)
    }
    if let value = root.required("connections", "write \"connections\": [] for none"),
      let list = root.list(value, "connections")
    {
      let buses = BusTable(nodes: nodes.entries, ports: preset.ports)
      var connections = ConnectionsReader(buses: buses, limits: limits, problems: root.problems)
      preset.connections = connections.read(list, at: value.place)
    }
    return preset
  }

  private static func checkTitle(_ name: String, _ value: JSONValue, _ root: PresetObject, _ limits: PresetLimits) {
    if name.isEmpty {
      root.problems.add(value.place, "name", "the title is empty; write one")
    } else if name.utf8.count > limits.nameLength {
      root.problems.add(value.place, "name", "the title has more than \(limits.nameLength) bytes; shorten it")
    } else if NodeName.hasControls(name) {
      root.problems.add(value.place, "name", "the title has control characters; remove them")
    }
  }
}
