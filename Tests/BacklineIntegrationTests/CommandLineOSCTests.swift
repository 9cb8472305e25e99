import BacklineOSC
import BacklineTestSupport
import Synchronization
import Testing

@testable import BacklineCommand

@Suite("The commands osc and status")
struct CommandLineOSCTests {
  private let wire = FakeWire()

  private func outcome(_ words: String..., rack: FakeRack) -> CommandOutcome {
    CommandOutcome(
      Array(words[..<1]) + ["--port", String(rack.port)] + Array(words[1...]),
      commands: [OSCCommand.command(wire: wire), StatusCommand.command(wire: wire)])
  }

  @Test(
    "words become arguments by their form, and by a type in front",
    arguments: [
      ("12", .int32(12)), ("-6", .int32(-6)), ("2147483648", .int64(2_147_483_648)), ("0.5", .float(0.5)),
      ("-.5", .float(-0.5)), ("1e-3", .float(0.001)), ("true", .true), ("false", .false), ("bell", .string("bell")),
      ("", .string("")), ("inf", .string("inf")), ("nan", .string("nan")), ("0x10", .string("0x10")),
      ("1.2.3", .string("1.2.3")), ("s:12", .string("12")), ("s:", .string("")), ("i:7", .int32(7)),
      ("h:7", .int64(7)), ("f:7", .float(7)), ("d:0.1", .double(0.1)), ("mix:1", .string("mix:1")),
      ("s:i:0", .string("i:0")), ("-", .string("-")), ("1e", .string("1e")),
    ] as [(String, OSCArgument)])
  func arguments(word: String, argument: OSCArgument) throws {
    #expect(try OSCArgumentText.parse(word) == argument)
  }

  @Test(
    "what does not fit its type is refused, saying how to send it as text",
    arguments: ["i:x", "i:2147483648", "h:1.5", "f:", "d:nan", "f:1e99", "1e99", "99999999999999999999", "f:inf"])
  func unfit(word: String) {
    let error = #expect(throws: CommandError.self) { try OSCArgumentText.parse(word) }
    #expect(error?.exitCode == .wrongUsage)
    #expect(error?.message.contains("s:\(word)") == true)
  }

  @Test("a command goes out under an id, and its answer is a line")
  func answered() throws {
    let rack = try FakeRack(wire) { id, address, values in
      [OSCMessage("/reply", [.string("/other")]), OSCMessage("/reply/id", [id, .string(address)] + values)]
    }
    let result = outcome("osc", "/node/g/gain", "-6.0", "a b", "c", rack: rack)
    #expect(result.code == .done)
    #expect(result.output == "/node/g/gain -6.0 \"a b\" c\n")
    #expect(rack.finish() == [OSCMessage("/node/g/gain", [.float(-6), .string("a b"), .string("c")])])
  }

  @Test("a question by pattern shows every match, up to the answer under the pattern itself")
  func pattern() throws {
    let rack = try FakeRack(wire) { id, address, _ in
      (0..<3).map { OSCMessage("/reply/id", [id, .string("/node/g\($0)/gain"), .float(Float($0))]) }
        + [OSCMessage("/reply/id", [id, .string(address), .int32(3)])]
    }
    let result = outcome("osc", "/node/*/gain", rack: rack)
    #expect(
      result.output == "/node/g0/gain 0.0\n/node/g1/gain 1.0\n/node/g2/gain 2.0\n/node/*/gain 3\n")
    _ = rack.finish()
  }

  @Test("a refusal is an error and 65; an answer to somebody else's id is left alone")
  func refused() throws {
    let rack = try FakeRack(wire) { id, address, _ in
      [
        OSCMessage("/error/id", [.int32(-1), .string(address), .string("busy"), .string("no")]),
        OSCMessage("/error/id", [id, .string(address), .string("unknownNode"), .string("there is no node 'x'")]),
      ]
    }
    let result = outcome("osc", "/node/x/gain", "1", rack: rack)
    #expect(result.code == .badData)
    #expect(result.errors == "backline: error: /node/x/gain: unknownNode: there is no node 'x'\n")
    _ = rack.finish()
  }

  @Test("nobody on the port is 69 at once, silence is 69 after the limit")
  func unanswered() throws {
    let port = try LoopbackSocket(isUDP: true).port
    let gone = #expect(throws: CommandError.self) {
      try OSCClient(port: port, wire: wire).request(OSCMessage("/ping"))
    }
    #expect(gone?.exitCode == .unavailable)
    #expect(gone?.message.hasPrefix("nobody listens on port \(port)") == true)
    let silent = try LoopbackSocket(isUDP: true)
    let late = #expect(throws: CommandError.self) {
      try OSCClient(port: silent.port, wire: wire).request(OSCMessage("/ping"), timeLimit: 20_000_000)
    }
    #expect(late == CommandError(.unavailable, "no answer from port \(silent.port) within 0.02 s"))
  }

  @Test("an address without a slash, /id itself and a packet too large are wrong usage")
  func usage() throws {
    #expect(throws: CommandError.self) { try OSCCommand.message("status", []) }
    #expect(throws: CommandError.self) { try OSCCommand.message("/id", ["1", "/ping"]) }
    let silent = try LoopbackSocket(isUDP: true)
    let error = #expect(throws: CommandError.self) {
      try OSCClient(port: silent.port, wire: wire)
        .request(OSCMessage("/x", [.string(String(repeating: "y", count: 65_507))]))
    }
    #expect(error?.exitCode == .wrongUsage)
  }

  @Test("the status is an aligned table with bars for loads, or an object")
  func status() throws {
    let pairs: [OSCArgument] = [
      .string("state"), .string("running"), .string("rate"), .int32(48_000), .string("load"), .float(25),
      .string("realtime"), .true,
    ]
    for (option, expected) in [
      ("", "state     running\nrate      48000\nload       25.0% │█████               │\nrealtime  true\n"),
      ("--json", "{\"state\":\"running\",\"rate\":48000,\"load\":25,\"realtime\":true}\n"),
    ] {
      let rack = try FakeRack(wire) { id, address, _ in [OSCMessage("/reply/id", [id, .string(address)] + pairs)] }
      let words = ["status", "--port", String(rack.port)] + (option.isEmpty ? [] : [option])
      let result = CommandOutcome(words, commands: [StatusCommand.command(wire: wire)])
      #expect(result.output == expected)
      _ = rack.finish()
    }
  }

  @Test("a status that is watched is shown again and again, over itself on a terminal, until there is none")
  func watch() throws {
    for (terminal, between) in [
      (Terminal.none, ""), (Terminal(isTerminal: true, style: .plain, columns: 80), "\u{1B}[1F\u{1B}[J"),
    ] {
      let count = Atomic(0)
      let rack = try FakeRack(wire, commands: 3) { id, address, _ in
        if count.add(1, ordering: .relaxed).newValue > 2 {
          return [OSCMessage("/error/id", [id, .string(address), .string("busy"), .string("ending")])]
        }
        return [OSCMessage("/reply/id", [id, .string(address), .string("state"), .string("running")])]
      }
      let result = CommandOutcome(
        "status", "--watch", "--port", String(rack.port), commands: [StatusCommand.command(wire: wire)],
        terminal: terminal)
      #expect(result.output == "state  running\n" + between + "state  running\n")
      #expect(result.errors == "backline: error: /status: busy: ending\n")
      _ = rack.finish()
    }
  }

  @Test("with --nodes the loads of all nodes follow, the most demanding first, fetched page by page")
  func nodeLoads() throws {
    for (option, expected) in [
      ("--nodes", "state  running\nreverb   12.0% │██▍"),
      ("--json", "{\"state\":\"running\",\"nodeLoads\":{\"reverb\":{\"mean\":12,\"largest\":20},\"n0\":{"),
    ] {
      let rack = try FakeRack(wire, commands: 3) { id, address, values in
        if address == "/status" {
          return [OSCMessage("/reply/id", [id, .string(address), .string("state"), .string("running")])]
        }
        // A full page of small nodes first, then the large one.
        let page: [OSCArgument] =
          values.first == .int32(0)
          ? (0..<256).flatMap { [OSCArgument.string("n\($0)"), .float(1), .float(2)] }
          : [.string("reverb"), .float(12), .float(20)]
        return [OSCMessage("/reply/id", [id, .string(address)] + page)]
      }
      let words = ["status", "--nodes", "--port", String(rack.port)] + (option == "--json" ? [option] : [])
      let result = CommandOutcome(words, commands: [StatusCommand.command(wire: wire)])
      #expect(result.output.hasPrefix(expected), "\(result.output.prefix(200))")
      #expect(result.output.split(separator: "\n").count == (option == "--json" ? 1 : 258))
      _ = rack.finish()
    }
  }

  @Test("an answer that is no list of names and values is bad data")
  func oddStatus() {
    #expect(throws: CommandError.self) { try StatusReport([.string("state")]) }
    #expect(throws: CommandError.self) { try StatusReport([.int32(1), .int32(2)]) }
  }

  @Test("text from a rack cannot steer the terminal")
  func control() {
    let line = OSCCommand.line(OSCMessage("/a\u{1B}", [.string("\u{1B}[2J"), .string("ü")]))
    #expect(line == "/a\\u{1b} \"\\u001B[2J\" ü\n")
  }
}
