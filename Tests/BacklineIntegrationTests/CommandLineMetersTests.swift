import BacklineOSC
import BacklineTestSupport
import CBackline
import Synchronization
import Testing

@testable import BacklineCommand

@Suite("The command meters")
struct CommandLineMetersTests {
  private let wire = FakeWire()

  private func reading(_ name: String, _ value: Float) -> OSCMessage { OSCMessage("/node/\(name)", .float(value)) }

  @Test("a board shows two lines a meter, in the order of the rack, with the side seen beside the longest name")
  func lines() {
    var board = MeterBoard()
    for (name, value) in [("m/peakLeft", -6), ("m/rmsRight", -30), ("m/peakRight", -12), ("a/rmsLeft", -3)]
      as [(_, Float)]
    { board.take(reading(name, value)) }
    let lines = board.lines(Terminal(isTerminal: true, style: .plain, columns: 80))
    #expect(lines.map { $0.prefix(4) } == ["m L ", "m R ", "a L ", "a R "])
    #expect(lines[0].hasSuffix(" -6.0 dB") && lines[1].hasSuffix("-12.0 dB") && lines[2].hasSuffix("silent"))
    board = MeterBoard()
    board.take(reading(String(repeating: "n", count: 64) + "/peakLeft", -6))
    #expect(board.lines(Terminal(isTerminal: true, style: .plain, columns: 40))[1].hasPrefix("nnnnnnnn R "))
  }

  @Test("what is no level of a meter is left alone")
  func others() {
    var board = MeterBoard()
    for message in [
      reading("m/loudnessShortTerm", -20), OSCMessage("/node/m/peakLeft"), OSCMessage("/node/m/peakLeft", .string("x")),
      OSCMessage("/mute", .int32(1)), OSCMessage("node/m/peakLeft", .float(1)), reading("m/n/peakLeft", 1),
    ] { board.take(message) }
    #expect(board.meters.isEmpty && !board.isOutdated)
    #expect(board.lines(.none) == ["no meter is in the rack: 'backline osc /graph/add meter NAME' adds one"])
  }

  /// Meters run against `rack` until the text that they have written is as wanted, for ten seconds at most.
  private func text(
    of rack: FakeRack, terminal: Terminal = .none, isJSON: Bool = false, until isWanted: (String) -> Bool
  ) throws -> String {
    let output = RecordedOutput()
    let context = CommandContext(output: output, errors: RecordedOutput(), terminal: terminal)
    let end = backline_now() + 10_000_000_000
    try MetersCommand.run(
      try OSCClient(port: rack.port, wire: wire), context, isJSON: isJSON, interval: 1_000_000, renewal: .max / 2
    ) { isWanted(output.text) || backline_now() > end }
    return output.text
  }

  @Test("levels are shown again and again, over themselves on a terminal")
  func watch() throws {
    var board = MeterBoard()
    board.take(reading("m/peakLeft", -6))
    let outputs = [
      (Terminal.none, ""), (Terminal(isTerminal: true, style: .plain, columns: 40), "\u{1B}[2F\u{1B}[J"),
    ]
    for (terminal, between) in outputs {
      let rack = try FakeRack(wire, commands: 2) { id, address, values in
        [OSCMessage("/reply/id", [id, .string(address)] + values), reading("m/peakLeft", -6)]
      }
      let lines = board.lines(terminal).map { $0 + "\n" }.joined()
      let wanted = lines + between + lines
      #expect(try text(of: rack, terminal: terminal) { $0.contains(wanted) }.contains(wanted))
      let commands = rack.finish()
      #expect(commands.map(\.address) == ["/subscribe", "/subscribe"])
      #expect(commands[1].arguments == [.string(MetersCommand.pattern), .int32(50)])
    }
  }

  @Test("the subscription is renewed, and a rack that refuses it ends the command")
  func gone() throws {
    let count = Atomic(0)
    let rack = try FakeRack(wire, commands: 3) { id, address, values in
      if count.add(1, ordering: .relaxed).newValue < 3 {
        return [OSCMessage("/reply/id", [id, .string(address)] + values)]
      }
      return [OSCMessage("/error/id", [id, .string(address), .string("busy"), .string("ending")])]
    }
    let context = CommandContext(output: RecordedOutput(), errors: RecordedOutput(), terminal: .none)
    let client = try OSCClient(port: rack.port, wire: wire)
    let error = #expect(throws: CommandError.self) {
      try MetersCommand.run(client, context, isJSON: true, interval: 1_000_000, renewal: 1_000_000) { false }
    }
    #expect(error?.message == "/subscribe: busy: ending")
    _ = rack.finish()
  }

  @Test("a changed graph is asked for anew at once, and meters that are gone are not shown any more")
  func changed() throws {
    let count = Atomic(0)
    let rack = try FakeRack(wire, commands: 4) { id, address, values in
      let reply = OSCMessage("/reply/id", [id, .string(address)] + values)
      switch count.add(1, ordering: .relaxed).newValue {
      case 2:
        let change = OSCMessage("/graph/changed", [.string("removed"), .string("old")])
        return [reply, reading("old/peakLeft", -6), change]
      case 4: return [reply, reading("new/peakLeft", -9)]
      default: return [reply]
      }
    }
    let new = #"{"meters":[{"name":"new","peakLeft":-9,"peakRight":-96,"rmsLeft":-96,"rmsRight":-96}]}"#
    #expect(try text(of: rack, isJSON: true) { $0.contains(new) }.contains(new))
    #expect(rack.finish().count == 4)
  }
}
