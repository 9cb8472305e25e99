import BacklineEngine
import BacklineTestSupport
import Testing

@testable import BacklineOSC

/// Random messages that look as if they were meant: addresses of the table, arguments of every type, names that exist or not.
struct CommandGenerator {
  private var random: SeededGenerator
  private static let names = ["a", "b", "c", "d", "mix", "é", "input", "output", "", "no", "x*", "a b"]
  private static let kinds = [
    "gain", "mixer", "delay", "equalizer", "reverb", "meter", "noise", "player", "compressor", "pan", "oscillator",
    "nil",
  ]
  private static let parameters = [
    "gain", "band1Type", "feedback", "pingPong", "input0Volume", "input3Pan", "outputVolume", "bypass", "reset",
    "peakLeft",
    "*", "g*", "input*Pan", "[a-g]*", "{gain,law}", "seed", "nothing", "",
  ]
  private static let words = ["feedback", "highPass", "0.5", "/node/*/gain", "/graph/changed", "#bundle", "🎸"]

  init(_ seed: UInt64) { random = SeededGenerator(seed) }

  mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }

  private mutating func pick<Value>(_ values: [Value]) -> Value { values[number(0...values.count - 1)] }

  mutating func argument() -> OSCArgument {
    switch number(0...15) {
    case 0: .int32(Int32(number(-3...70_000)))
    case 1: .int64(pick([.min, -1, 0, 1, 5, .max]))
    case 2: .float(pick([0, 1, -1, 0.5, 20, 1e30, .nan, .infinity, -96]))
    case 3: .double(pick([0, 1, 0.1, -0.0, 1e300, .nan, .leastNonzeroMagnitude]))
    case 4: .true
    case 5: .false
    case 6: pick([.nil, .impulse, .blob([1, 2, 3]), .character(65), .timeTag(1), .midi(7), .symbol("gain")])
    case 7: .string(pick(Self.words))
    default: number(0...1) == 0 ? .float(Float(number(-10...10)) / 10) : .int32(Int32(number(0...2)))
    }
  }

  private mutating func end() -> OSCArgument {
    let name = pick(Self.names)
    return .string(number(0...2) == 0 ? "\(name):\(number(-1...3))" : name)
  }

  private mutating func name() -> OSCArgument { .string(pick(Self.names)) }
  private mutating func kind() -> OSCArgument { .string(pick(Self.kinds)) }

  mutating func message() -> OSCMessage {
    var message = command()
    if number(0...9) == 0 { message.arguments.append(argument()) }
    if number(0...19) == 0, !message.arguments.isEmpty { message.arguments[0] = argument() }
    if number(0...9) == 0 {
      return OSCMessage("/id", [.int32(Int32(number(0...9))), .string(message.address)] + message.arguments)
    }
    return message
  }

  private mutating func command() -> OSCMessage {
    switch number(0...23) {
    case 0, 1: return OSCMessage("/graph/add", kind(), name())
    case 2: return OSCMessage("/graph/add", kind(), name(), .string(pick(Self.parameters)), argument())
    case 3: return OSCMessage("/graph/remove", name())
    case 4: return OSCMessage("/graph/rename", name(), name())
    case 5, 6, 7: return OSCMessage("/graph/connect", end(), end())
    case 8: return OSCMessage("/graph/connect", end(), end(), "feedback")
    case 9: return OSCMessage("/graph/disconnect", end(), end())
    case 10: return OSCMessage("/graph/insert", kind(), name(), end(), end())
    case 11: return OSCMessage("/graph/move", name(), end(), end())
    case 12: return OSCMessage("/graph/replace", name(), kind())
    case 13: return OSCMessage(pick(["/graph/undo", "/graph/redo"]))
    case 14: return OSCMessage(pick(["/graph/begin", "/graph/commit", "/graph/rollback"]))
    case 15: return OSCMessage(pick(["/graph/list", "/graph/connections"]), [[], [0, 3]][number(0...1)])
    case 16:
      return OSCMessage(pick(["/mute", "/tempo", "/tempo/tap", "/sync", "/ping", "/status", "/version", "/nothing"]))
    case 17: return OSCMessage(pick(["/subscribe", "/unsubscribe"]), .string(pick(Self.words)))
    default:
      let form = pick(["", "", "", "/ramp", "/normalized", "/text", "/x"])
      let values = (0..<pick([0, 1, 1, 1, 2])).map { _ in argument() }
      return OSCMessage("/node/\(pick(Self.names + ["*", "?", "{a,b}"]))/\(pick(Self.parameters))\(form)", values)
    }
  }
}

@Suite("OSC commands at random")
struct CommandFuzzTests {
  private static let seeds = LongTests.areOn ? Array(1...60) as [UInt64] : [1, 2, 3]

  @Test("any sequence of messages is answered once each, keeps the graph sound, and can be undone", arguments: seeds)
  func sequences(seed: UInt64) throws {
    let bench = try CommandBench()
    defer { bench.end() }
    var generator = CommandGenerator(seed)
    let client = bench.tcp()
    var isOpen = false
    for _ in 0..<4_000 {
      let message = generator.message()
      let answers = client.exchange(.message(message)).filter { Self.finalAnswers.contains($0.address) }
      let (address, hasID) = Self.command(message)
      let isPattern = OSCPattern.isSpecialAddress(address)
      // A commit or a pattern answers for others, too; the last answer is its own.
      let own = answers.filter { Self.subject($0) == address }
      let isCollected = isOpen && answers.isEmpty
      if answers.isEmpty && (hasID || !Self.maySilentlySet(message)) && !isCollected {
        Issue.record("\(message) was not answered")
      }
      if own.count > 1 && !isPattern && address != "/graph/commit" {
        Issue.record("\(message) was answered by \(answers)")
      }
      if let last = answers.last, Self.subject(last) == address {
        let isRefused = last.address.hasPrefix("/error")
        if address == "/graph/begin" && !isRefused { isOpen = true }
        if address == "/graph/rollback" && !isRefused { isOpen = false }
        // A commit with arguments is none; one that is refused ends the transaction all the same.
        if address == "/graph/commit" && !last.arguments.contains("wrongType") { isOpen = false }
        if address == "/graph/commit" && message.arguments.count == (hasID ? 2 : 0) { isOpen = false }
      }
    }
    _ = client.exchange("/graph/rollback")
    try undoAll(bench, client)
  }

  @Test("any bundle acts whole or not at all", arguments: seeds)
  func bundles(seed: UInt64) throws {
    let bench = try CommandBench(isRunning: true)
    defer { bench.end() }
    var generator = CommandGenerator(seed &+ 1_000)
    let client = bench.tcp(.slip)
    for index in 0..<1_000 {
      let before = bench.graph
      let messages = (0..<generator.number(1...6)).map { _ in generator.message() }
      let answers = client.exchange(.bundle(timeTag: 1, messages: messages))
      if answers.contains(where: { $0.address == "/error" && $0.arguments.first == "#bundle" }) {
        #expect(answers.filter { Self.finalAnswers.contains($0.address) }.count == 1)
        #expect(bench.graph == before)
      }
      if index % 16 == 0 { bench.render(frames: 256) }
      if index % 64 == 0 { bench.onQueue { bench in bench.engine.here { $0.tidyNow() } } }
    }
    bench.render(frames: 4_800)
    #expect(bench.output.suffix(4_800).allSatisfy { $0.isFinite })
    try undoAll(bench, client)
  }

  /// Undo gives the empty graph back, or as much as a thousand steps reach.
  private func undoAll(_ bench: CommandBench, _ client: CommandClient) throws {
    let last = bench.shape
    var count = 0
    while answer(client, "/graph/undo") == .reply("/graph/undo") {
      count += 1
      if bench.host != nil && count % 8 == 0 { bench.render(frames: 64) }
    }
    if count < 1_000 { #expect(bench.graph.nodes.isEmpty && bench.graph.connections.isEmpty) }
    for _ in 0..<count {
      #expect(answer(client, "/graph/redo") == .reply("/graph/redo"))
      if bench.host != nil { bench.render(frames: 64) }
    }
    #expect(bench.shape == last)
  }

  /// The answer to a command without those events that the sender has subscribed to.
  private func answer(_ client: CommandClient, _ address: String) -> OSCMessage? {
    client.exchange(address).first { Self.finalAnswers.contains($0.address) }
  }

  private static let finalAnswers: Set<String> = ["/reply", "/error", "/reply/id", "/error/id"]

  /// The address that a message means, and whether it has an id.
  private static func command(_ message: OSCMessage) -> (address: String, hasID: Bool) {
    guard message.address == "/id" else { return (message.address, false) }
    if message.arguments.count > 1, case .string(let address) = message.arguments[1],
      case .int32? = message.arguments.first
    {
      return (address, true)
    }
    return ("/id", false)
  }

  private static func subject(_ answer: OSCMessage) -> String? {
    let index = answer.address.hasSuffix("/id") ? 1 : 0
    guard answer.arguments.indices.contains(index), case .string(let address) = answer.arguments[index] else {
      return nil
    }
    return address
  }

  /// True for the commands that succeed without a word.
  private static func maySilentlySet(_ message: OSCMessage) -> Bool {
    (message.address.hasPrefix("/node/") || message.address == "/mute") && !message.arguments.isEmpty
  }
}

extension OSCPattern {
  fileprivate static func isSpecialAddress(_ address: String) -> Bool { address.contains { "*?[]{}".contains($0) } }
}
