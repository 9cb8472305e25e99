import BacklineDSP

/// Units for people.
enum UnitsText {
  /// One line a unit.
  static func table(_ units: [UnitDescription], _ terminal: Terminal) -> String {
    let head = ["KIND", "IN", "OUT", "PARAMETERS", "WHAT IT IS FOR"]
    let rows = units.map { unit in
      [
        unit.kind, unit.growingInputs.map { "1-\($0)" } ?? String(unit.inputs.count), String(unit.outputs.count),
        String(unit.parameters.count)
          + (unit.inputParameters.isEmpty ? "" : " + \(unit.inputParameters.count) an input"),
        unit.summary,
      ]
    }
    return TextLayout.table([head] + rows, width: terminal.columns, style: terminal.style)
      + (terminal.isTerminal ? "\n'backline units KIND' tells all about one.\n" : "")
  }

  /// Everything about a unit.
  static func page(_ unit: UnitDescription, _ terminal: Terminal) -> String {
    let width = terminal.columns
    let style = terminal.style
    var text = style.bold(unit.kind) + "  \(unit.title)\n" + TextLayout.paragraph(unit.summary, width: width) + "\n"
    text += style.bold("Inputs:") + "\n" + inputs(unit, width) + "\n"
    text += style.bold("Outputs:") + "\n" + buses(unit.outputs, width) + "\n"
    if let file = unit.file {
      text += style.bold("File:") + "\n" + TextLayout.paragraph(fileText(unit, file), indent: 2, width: width) + "\n"
    }
    text += style.bold("Parameters:") + "\n"
    if unit.parameters.isEmpty && unit.inputParameters.isEmpty { text += "  none\n" }
    for parameter in unit.parameters { text += entry(parameter, parameter.name, width, style) }
    for parameter in unit.inputParameters {
      text += entry(parameter, "inputN\(parameter.name)", width, style)
    }
    return text
  }

  private static func fileText(_ unit: UnitDescription, _ file: String) -> String {
    "\(file), by the key `file` of a preset's node or by /\(unit.kind)/NAME/load PATH"
  }

  private static func inputs(_ unit: UnitDescription, _ width: Int) -> String {
    guard let most = unit.growingInputs, let model = unit.inputs.first else { return buses(unit.inputs, width) }
    return TextLayout.paragraph(
      "input0 to input\(most - 1), as many as are connected, \(channels(model)) each", indent: 2, width: width)
  }

  private static func buses(_ buses: [UnitDescription.Bus], _ width: Int) -> String {
    if buses.isEmpty { return "  none\n" }
    let rows = buses.enumerated().map { index, bus in
      [String(index), bus.name, channels(bus) + (bus.isOptional ? ", need not be connected" : "")]
    }
    return TextLayout.table(rows, indent: 2, width: width)
  }

  private static func channels(_ bus: UnitDescription.Bus) -> String {
    bus.channelCount == 1 ? "1 channel" : "\(bus.channelCount) channels"
  }

  private static func entry(
    _ parameter: ParameterDescription, _ name: String, _ width: Int, _ style: TextStyle
  ) -> String {
    var facts = [ValueText.range(of: parameter)]
    if parameter.isReadOnly {
      facts.append("measured, not set")
    } else {
      facts.append("\(ValueText.value(parameter.defaultValue, of: parameter)) by default")
      if parameter.kind == .continuous { facts.append("\(parameter.taper.rawValue) taper") }
    }
    if parameter.affectsLatency { facts.append("changes the latency") }
    return "  " + style.bold(name) + "\n"
      + TextLayout.paragraph(facts.joined(separator: ", "), indent: 6, width: width)
      + TextLayout.paragraph(parameter.summary, indent: 6, width: width)
  }
}
