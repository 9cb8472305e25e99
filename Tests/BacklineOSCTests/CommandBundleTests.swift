import BacklineEngine
import BacklineTestSupport
import CBackline
import Testing

@testable import BacklineOSC

@Suite("OSC bundles")
struct CommandBundleTests {
  private let chain = [
    OSCMessage("/graph/add", "gain", "g"), OSCMessage("/graph/connect", "input", "g"),
    OSCMessage("/graph/connect", "g", "output"),
  ]

  @Test("the commands of a bundle act as one, names added earlier in it are usable, and replies come in order")
  func order() throws {
    let bench = try CommandBench()
    defer { bench.end() }
    let client = bench.udp()
    let answers = client.exchange(
      .bundle(
        timeTag: 1,
        messages: [
          OSCMessage("/graph/add", "gain", "a"), OSCMessage("/node/a/gain", -6), OSCMessage("/node/a/gain"),
          OSCMessage("/graph/rename", "a", "b"), OSCMessage("/node/b/gain", -9), OSCMessage("/node/b/ga?n"),
          OSCMessage("/graph/replace", "b", "noise"), OSCMessage("/node/b/color", "pink"),
          OSCMessage("/id", 8, "/node/b/seed", 5), OSCMessage("/graph/list"), OSCMessage("/version"),
        ]))
    // Questions are answered when all has been done: by then `a` is `b`, and a noise.
    #expect(
      answers.map { [OSCArgument.string($0.address)] + $0.arguments.prefix(3).prefix($0.isError ? 2 : 3) } == [
        ["/reply", "/graph/add"], ["/error", "/node/a/gain", "unknownNode"], ["/reply", "/graph/rename"],
        ["/reply", "/node/b/gain", -20.0], ["/reply", "/node/b/ga?n", 1], ["/reply", "/graph/replace"],
        ["/reply/id", 8, "/node/b/seed"], ["/reply", "/graph/list", "b", "noise"], ["/reply", "/version", "1.2.3"],
      ])
    #expect(bench.value("b", "color") == 1 && bench.value("b", "seed") == 5)
    #expect(client.ask("/graph/undo") == .reply("/graph/undo"))
    #expect(client.ask("/graph/list") == .reply("/graph/list"))
  }

  @Test("a bundle is refused whole, by one error that names the element; the graph stays as it was")
  func refusedWhole() throws {
    let bench = try CommandBench()
    defer { bench.end() }
    let client = bench.udp()
    _ = client.exchange(.bundle(timeTag: 1, messages: chain))
    let before = bench.graph
    let bad: [(OSCMessage, String)] = [
      (OSCMessage("/graph/add", "gain", "g"), "nameTaken"), (OSCMessage("/node/h/gain", 99), "outOfRange"),
      (OSCMessage("/node/nobody/gain", 0), "unknownNode"), (OSCMessage("/nothing"), "unknownAddress"),
      (OSCMessage("/graph/connect", "h", "h"), "wouldCycle"), (OSCMessage("/node/h/gain", "x"), "wrongType"),
      (OSCMessage("/sync", 1), "notAllowed"), (OSCMessage("/quit"), "notAllowed"),
      (OSCMessage("/graph/begin"), "notAllowed"), (OSCMessage("/graph/commit"), "notAllowed"),
      (OSCMessage("/graph/undo"), "notAllowed"), (OSCMessage("/id", 1, "/graph/begin"), "notAllowed"),
    ]
    for (message, code) in bad {
      let answers = client.bundle(
        OSCMessage("/graph/add", "gain", "h"), OSCMessage("/node/g/gain", -20), OSCMessage("/version"), message,
        OSCMessage("/graph/remove", "g"))
      #expect(CommandClient.code(answers, "#bundle") == code, "\(message): \(answers)")
      if case .string(let sentence)? = answers.first?.arguments.last {
        let address = message.address == "/id" ? "/graph/begin" : message.address
        #expect(sentence.hasPrefix("element 4, \(address): "), "\(sentence)")
      }
      #expect(bench.graph == before, "\(message)")
    }
    #expect(bench.status("refusedEvents") == .int32(Int32(bad.count)))
  }

  @Test("nested bundles belong to the outer one; an empty one is nothing")
  func nested() throws {
    let bench = try CommandBench()
    defer { bench.end() }
    let client = bench.udp()
    func element(_ bytes: [UInt8]) -> [UInt8] { TestPackets.bigEndian(UInt32(bytes.count)) + bytes }
    func bundle(_ tag: UInt64, _ elements: [[UInt8]]) -> [UInt8] { TestPackets.bundle(tag, elements) }
    let add = try OSCMessage("/graph/add", "gain", "g").encoded()
    let set = try OSCMessage("/node/g/gain", -6).encoded()
    let inner = (0..<6).reduce(set) { bytes, _ in bundle(TimeTag.tag(in: 3_600), [bytes]) }
    client.send(bundle(1, [add, inner]))
    #expect(client.drain() == [.reply("/graph/add")])
    #expect(bench.value("g", "gain") == -6)
    let bad = try OSCMessage("/node/g/gain", 99).encoded()
    client.send(bundle(1, [set, bundle(1, [bad])]))
    #expect(CommandClient.code(client.drain(), "#bundle") == "outOfRange")
    client.send(bundle(1, []))
    #expect(client.drain() == [])
  }

  @Test("U-26: answers go to the sender's port or to the port it has named, in one bundle too, and never elsewhere")
  func replyPorts() throws {
    let bench = try CommandBench()
    defer { bench.end() }
    let a = bench.udp(), b = bench.udp(), other = bench.udp()
    #expect(a.ask("/ping", 1) == .reply("/ping", 1))
    b.send(
      .bundle(
        timeTag: 1,
        messages: [
          OSCMessage("/ping", 2), OSCMessage("/reply/port", .int32(Int32(other.port))), OSCMessage("/ping", 3),
        ]))
    let named: [OSCMessage] = [
      .reply("/ping", 2), .reply("/reply/port", .int32(Int32(other.port))), .reply("/ping", 3),
    ]
    for message in named { #expect(other.receive() == message) }
    // Whoever listens there has named another port for itself, which is not for what is meant for it.
    other.send("/reply/port", .int32(Int32(a.port)))
    #expect(a.receive() == .reply("/reply/port", .int32(Int32(a.port))))
    b.send("/ping", 4)
    #expect(other.receive() == .reply("/ping", 4))
    b.send("/node/x/gain", 4)
    #expect(other.receive()?.arguments.prefix(2) == ["/node/x/gain", "unknownNode"])
    // Back to itself.
    b.send("/reply/port", .int32(Int32(b.port)))
    #expect(b.receive() == .reply("/reply/port", .int32(Int32(b.port))))
    #expect(b.ask("/ping", 5) == .reply("/ping", 5))
    #expect(bench.tcp().code("/reply/port", 9_000) == "notAllowed")
  }

  @Test("/id in all its forms: whole numbers and strings come back as they were, whatever the command answers")
  func ids() throws {
    let bench = try CommandBench()
    defer { bench.end() }
    let client = bench.udp()
    _ = client.exchange(.bundle(timeTag: 1, messages: chain))
    for id in [.int32(-1), .int64(.max), "é", .symbol("s"), .string(String(repeating: "x", count: 256))]
      as [OSCArgument]
    {
      #expect(client.exchange("/id", id, "/ping", 5) == [OSCMessage("/reply/id", id, "/ping", 5)])
      #expect(client.exchange("/id", id, "/node/g/gain", -3) == [OSCMessage("/reply/id", id, "/node/g/gain")])
      #expect(client.exchange("/id", id, "/node/g/gain") == [OSCMessage("/reply/id", id, "/node/g/gain", -3.0)])
      #expect(client.exchange("/id", id, "/sync", 1) == [OSCMessage("/reply/id", id, "/sync", 1)])
      #expect(
        client.exchange("/id", id, "/node/*/gain") == [
          OSCMessage("/reply/id", id, "/node/g/gain", -3.0), OSCMessage("/reply/id", id, "/node/*/gain", 1),
        ])
      let refused = client.exchange("/id", id, "/node/g/gain", 99)
      #expect(refused.map(\.address) == ["/error/id"])
      #expect(refused.first?.arguments.prefix(3) == [id, "/node/g/gain", "outOfRange"])
      #expect(client.exchange("/id", id).first?.arguments.prefix(3) == [id, "/id", "wrongType"])
      #expect(client.exchange("/id", id, "ping").first?.arguments.prefix(3) == [id, "/id", "wrongType"])
      #expect(client.exchange("/id", id, "/id", 1, "/ping").first?.arguments.prefix(3) == [id, "/id", "wrongType"])
    }
    for id in [.float(1), .blob([1]), .true, .nil, .string(String(repeating: "x", count: 257))] as [OSCArgument] {
      #expect(client.code("/id", id, "/ping") == "wrongType")
    }
  }

  @Test("U-29: names of any length in bytes come back byte for byte")
  func names() throws {
    let bench = try CommandBench()
    defer { bench.end() }
    let client = bench.udp()
    _ = client.ask("/graph/add", "gain", "g")
    var last = "g"
    for name in ["é", "MAIL郵", "MAIL郵政", "🎸", "abc", "abcd", "abcde", "e\u{301}x", String(repeating: "郵", count: 21)] {
      #expect(client.ask("/graph/rename", .string(last), .string(name)) == .reply("/graph/rename"))
      #expect(
        client.ask("/graph/list")?.arguments.map(\.bytes) == ["/graph/list", name, "gain"].map { Array($0.utf8) })
      #expect(client.exchange("/node/\(name)/gain", -5) == [])
      #expect(client.ask("/node/\(name)/gain") == .reply("/node/\(name)/gain", -5.0))
      #expect(client.exchange("/node/*/gain").first == .reply("/node/\(name)/gain", -5.0))
      last = name
    }
    for name in [String(repeating: "郵", count: 22), "", "a b", "a/b", "a#", "a\u{7}", "a\u{85}", "input"] {
      #expect(client.code("/graph/rename", .string(last), .string(name)) == "invalidName", "\(name)")
    }
    client.send(TestPackets.message("/graph/rename", "ss", TestPackets.padded(last) + [0xFF, 0xFE, 0, 0]))
    #expect(CommandClient.code(client.drain(), "/graph/rename") == "wrongType")
    #expect(bench.graph.nodes.map(\.name) == [last])
  }

  @Test("names, addresses and errors as long as a packet are answered, briefly")
  func huge() throws {
    let bench = try CommandBench()
    defer { bench.end() }
    let client = bench.udp()
    let long = String(repeating: "x", count: 60_000)
    let marks = "a" + String(repeating: "\u{301}", count: 30_000)
    for text in [long, marks] {
      #expect(client.code("/graph/add", "gain", .string(text)) == "invalidName")
      #expect(client.code("/graph/add", .string(text), "g") == "unknownKind")
      #expect(client.code("/graph/connect", .string(text), "output") == "unknownNode")
      #expect(client.code("/subscribe", .string("/" + text)) == "unknownAddress")
      #expect(client.exchange("/" + text).map(\.address) == ["/error"])
      #expect(client.exchange("/node/\(text)/gain", 1).map(\.address) == ["/error"])
      #expect(client.exchange("/node/*\(text)/gain", 1).map(\.address) == ["/error"])
    }
    #expect(bench.log.count < 20)
  }

  @Test("lists too long for a datagram say so and come in pages; TCP carries them whole")
  func pages() throws {
    let bench = try CommandBench()
    defer { bench.end() }
    let names = (0..<2_000).map { "node-\($0)-" + String(repeating: "x", count: 40) }
    let stream = bench.tcp()
    let adds = names.map { OSCMessage("/graph/add", "gain", .string($0)) }
    #expect(stream.exchange(.bundle(timeTag: 1, messages: adds)).count == 2_000)
    let client = bench.udp()
    #expect(client.code("/graph/list") == "limitReached")
    var listed: [OSCArgument] = []
    while true {
      let page = client.ask("/graph/list", .int32(Int32(listed.count / 2)), 500)?.arguments.dropFirst() ?? []
      if page.isEmpty { break }
      listed += page
    }
    let whole: [OSCArgument] = names.flatMap { [OSCArgument.string($0), .string("gain")] }
    #expect(listed == whole)
    #expect(stream.ask("/graph/list") == OSCMessage("/reply", ["/graph/list"] + whole))
    let more = (0..<14_000).map {
      OSCMessage("/graph/add", "gain", .string("more-\($0)-" + String(repeating: "y", count: 50)))
    }
    for start in stride(from: 0, to: more.count, by: 7_000) {
      _ = stream.exchange(.bundle(timeTag: 1, messages: Array(more[start..<start + 7_000])))
    }
    #expect(stream.code("/graph/list") == "limitReached")
    #expect(stream.ask("/graph/list", 15_999, 1)?.arguments.count == 3)
  }
}

extension OSCMessage {
  fileprivate var isError: Bool { address == "/error" }
}

extension OSCArgument {
  /// The bytes of a text, for Swift compares texts by what they mean.
  fileprivate var bytes: [UInt8] {
    if case .string(let text) = self { Array(text.utf8) } else { [] }
  }
}
