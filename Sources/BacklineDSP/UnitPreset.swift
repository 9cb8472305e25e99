/// Settings of a unit that go by a name.
///
/// A unit that has some has the discrete parameter `preset`, the first of whose values, `custom`, stands for all other settings.
/// Setting it sets the parameters that it names; setting one of those to something else makes it `custom` again. The render
/// thread never hears of it.
public struct UnitPreset: Sendable {
  public let name: String
  /// By the parameters' names.
  public let values: [String: Float]

  public init(_ name: String, _ values: [String: Float]) {
    self.name = name
    self.values = values
  }

  /// The parameter that chooses among `presets`.
  public static func parameter(_ summary: String, _ presets: [UnitPreset]) -> ParameterDescription {
    .discrete("preset", summary, ["custom"] + presets.map(\.name))
  }
}

extension UnitDescription {
  /// The index of the parameter `preset`, of a unit that has presets.
  public var presetIndex: Int? { presets.isEmpty ? nil : parameters.firstIndex { $0.name == "preset" } }

  /// Writes a value into a list of values by index, with all that goes with it: what a preset sets, and which preset it is now.
  /// Returns the indices of the values that the unit has to hear of.
  public func set(_ index: Int, to value: Float, in values: inout [Float]) -> [Int] {
    while values.count < max(index + 1, presets.isEmpty ? 0 : parameters.count) {
      let next = values.count
      if next < parameters.count {
        values.append(parameters[next].defaultValue)
      } else if !inputParameters.isEmpty {
        values.append(inputParameters[(next - parameters.count) % inputParameters.count].defaultValue)
      } else {
        return []
      }
    }
    values[index] = value
    guard let presetIndex else { return [index] }
    var changed = [index]
    if index == presetIndex {
      let number = Int(value) - 1
      changed = presets.indices.contains(number) ? indices(of: presets[number]).map(\.index) : []
      if presets.indices.contains(number) {
        for (index, value) in indices(of: presets[number]) { values[index] = value }
      }
    }
    values[presetIndex] = Float((presets.firstIndex { isSet($0, in: values) } ?? -1) + 1)
    return changed
  }

  private func indices(of preset: UnitPreset) -> [(index: Int, value: Float)] {
    parameters.indices.compactMap { index in preset.values[parameters[index].name].map { (index, $0) } }
  }

  private func isSet(_ preset: UnitPreset, in values: [Float]) -> Bool {
    indices(of: preset).allSatisfy { values[$0.index] == $0.value }
  }
}
