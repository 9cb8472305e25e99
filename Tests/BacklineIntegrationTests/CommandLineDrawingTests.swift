import BacklineDSP
import BacklineEngine
import BacklineTestSupport
import Testing

@testable import BacklineCommand

@Suite("Drawing graphs")
struct CommandLineDrawingTests {
  private func connection(_ from: String, _ to: String, feedback: Bool = false, map: [Int]? = nil) throws
    -> ConnectionSpecification
  {
    try ConnectionSpecification(
      from: Endpoint(parsing: from), to: Endpoint(parsing: to), isFeedback: feedback, map: map)
  }

  private func node(_ name: String, _ kind: String = "gain", _ values: [Float] = [], bypassed: Bool = false)
    -> NodeSpecification
  { NodeSpecification(name: name, kind: kind, values: values, isBypassed: bypassed) }

  private let catalog = TestUnits.catalog.adding([
    UnitDescription(
      kind: "sum", title: "Sum", summary: "Sums.", inputs: [.init("input")], outputs: [.init("output")],
      parameters: [], growingInputs: 8, inputParameters: [.init("Volume", "How much.", 0...1, default: 1)],
      make: { UnitInstance(Gain.self, $0) })
  ])

  private func fork() throws -> GraphDescription {
    GraphDescription(
      ports: .stereo,
      nodes: [
        node("drive", "gain", [6]), node("wet", "echo", bypassed: true), node("mix", "sum", [1, 0.5]), node("lost"),
      ],
      connections: [
        try connection("input:0", "drive:0"), try connection("drive:0", "mix:0"), try connection("drive:0", "wet:0"),
        try connection("wet:0", "mix:1", map: [1, 0]), try connection("mix:0", "output:0"),
        try connection("mix:0", "drive:0", feedback: true),
      ])
  }

  @Test("the text follows the signal, tells forks as branches and each node once")
  func text() throws {
    #expect(
      GraphDrawing.text(try fork(), catalog: catalog) == """
        input  in_1, in_2
        → drive  gain  gain 6 dB
        ├→ mix:0  sum  input1Volume 0.5  → drive (feedback)
        │  → output  out_1, out_2
        └→ wet  echo, bypassed  → mix:1 [1, 0] (above)
        lost  gain  leads nowhere

        """)
  }

  @Test("an empty graph is input and output, not connected")
  func empty() {
    let graph = GraphDescription(ports: PortLayout(inputs: [], outputs: [["l"], ["r"]]), nodes: [], connections: [])
    #expect(
      GraphDrawing.text(graph, catalog: catalog)
        == "input  no ports  leads nowhere\noutput  0: l; 1: r  not connected\n")
  }

  @Test("a chain of thousands of nodes, and as many forks in one another, stay readable lines")
  func large() throws {
    let names = (0..<4000).map { "n\($0)" }
    let chain = try zip(names, names.dropFirst()).map { try connection($0, $1) }
    let nodes = names.map { node($0) }
    let line = GraphDrawing.text(GraphDescription(ports: .stereo, nodes: nodes, connections: chain), catalog: catalog)
    #expect(line.split(separator: "\n").count == 4002)
    let forks = try (0..<1999).flatMap { index in
      [try connection("n\(index)", "n\(2 * index + 1)"), try connection("n\(index)", "n\(2 * index + 2)")]
    }
    let combs = try (0..<1999).flatMap { index in
      [try connection("n\(index)", "n\(index + 1)"), try connection("n\(index)", "n\(index + 2000)")]
    }
    for connections in [forks, combs] {
      let graph = GraphDescription(ports: .stereo, nodes: nodes, connections: connections)
      let lines = GraphDrawing.text(graph, catalog: catalog).split(separator: "\n")
      #expect(lines.allSatisfy { $0.count < 120 })
      for name in ["n0", "n1998", "n3998"] {
        #expect(lines.filter { $0.contains("\(name)  gain") }.count == 1)
      }
    }
  }

  @Test("dot names every node and connection, feedback dashed, bypass dashed, buses at the ends")
  func dot() throws {
    let text = GraphDrawing.dot(try fork(), catalog: catalog)
    for line in [
      "digraph backline {", "  rankdir=LR;", "  \"drive\" [label=\"drive\\ngain\\ngain 6 dB\"];",
      "  \"wet\" [label=\"wet\\necho (bypassed)\", style=\"rounded,dashed\", fontcolor=gray40];",
      "  \"input\" -> \"drive\";", "  \"wet\" -> \"mix\" [headlabel=\"1\", label=\"[1, 0]\"];",
      "  \"mix\" -> \"drive\" [style=dashed, constraint=false];",
    ] { #expect(text.contains(line + "\n"), "\(line)") }
  }

  @Test("names with the marks of the language are escaped, and Graphviz draws them where it is installed")
  func escapes() throws {
    let hard = "a\"b\\c&lt;<d>\\"
    let graph = GraphDescription(
      ports: .stereo, nodes: [node(hard)], connections: [try connection("input", hard), try connection(hard, "output")])
    let text = GraphDrawing.dot(graph, catalog: catalog)
    #expect(text.contains("\"a\\\"b\\\\c&lt;<d>\\\\\" [label=\"a\\\"b\\\\c&amp;lt;<d>\\\\\\ngain\"];"))
    do throws(CommandError) {
      let svg = try GraphDrawing.svg(graph, catalog: catalog)
      #expect(svg.contains("<svg") && svg.contains("a&quot;b\\c&amp;lt;&lt;d&gt;\\"))
      #expect(svg.split(separator: "class=\"edge\"").count == 3)
    } catch {
      #expect(error.exitCode == .unavailable)
    }
  }

  @Test("without Graphviz the error says what to install; what it refuses is told")
  func graphviz() throws {
    let missing = #expect(throws: CommandError.self) { try Graphviz.svg(dot: "", program: "no-such-dot") }
    #expect(missing?.exitCode == .unavailable)
    #expect(missing?.message.contains("install the package graphviz") == true)
    let failed = #expect(throws: CommandError.self) { try Graphviz.svg(dot: "x", program: "false") }
    #expect(failed == CommandError(.internalError, "Graphviz failed: status 1"))
  }

  @Test("a child that writes much while it is written to does not stop, and one that hangs is ended")
  func child() throws {
    let text = String(repeating: "0123456789abcdef\n", count: 100_000)
    #expect(try ChildProcess.run("cat", [], input: text).output == text)
    #expect(try ChildProcess.run("true", [], input: text).status == 0)
    let failure = #expect(throws: ChildProcess.Failure.self) {
      try ChildProcess.run("sleep", ["60"], input: "", timeLimit: 0.05)
    }
    #expect(failure == .timedOut)
  }
}
