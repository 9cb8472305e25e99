import BacklineDSP
import BacklinePresets

/// Units for programs.
enum UnitsJSON {
  static func unit(_ unit: UnitDescription) -> JSONOutput {
    var members: [JSONOutput.Member] = [
      .init("kind", .string(unit.kind)), .init("title", .string(unit.title)), .init("summary", .string(unit.summary)),
      .init("inputs", .array(unit.inputs.map(bus))), .init("outputs", .array(unit.outputs.map(bus))),
      .init("parameters", .array(unit.parameters.map { parameter($0, $0.name) })),
    ]
    if let file = unit.file { members.append(.init("file", .string(file))) }
    if let most = unit.growingInputs {
      members.append(.init("growingInputs", .integer(Int64(most))))
      members.append(
        .init("inputParameters", .array(unit.inputParameters.map { parameter($0, "inputN\($0.name)") })))
    }
    return .object(members)
  }

  private static func bus(_ bus: UnitDescription.Bus) -> JSONOutput {
    ["name": .string(bus.name), "channels": .integer(Int64(bus.channelCount)), "optional": .bool(bus.isOptional)]
  }

  /// As presets write values: a discrete one by name, a switch as true or false.
  private static func parameter(_ parameter: ParameterDescription, _ name: String) -> JSONOutput {
    var type = "continuous"
    var values: [String] = []
    var initial = JSONOutput.float(parameter.defaultValue)
    switch parameter.kind {
    case .continuous: break
    case .count:
      type = "count"
      initial = .integer(Int64(parameter.defaultValue))
    case .discrete(let names):
      type = "discrete"
      values = names
      initial = .string(ValueText.value(parameter.defaultValue, of: parameter))
    case .toggle:
      type = "toggle"
      initial = .bool(parameter.defaultValue != 0)
    }
    return [
      "name": .string(name), "type": .string(type), "unit": .string(parameter.measure.rawValue),
      "minimum": .float(parameter.range.lowerBound), "maximum": .float(parameter.range.upperBound),
      "default": initial, "taper": .string(parameter.taper.rawValue), "values": .array(values.map { .string($0) }),
      "readOnly": .bool(parameter.isReadOnly), "summary": .string(parameter.summary),
    ]
  }
}
