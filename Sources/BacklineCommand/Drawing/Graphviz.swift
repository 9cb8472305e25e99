/// Graphviz, an optional helper that lays graphs out.
enum Graphviz {
  /// The program that draws.
  static let program = "dot"

  static func svg(dot: String, program: String = Graphviz.program) throws(CommandError) -> String {
    do throws(ChildProcess.Failure) {
      let result = try ChildProcess.run(program, ["-Tsvg"], input: dot)
      if result.status == 0 { return result.output }
      let reason = result.errors.split(separator: "\n").first ?? "status \(result.status)"
      throw .failed(String(reason))
    } catch {
      switch error {
      case .notFound:
        throw CommandError(
          .unavailable, "drawing svg needs Graphviz's '\(program)': install the package graphviz, or draw --format dot")
      case .timedOut:
        throw CommandError(
          .unavailable, "Graphviz has not finished within 30 s: the graph may be too large, draw --format dot")
      case .failed(let reason): throw CommandError(.internalError, "Graphviz failed: \(reason)")
      }
    }
  }
}
