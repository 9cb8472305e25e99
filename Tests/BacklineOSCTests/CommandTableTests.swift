import BacklineEngine
import BacklineTestSupport
import Testing

@testable import BacklineOSC

@Suite("OSC commands")
struct CommandTableTests {
  @Test("each command of the table gets exactly its reply")
  func table() throws {
    let bench = try CommandBench()
    defer { bench.end() }
    let client = bench.udp()
    let steps: [(OSCMessage, [OSCArgument])] = [
      (OSCMessage("/ping", "token"), ["token"]),
      (OSCMessage("/ping", .blob([1, 2, 3])), [.blob([1, 2, 3])]),
      (OSCMessage("/ping"), []),
      (OSCMessage("/version"), ["1.2.3"]),
      (OSCMessage("/sync", 7), [7]),
      (OSCMessage("/sync", .double(7.5)), [.double(7.5)]),
      (OSCMessage("/engine/state"), ["stopped", ""]),
      (OSCMessage("/graph/list"), []),
      (OSCMessage("/graph/connections"), []),
      (OSCMessage("/graph/add", "gain", "g"), []),
      (OSCMessage("/graph/add", "equalizer", "eq", "band1Type", "highPass", "band1Gain", 3.0), []),
      (OSCMessage("/graph/add", "mixer", "mix"), []),
      (OSCMessage("/node/eq/band1Type"), [2]),
      (OSCMessage("/graph/connect", "input", "g"), []),
      (OSCMessage("/graph/connect", "g:0", "mix"), []),
      (OSCMessage("/graph/connect", "mix", "output:0"), []),
      (OSCMessage("/graph/connections"), ["mix:0", "output:0", "input:0", "g:0", "g:0", "mix:0"]),
      (OSCMessage("/graph/insert", "delay", "echo", "g", "mix"), []),
      (OSCMessage("/graph/list"), ["g", "gain", "eq", "equalizer", "mix", "mixer", "echo", "delay"]),
      (OSCMessage("/graph/list", 1, 2), ["eq", "equalizer", "mix", "mixer"]),
      (OSCMessage("/graph/list", 3, 100), ["echo", "delay"]),
      (OSCMessage("/graph/list", 9, .int64(.max)), []),
      (OSCMessage("/graph/connections", 2, 1), ["echo:0", "mix:0"]),
      (OSCMessage("/graph/move", "echo", "input", "g"), []),
      (OSCMessage("/graph/connections", 1, 3), ["echo:0", "g:0", "g:0", "mix:0", "input:0", "echo:0"]),
      (OSCMessage("/graph/replace", "echo", "reverb"), []),
      (OSCMessage("/graph/rename", "echo", "hall"), []),
      (OSCMessage("/graph/disconnect", "hall", "g"), []),
      (OSCMessage("/graph/connect", "mix", "g", "feedback"), []),
      (OSCMessage("/graph/remove", "hall"), []),
      (OSCMessage("/graph/undo"), []),
      (OSCMessage("/graph/redo"), []),
      (OSCMessage("/graph/list"), ["g", "gain", "eq", "equalizer", "mix", "mixer"]),
      (OSCMessage("/node/g/reset"), []),
      (OSCMessage("/node/g/gain"), [0.0]),
      (OSCMessage("/node/g/gain/normalized"), [0.8]),
      (OSCMessage("/node/g/gain/text"), ["0.0 dB"]),
      (OSCMessage("/node/g/bypass"), [0]),
      (OSCMessage("/mute"), [0]),
      (OSCMessage("/tempo"), [.double(120)]),
      (OSCMessage("/tempo", 90), [.double(90)]),
      (OSCMessage("/tempo/tap"), [.double(90)]),
      (OSCMessage("/subscribe", "/node/*/gain"), ["/node/*/gain", 50]),
      (OSCMessage("/unsubscribe", "/node/*/gain"), ["/node/*/gain"]),
      (OSCMessage("/reply/port", .int32(Int32(client.port))), [.int32(Int32(client.port))]),
      (OSCMessage("/engine/stop"), []),
    ]
    for (message, values) in steps {
      let answers = client.exchange(.message(message)).filter { $0.address == "/reply" || $0.address == "/error" }
      #expect(answers == [OSCMessage("/reply", [.string(message.address)] + values)], "\(message)")
    }
    #expect(bench.status("refusedEvents") == 0)
  }

  @Test("the tempo is that of every unit that follows one, of those there are and those to come")
  func tempo() throws {
    let bench = try CommandBench(isRunning: true)
    defer { bench.end() }
    let client = bench.udp()
    _ = client.ask("/graph/add", "tremolo", "t")
    _ = client.ask("/graph/add", "gain", "g")
    #expect(client.ask("/tempo", 90) == .reply("/tempo", .double(90)))
    #expect(bench.value("t", "tempo") == 90)
    _ = client.ask("/graph/add", "chorus", "c")
    #expect(bench.value("c", "tempo") == 90)
    _ = client.ask("/graph/add", "delay", "d", "tempo", 70)
    #expect(bench.value("d", "tempo") == 70)
  }

  @Test("the log tells states with their causes, frames and ages, newest last, as many as were asked for")
  func log() throws {
    let bench = try CommandBench(isRunning: true)
    defer { bench.end() }
    let client = bench.udp()
    let answer = try #require(client.ask("/engine/log", 1))
    #expect(answer.arguments.prefix(3) == ["/engine/log", "running", ""])
    try #require(answer.arguments.count == 5)
    guard case .double(let age) = answer.arguments[4] else {
      Issue.record("\(answer)")
      return
    }
    #expect(age >= 0 && age < 600)
    let all = try #require(client.ask("/engine/log"))
    #expect((all.arguments.count - 1) % 4 == 0 && all.arguments.suffix(4).first == "running")
    #expect(client.code("/engine/log", 0) == "outOfRange")
  }

  @Test("a plain set is silent and acts, whether a parameter, a switch, a bypass or the mute")
  func silence() throws {
    let bench = try CommandBench()
    defer { bench.end() }
    let client = bench.udp()
    _ = client.ask("/graph/add", "delay", "echo")
    for (address, value) in [
      ("/node/echo/feedback", 20.0), ("/node/echo/pingPong", 1), ("/node/echo/bypass", .true), ("/mute", 1),
      ("/node/echo/wetDryMix/normalized", 0.25),
    ] as [(String, OSCArgument)] {
      #expect(client.exchange(address, value) == [], "\(address)")
    }
    #expect(client.exchange("/node/echo/lowPassCutoff/ramp", 3000, 0.5) == [])
    #expect(client.ask("/node/echo/feedback") == .reply("/node/echo/feedback", 20.0))
    #expect(client.ask("/node/echo/pingPong") == .reply("/node/echo/pingPong", 1))
    #expect(client.ask("/node/echo/bypass") == .reply("/node/echo/bypass", 1))
    #expect(client.ask("/node/echo/wetDryMix") == .reply("/node/echo/wetDryMix", 25.0))
    #expect(client.ask("/node/echo/lowPassCutoff") == .reply("/node/echo/lowPassCutoff", 3000.0))
    #expect(client.ask("/mute") == .reply("/mute", 1))
  }

  @Test("each refusal has its code and a sentence, changes nothing, and is counted")
  func refusals() throws {
    let bench = try CommandBench()
    defer { bench.end() }
    let client = bench.udp()
    for (kind, name) in [("gain", "a"), ("gain", "b"), ("noise", "hiss"), ("mixer", "mix"), ("meter", "vu")] {
      _ = client.ask("/graph/add", .string(kind), .string(name))
    }
    _ = client.ask("/graph/connect", "a", "b")
    let before = bench.graph
    let cases: [(OSCMessage, String)] = [
      (OSCMessage("/nothing"), "unknownAddress"), (OSCMessage("/"), "unknownAddress"),
      (OSCMessage("/graph/ad", "gain", "x"), "unknownAddress"), (OSCMessage("/node/a"), "unknownAddress"),
      (OSCMessage("/node/a/gain/nothing"), "unknownAddress"), (OSCMessage("/node/a/gain/text/x"), "unknownAddress"),
      (OSCMessage("/node/*/nothing"), "unknownAddress"), (OSCMessage("/node/[/gain"), "unknownAddress"),
      (OSCMessage("/version", 1), "wrongType"), (OSCMessage("/ping", 1, 2), "wrongType"),
      (OSCMessage("/status", 1), "wrongType"), (OSCMessage("/sync", 1, 2), "wrongType"),
      (OSCMessage("/reply/port"), "wrongType"), (OSCMessage("/reply/port", "a"), "wrongType"),
      (OSCMessage("/reply/port", 9000.5), "wrongType"), (OSCMessage("/reply/port", 0), "outOfRange"),
      (OSCMessage("/reply/port", 65_536), "outOfRange"), (OSCMessage("/reply/port", .int64(.min)), "outOfRange"),
      (OSCMessage("/graph/add", "gain"), "wrongType"), (OSCMessage("/graph/add", "gain", "x", "gain"), "wrongType"),
      (OSCMessage("/graph/add", "gain", 5), "wrongType"), (OSCMessage("/graph/add", "gian", "x"), "unknownKind"),
      (OSCMessage("/graph/add", "gain", "a"), "nameTaken"), (OSCMessage("/graph/add", "gain", ""), "invalidName"),
      (OSCMessage("/graph/add", "gain", "a b"), "invalidName"),
      (OSCMessage("/graph/add", "gain", "input"), "invalidName"),
      (OSCMessage("/graph/add", "gain", "x", "gian", 0), "unknownParameter"),
      (OSCMessage("/graph/add", "gain", "x", "gain", "0.5"), "wrongType"),
      (OSCMessage("/graph/add", "gain", "x", "gain", 25), "outOfRange"),
      (OSCMessage("/graph/add", "meter", "x", "peakLeft", 0), "notAllowed"),
      (OSCMessage("/graph/remove"), "wrongType"), (OSCMessage("/graph/remove", "x"), "unknownNode"),
      (OSCMessage("/graph/remove", "output"), "notAllowed"),
      (OSCMessage("/graph/rename", "a", "b"), "nameTaken"), (OSCMessage("/graph/rename", "a", "a:b"), "invalidName"),
      (OSCMessage("/graph/rename", "x", "y"), "unknownNode"), (OSCMessage("/graph/rename", "a"), "wrongType"),
      (OSCMessage("/graph/connect", "b", "a"), "wouldCycle"), (OSCMessage("/graph/connect", "a", "a"), "wouldCycle"),
      (OSCMessage("/graph/connect", "a", "b"), "alreadyConnected"),
      (OSCMessage("/graph/connect", "a", "hiss"), "formatMismatch"),
      (OSCMessage("/graph/connect", "a:1", "output"), "outOfRange"),
      (OSCMessage("/graph/connect", "a", "mix:99999999999"), "outOfRange"),
      (OSCMessage("/graph/connect", "a", "mix:-1"), "invalidName"),
      (OSCMessage("/graph/connect", "a", "mix:"), "invalidName"),
      (OSCMessage("/graph/connect", "x", "a"), "unknownNode"),
      (OSCMessage("/graph/connect", "output", "a"), "notAllowed"),
      (OSCMessage("/graph/connect", "a", "input"), "notAllowed"),
      (OSCMessage("/graph/connect", "a", "mix", "back"), "wrongType"), (OSCMessage("/graph/connect"), "wrongType"),
      (OSCMessage("/graph/disconnect", "b", "a"), "notConnected"),
      (OSCMessage("/graph/disconnect", "a", "x"), "unknownNode"),
      (OSCMessage("/graph/insert", "delay", "d", "b", "a"), "notConnected"),
      (OSCMessage("/graph/insert", "noise", "d", "a", "b"), "formatMismatch"),
      (OSCMessage("/graph/insert", "delay", "mix", "a", "b"), "nameTaken"),
      (OSCMessage("/graph/move", "a", "a", "b"), "notAllowed"),
      (OSCMessage("/graph/move", "hiss", "a", "b"), "formatMismatch"),
      (OSCMessage("/graph/replace", "a", "noises"), "unknownKind"),
      (OSCMessage("/graph/replace", "x", "gain"), "unknownNode"),
      (OSCMessage("/graph/replace", "b", "noise"), "formatMismatch"),
      (OSCMessage("/graph/list", 1), "wrongType"), (OSCMessage("/graph/list", -1, 5), "outOfRange"),
      (OSCMessage("/graph/list", 0.5, 5), "wrongType"), (OSCMessage("/graph/commit"), "notFound"),
      (OSCMessage("/graph/rollback"), "notFound"), (OSCMessage("/graph/redo"), "notFound"),
      (OSCMessage("/node/x/gain"), "unknownNode"), (OSCMessage("/node/input/gain"), "unknownNode"),
      (OSCMessage("/node/a/gian", 1), "unknownParameter"), (OSCMessage("/node/a/gain", "0.5"), "wrongType"),
      (OSCMessage("/node/a/gain", .true), "wrongType"), (OSCMessage("/node/a/gain", .nil), "wrongType"),
      (OSCMessage("/node/a/gain", .blob([1])), "wrongType"), (OSCMessage("/node/a/gain", 1, 2), "wrongType"),
      (OSCMessage("/node/a/gain", 24.1), "outOfRange"), (OSCMessage("/node/a/gain", .float(.nan)), "outOfRange"),
      (OSCMessage("/node/a/gain", .double(.infinity)), "outOfRange"),
      (OSCMessage("/node/a/gain/ramp", 0), "wrongType"), (OSCMessage("/node/a/gain/ramp", 0, -1), "outOfRange"),
      (OSCMessage("/node/a/gain/ramp", 0, "x"), "wrongType"),
      (OSCMessage("/node/a/gain/normalized", 1.1), "outOfRange"),
      (OSCMessage("/node/a/gain/normalized", "1"), "wrongType"), (OSCMessage("/node/a/gain/text", 1), "wrongType"),
      (OSCMessage("/node/a/bypass", 2), "outOfRange"), (OSCMessage("/node/a/bypass", "on"), "wrongType"),
      (OSCMessage("/node/a/reset", 1), "wrongType"), (OSCMessage("/node/vu/peakLeft", 0), "notAllowed"),
      (OSCMessage("/node/vu/peak*", 0), "notAllowed"), (OSCMessage("/node/mix/input9999Volume", 1), "unknownParameter"),
      (OSCMessage("/mute", 0.5), "outOfRange"), (OSCMessage("/mute", "x"), "wrongType"),
      (OSCMessage("/tempo", 0), "outOfRange"), (OSCMessage("/tempo", .float(.nan)), "outOfRange"),
      (OSCMessage("/tempo", "x"), "wrongType"), (OSCMessage("/tempo/tap", 1), "wrongType"),
      (OSCMessage("/subscribe"), "wrongType"), (OSCMessage("/subscribe", "node"), "unknownAddress"),
      (OSCMessage("/subscribe", "/[", 50), "unknownAddress"), (OSCMessage("/subscribe", "/a", 4), "outOfRange"),
      (OSCMessage("/subscribe", "/a", 60_001), "outOfRange"), (OSCMessage("/subscribe", "/a", 5.5), "wrongType"),
      (OSCMessage("/unsubscribe", "/a"), "notFound"), (OSCMessage("/engine/start"), "unavailable"),
      (OSCMessage("/id"), "wrongType"), (OSCMessage("/id", 1.5, "/version"), "wrongType"),
    ]
    for (message, code) in cases {
      let answers = client.exchange(.message(message))
      #expect(CommandClient.code(answers, message.address) == code, "\(message) was answered by \(answers)")
      if case .string(let sentence)? = answers.first?.arguments.last { #expect(sentence.count > 8, "\(message)") }
    }
    #expect(bench.graph == before)
    #expect(bench.status("refusedEvents") == .int32(Int32(cases.count)))
  }

  @Test("a misspelt address, kind or parameter is answered with the one meant")
  func suggestions() throws {
    let bench = try CommandBench()
    defer { bench.end() }
    let client = bench.udp()
    _ = client.ask("/graph/add", "gain", "g")
    for (address, values, meant) in [
      ("/graph/lst", [], "/graph/list"), ("/graph/add", ["gian", "x"], "gain"), ("/node/g/gian", [1], "gain"),
    ] as [(String, [OSCArgument], String)] {
      let answer = client.exchange(.message(OSCMessage(address, values))).first
      guard case .string(let sentence)? = answer?.arguments.last else {
        Issue.record("\(address) was answered by \(String(describing: answer))")
        continue
      }
      #expect(sentence.contains("'\(meant)'"), "\(sentence)")
    }
  }

  @Test("what only we send is counted and never answered, unless it comes as a command with an id")
  func echoes() throws {
    let bench = try CommandBench()
    defer { bench.end() }
    let client = bench.udp()
    let events = [
      OSCMessage("/reply", "/ping"), OSCMessage("/error", "/a", "wrongType", "x"), OSCMessage("/reply/id", 1, "/a"),
      OSCMessage("/error/id", 1, "/a", "x", "y"), OSCMessage("/graph/changed", "added", "g"),
      OSCMessage("/engine/state", "running", ""), OSCMessage("/engine/configuration", "period", 1, 2, 3),
      OSCMessage("/late", "/a", 5), OSCMessage("/taken", "/a", 5),
    ]
    for event in events { #expect(client.exchange(.message(event)) == []) }
    #expect(client.exchange(.bundle(timeTag: 1, messages: events)) == [])
    #expect(bench.status("ignoredAnswers") == .int32(Int32(2 * events.count)))
    #expect(bench.status("refusedEvents") == 0)
    #expect(client.exchange("/id", 4, "/late").map(\.address) == ["/error/id"])
  }

  @Test("the status answers keys and values in the design's order")
  func status() throws {
    let bench = try CommandBench()
    defer { bench.end() }
    let answer = bench.udp().ask("/status")
    let values = Array(answer?.arguments.dropFirst() ?? [])
    let keys = stride(from: 0, to: values.count, by: 2).map { values[$0] }
    let wanted = """
      state host name rate period load loadMax ownLate serverXruns lateEvents refusedEvents malformedPackets nonFinite \
      recordLostFrames diskUnderruns nodes connections frame threads realtime
      """.split(separator: " ").map { OSCArgument.string(String($0)) }
    #expect(Array(keys.prefix(wanted.count)) == wanted)
    #expect(values.count % 2 == 0)
  }
}
