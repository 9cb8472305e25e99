import BacklineEngine

/// The flow of the signal as lines: a chain goes straight down, a fork is a branch, and where branches meet again the
/// node is told once and referred to from then on.
struct FlowText {
  /// Deeper than this, a branch is told further below, since lines have an end.
  static let mostBranches = 12

  private struct Step {
    let edge: ConnectionSpecification
    /// What stands before this line's arrow.
    let lead: String
    /// What stands before the lines that follow.
    let indent: String
    let depth: Int
  }

  private let view: GraphView
  private var lines: [String] = []
  private var told: Set<String> = []
  private var postponed: [String] = []

  init(_ view: GraphView) { self.view = view }

  mutating func draw() -> String {
    let fed = Set(view.graph.connections.filter { !$0.isFeedback }.map(\.to.node))
    let names = view.graph.nodes.map(\.name)
    for root in [GraphView.input] + names.filter({ !fed.contains($0) }) + names {
      tell(root)
      while let next = postponed.popLast() { tell(next) }
    }
    if !told.contains(GraphView.output) {
      lines.append(describe(GraphView.output, GraphView.output) + "  not connected")
    }
    return lines.joined(separator: "\n") + "\n"
  }

  /// Tells all that can be reached from a node and has not been told.
  private mutating func tell(_ root: String) {
    if !told.insert(root).inserted { return }
    // A stack of our own: a chain may have thousands of nodes.
    var steps: [Step] = []
    expand(root, describe(root, root), indent: "", depth: 0, &steps)
    while let step = steps.popLast() {
      let name = step.edge.to.node
      let begin = step.lead + arrow(step.edge)
      if told.contains(name) {
        lines.append(begin + reference(step.edge))
      } else if step.depth > Self.mostBranches {
        postponed.append(name)
        lines.append(begin + view.destination(step.edge) + suffix(step.edge) + " (below)")
      } else {
        told.insert(name)
        let text = begin + describe(name, view.destination(step.edge)) + suffix(step.edge)
        expand(name, text, indent: step.indent, depth: step.depth, &steps)
      }
    }
  }

  /// Writes the line of a node and puts what follows on the stack. What has been told already is named on the same line.
  private mutating func expand(
    _ name: String, _ line: String, indent: String, depth: Int, _ steps: inout [Step]
  ) {
    let edges = view.edges(from: name)
    let known = edges.filter { $0.isFeedback || told.contains($0.to.node) }
    let fresh = edges.filter { !$0.isFeedback && !told.contains($0.to.node) }
    let also = known.map { "  " + arrow($0) + reference($0) }.joined()
    let isEnd = edges.isEmpty && name != GraphView.output
    lines.append(line + also + (isEnd ? "  leads nowhere" : ""))
    if fresh.count == 1 {
      steps.append(Step(edge: fresh[0], lead: indent, indent: indent, depth: depth))
      return
    }
    for (index, edge) in fresh.enumerated().reversed() {
      let isLast = index == fresh.count - 1
      steps.append(
        Step(
          edge: edge, lead: indent + (isLast ? "└" : "├"), indent: indent + (isLast ? "   " : "│  "),
          depth: depth + 1))
    }
  }

  private func arrow(_ edge: ConnectionSpecification) -> String {
    (view.sourceBus(edge).map { ":\($0) " } ?? "") + "→ "
  }

  private func reference(_ edge: ConnectionSpecification) -> String {
    view.destination(edge) + suffix(edge) + (edge.isFeedback ? "" : " (above)")
  }

  private func suffix(_ edge: ConnectionSpecification) -> String {
    (edge.isFeedback ? " (feedback)" : "")
      + (edge.map.map { " [\($0.map(String.init).joined(separator: ", "))]" } ?? "")
  }

  private func describe(_ name: String, _ shown: String) -> String {
    guard let kind = view.kind(name) else { return "\(shown)  \(view.portText(name))" }
    let settings = view.settings(name)
    return "\(shown)  \(kind)" + (view.isBypassed(name) ? ", bypassed" : "")
      + (settings.isEmpty ? "" : "  " + settings.joined(separator: ", "))
  }
}
