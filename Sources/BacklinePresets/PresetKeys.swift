/// The keys of the format, in the order in which they are written. Everything else is refused (R20).
package enum PresetKeys {
  package static let root = ["format", "version", "name", "description", "ports", "nodes", "connections"]
  package static let ports = ["inputs", "outputs"]
  package static let node = ["name", "kind", "parameters", "bypass", "file"]
  package static let connection = ["from", "to", "feedback", "map"]
}
