import BacklinePresets
import Testing

@Suite("Preset connections")
struct PresetConnectionsTests {
  private let nodes = ["a:gain", "b:gain", "c:compressor", "m:mixer", "o:oscillator", "s:surround"].map { pair in
    let parts = pair.split(separator: ":")
    return "{\"name\": \"\(parts[0])\", \"kind\": \"\(parts[1])\"}"
  }.joined(separator: ", ")

  /// `a>b` is a connection; what follows a space is more JSON.
  private func text(_ connections: [String], ports: String? = nil) -> String {
    let list = connections.map { connection in
      let parts = connection.split(separator: " ", maxSplits: 1)
      let ends = parts[0].split(separator: ">", omittingEmptySubsequences: false)
      return "{\"from\": \"\(ends[0])\", \"to\": \"\(ends[1])\"\(parts.count > 1 ? ", " + parts[1] : "")}"
    }
    return presetText(nodes: nodes, connections: list.joined(separator: ",\n"), ports: ports)
  }

  private func read(_ connections: [String], ports: String? = nil) throws -> [Preset.Connection] {
    try PresetReader.read(Array(text(connections, ports: ports).utf8), catalog: TestCatalog.standard).connections
  }

  private func expect(
    _ connections: [String], _ keyPath: String, _ words: String, ports: String? = nil,
    at location: SourceLocation = #_sourceLocation
  ) {
    let found = problems(text(connections, ports: ports))
    #expect(found.map(\.keyPath) == [keyPath], "\(found)", sourceLocation: location)
    #expect(
      found.first?.message.contains(words) == true, "\(found.first?.message ?? "nothing")", sourceLocation: location)
  }

  @Test("a bare mixer gives its next free input, never one that is named elsewhere")
  func growing() throws {
    let connections = try read(["a>m", "b>m", "c>m:1", "o>m:0"])
    #expect(connections.map(\.to.bus) == [2, 3, 1, 0])
    expect(["a>m", "b>m", "c>m", "o>m", "input>m"], "connections[4].to", "all 4 inputs")
    expect(["a>m:4"], "connections[0].to", "no input 4; it has 0 to 3")
  }

  @Test("ends that are not there are refused with the one meant")
  func ends() {
    expect(["inptu>a"], "connections[0].from", "`input`?")
    expect(["a>b:1"], "connections[0].to", "no input 1; it has only 0")
    expect(["a:1>b"], "connections[0].from", "no output 1")
    expect(["input:1>b"], "connections[0].from", "no bus 1")
    expect(["a>o"], "connections[0].to", "has none")
    expect(["a>input"], "connections[0].to", "enters")
    expect(["output>a"], "connections[0].from", "leaves")
    for bad in ["a:", "a:x", "a:-1", "a:01", "a:1:2", "a:+1", "a:123456"] {
      expect(["\(bad)>b"], "connections[0].from", "NAME or NAME:BUS")
    }
  }

  @Test("an input takes one connection, and none twice")
  func occupied() {
    expect(["a>b", "c>b"], "connections[1].to", "fed by connections[0] already")
    expect(["a>b", "a>b:0"], "connections[1].to", "same connection")
    expect(["a>m:1", "b>m:1"], "connections[1].to", "mixer")
    expect(["a>m", "a>m"], "connections[1]", "same connection")
    expect(["a>output", "b>output"], "connections[1].to", "mixer")
    #expect(problems(text(["a>m:0", "a>m:1", "a>c:1", "b>c", "a>output"])) == [])
  }

  @Test("channel counts fit by the rule, by a mixer or by a map")
  func channels() throws {
    let mono = "{\"inputs\": [[\"x\"], [\"y\", \"z\"]], \"outputs\": [[\"l\"], [\"q\", \"r\", \"t\"]]}"
    #expect(problems(text(["input>a", "input:1>b", "a>output"], ports: mono)) == [])
    expect(["a>s"], "connections[0]", "2 channels do not fit 6")
    expect(["a>output:1"], "connections[0]", "\"map\"", ports: mono)
    let mapped = try read(["a>output:1 \"map\": [0, 1, 0]"], ports: mono)
    #expect(mapped[0].map == [0, 1, 0])
    let wide = "{\"inputs\": [\"x\", \"y\", \"z\"], \"outputs\": []}"
    #expect(problems(text(["input>m"], ports: wide)) == [])
    #expect(problems(text(["input>m \"map\": [2, 0]"], ports: wide)) == [])
    expect(["input>m \"map\": [2, 0, 1]"], "connections[0].map", "3 channels", ports: wide)
  }

  @Test("a map names a channel of the source for each of the destination")
  func maps() {
    expect(["a>b \"map\": [0]"], "connections[0].map", "takes 2")
    expect(["a>b \"map\": [0, 2]"], "connections[0].map[1]", "0 to 1")
    expect(["a>b \"map\": [0, -1]"], "connections[0].map[1]", "0 to 1")
    expect(["a>b \"map\": [0, 0.5]"], "connections[0].map[1]", "0 to 1")
    expect(["a>b \"map\": 0"], "connections[0].map", "list")
    expect(["a>b \"feedback\": 1"], "connections[0].feedback", "true or false")
  }

  @Test("rings are refused by name unless one connection is feedback (U-41)")
  func rings() throws {
    expect(["a>b", "b>c", "c>a"], "connections[2]", "a -> b -> c -> a")
    expect(["a>a"], "connections[0]", "a -> a")
    #expect(problems(text(["a>b", "b>c", "c>a \"feedback\": true"])) == [])
    #expect(try read(["a>a \"feedback\": true"])[0].isFeedback)
    #expect(problems(text(["a>m", "b>m", "o>a", "m>c", "c>output"])) == [])
  }

  @Test("a chain as long as the limit is read without recursion, and its ring named in short")
  func longChain() {
    let count = 16_384
    let nodes = (0..<count).map { "{\"name\": \"n\($0)\", \"kind\": \"gain\"}" }.joined(separator: ",")
    let chain = (1..<count).map { "{\"from\": \"n\($0 - 1)\", \"to\": \"n\($0)\"}" }
    #expect(problems(presetText(nodes: nodes, connections: chain.joined(separator: ","))) == [])
    let ring = chain + ["{\"from\": \"n\(count - 1)\", \"to\": \"n0\"}"]
    let found = problems(presetText(nodes: nodes, connections: ring.joined(separator: ",")))
    #expect(found.count == 1)
    #expect(found.first?.message.contains("n15 -> (16368 more) -> n0") == true)
  }

  @Test("connections of a node of unknown kind are not held against it")
  func unknownKind() {
    let text = presetText(
      nodes: "{\"name\": \"a\", \"kind\": \"nothing\"}",
      connections: "{\"from\": \"a:7\", \"to\": \"output\"}, {\"from\": \"input\", \"to\": \"a:9\"}")
    #expect(problems(text).map(\.keyPath) == ["nodes[0].kind"])
  }
}
