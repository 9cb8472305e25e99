import BacklineEngine

/// A graph in Graphviz's language (graphviz.org/doc/info/lang.html).
enum DotText {
  static func draw(_ view: GraphView) -> String {
    var lines = [
      "digraph backline {",
      "  rankdir=LR;",
      "  node [shape=box, style=rounded, fontname=\"sans-serif\"];",
      "  edge [fontname=\"sans-serif\", fontsize=10];",
      end(GraphView.input, view, rank: "source"),
    ]
    for node in view.graph.nodes {
      let title = node.kind + (node.isBypassed ? " (bypassed)" : "")
      let style = node.isBypassed ? ", style=\"rounded,dashed\", fontcolor=gray40" : ""
      lines.append("  \(quoted(node.name)) [label=\(label([node.name, title] + view.settings(node.name)))\(style)];")
    }
    lines.append(end(GraphView.output, view, rank: "sink"))
    lines += view.graph.connections.map { edge($0, view) }
    return lines.joined(separator: "\n") + "\n}\n"
  }

  private static func end(_ name: String, _ view: GraphView, rank: String) -> String {
    let buses = view.ports(name) ?? []
    let ports = buses.enumerated().flatMap { bus, names in buses.count > 1 ? names.map { "\(bus): \($0)" } : names }
    return "  { rank=\(rank); \(quoted(name)) [label=\(label([name] + ports)), style=bold]; }"
  }

  private static func edge(_ edge: ConnectionSpecification, _ view: GraphView) -> String {
    var attributes: [String] = []
    if let bus = view.sourceBus(edge) { attributes.append("taillabel=\"\(bus)\"") }
    if view.destination(edge) != edge.to.node { attributes.append("headlabel=\"\(edge.to.bus ?? 0)\"") }
    if let map = edge.map { attributes.append("label=\"[\(map.map(String.init).joined(separator: ", "))]\"") }
    // A feedback connection runs against the flow and must not turn the drawing round.
    if edge.isFeedback { attributes += ["style=dashed", "constraint=false"] }
    let shown = attributes.isEmpty ? "" : " [\(attributes.joined(separator: ", "))]"
    return "  \(quoted(edge.from.node)) -> \(quoted(edge.to.node))\(shown);"
  }

  /// A string; the backslash too is escaped, since one before the closing mark would hide it.
  private static func quoted(_ text: String) -> String { "\"" + escaped(text) + "\"" }

  /// The lines of a label, in which Graphviz would read entities of HTML too.
  private static func label(_ lines: [String]) -> String {
    let shown = lines.map { line in
      escaped(line.split(separator: "&", omittingEmptySubsequences: false).joined(separator: "&amp;"))
    }
    return "\"" + shown.joined(separator: "\\n") + "\""
  }

  private static func escaped(_ text: String) -> String {
    text.reduce(into: "") { result, character in
      if character == "\"" || character == "\\" { result.append("\\") }
      result.append(character)
    }
  }
}
