import BacklineDSP
import BacklineEngine
import Synchronization

/// The values that a node's parameters have been given, which stay while it belongs to no engine.
final class StoredValues: Sendable {
  let description: UnitDescription
  private let values: Mutex<[Int: Float]>

  init(_ description: UnitDescription) {
    self.description = description
    values = Mutex([:])
  }

  /// All that have been set.
  var all: [(index: Int, value: Float)] {
    values.withLock { $0.sorted { $0.key < $1.key }.map { (index: $0.key, value: $0.value) } }
  }

  /// The value that was set, or the default; `nil` where there is no such parameter.
  subscript(name: String) -> Float? {
    guard let index = description.parameterIndex(named: name) else { return nil }
    return values.withLock { $0[index] } ?? description.parameter(at: index)?.defaultValue
  }

  /// Notes a value; the parameter's index, or `nil` where there is none.
  func set(_ name: String, _ value: Float) -> Int? {
    guard let index = description.parameterIndex(named: name) else { return nil }
    values.withLock { values in
      guard let presetIndex = description.presetIndex else {
        values[index] = value
        return
      }
      var all = description.parameters.indices.map { values[$0] ?? description.parameters[$0].defaultValue }
      for changed in description.set(index, to: value, in: &all) { values[changed] = all[changed] }
      values[presetIndex] = all[presetIndex]
    }
    return index
  }

  /// The index and description of a parameter, or an error that names the nearest.
  func parameter(_ name: String) throws(AudioError) -> (index: Int, description: ParameterDescription) {
    if let index = description.parameterIndex(named: name), let found = description.parameter(at: index) {
      return (index, found)
    }
    let nearest = description.nearestParameterName(name).map { "; did you mean '\($0)'?" } ?? ""
    throw AudioError(.unknownParameter, "'\(description.kind)' has no parameter '\(name)'\(nearest)")
  }
}
