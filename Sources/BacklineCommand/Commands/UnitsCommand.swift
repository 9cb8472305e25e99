import BacklineDSP
import BacklinePresets

/// `backline units [KIND] [--json]`.
enum UnitsCommand {
  static func command(_ catalog: UnitCatalog = .standard) -> ProgramCommand {
    ProgramCommand(.units) { arguments, context throws(CommandError) in
      var units = catalog.descriptions
      if let kind = arguments[.kind] {
        guard let unit = catalog[kind] else {
          let suggestion = Suggestion.sentence(for: kind, among: units.map(\.kind))
          throw .usage(
            "unknown kind of unit '\(kind)'\(suggestion.isEmpty ? ": 'backline units' lists them" : suggestion)")
        }
        units = [unit]
      }
      if arguments.contains(.json) {
        try context.write(json: ["units": .array(units.map(UnitsJSON.unit))])
      } else if arguments[.kind] != nil, let unit = units.first {
        try context.write(UnitsText.page(unit, context.terminal))
      } else {
        try context.write(UnitsText.table(units, context.terminal))
      }
      return .done
    }
  }
}
