import BacklineDSP
import BacklinePresets

/// `backline graph PRESET [--format text|dot|svg]`.
enum GraphCommand {
  static func command() -> ProgramCommand {
    ProgramCommand(.graph) { arguments, context throws(CommandError) in
      guard let place = arguments[.preset] else { throw .usage("graph: name a preset") }
      let catalog = UnitCatalog.standard
      let graph = try PresetLoading.load(place).graph(catalog: catalog)
      switch arguments[.format] {
      case "dot": try context.write(GraphDrawing.dot(graph, catalog: catalog))
      case "svg": try context.write(try GraphDrawing.svg(graph, catalog: catalog))
      default: try context.write(GraphDrawing.text(graph, catalog: catalog))
      }
      return .done
    }
  }
}
