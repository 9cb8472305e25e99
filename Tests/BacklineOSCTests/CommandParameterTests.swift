import BacklineTestSupport
import Testing

@testable import BacklineOSC

@Suite("OSC parameters")
struct CommandParameterTests {
  private func bench() throws -> (CommandBench, CommandClient) {
    let bench = try CommandBench()
    let client = bench.udp()
    for (kind, name) in [("gain", "g"), ("noise", "n"), ("delay", "d"), ("equalizer", "eq"), ("meter", "vu")] {
      _ = client.ask("/graph/add", .string(kind), .string(name))
    }
    return (bench, client)
  }

  @Test("U-18: every numeric type is taken where it fits, by each kind of parameter")
  func numbers() throws {
    let (bench, client) = try bench()
    defer { bench.end() }
    // Each address with a whole value, what its read-back is, and whether T and F are values too.
    let parameters: [(String, Int32, OSCArgument, Bool)] = [
      ("/node/g/gain", -6, -6.0, false), ("/node/n/seed", 65_535, 65_535, false), ("/node/eq/band1Type", 3, 3, false),
      ("/node/d/pingPong", 1, 1, true), ("/node/g/bypass", 1, 1, true), ("/mute", 1, 1, true),
    ]
    for (address, whole, back, isSwitch) in parameters {
      let forms: [OSCArgument] = [
        .int32(whole), .int64(Int64(whole)), .float(Float(whole)), .double(Double(whole)),
      ]
      for form in forms + (isSwitch ? [.true] : []) {
        #expect(client.exchange(address, 0) == [])
        #expect(client.exchange(address, form) == [], "\(address) \(form)")
        #expect(client.ask(address) == OSCMessage("/reply", [.string(address), back]), "\(address) \(form)")
      }
      for wrong in ["0.5", .nil, .impulse, .character(49), .timeTag(1)] as [OSCArgument] {
        let isName = address.hasSuffix("Type") && wrong == "0.5"
        #expect(client.code(address, wrong) == (isName ? "outOfRange" : "wrongType"), "\(address) \(wrong)")
      }
      if !isSwitch { #expect(client.code(address, .true) == "wrongType", "\(address)") }
      #expect(client.ask(address) == OSCMessage("/reply", [.string(address), back]))
    }
  }

  @Test("U-18: the refusal of a text names the address and what is expected")
  func expectation() throws {
    let (bench, client) = try bench()
    defer { bench.end() }
    for (address, expected) in [
      ("/node/g/gain", "number"), ("/node/n/seed", "whole number"), ("/node/d/pingPong", "true or false"),
    ] {
      guard case .string(let sentence)? = client.ask(address, "0.5")?.arguments.last else { continue }
      #expect(sentence.contains(address) && sentence.contains(expected), "\(sentence)")
    }
  }

  @Test("continuous values take the nearest float; counts, choices and switches have to be exact")
  func exactness() throws {
    let (bench, client) = try bench()
    defer { bench.end() }
    #expect(client.exchange("/node/g/gain", .double(0.1)) == [])
    #expect(client.ask("/node/g/gain") == .reply("/node/g/gain", 0.1))
    for (address, value) in [
      ("/node/n/seed", 7.5), ("/node/eq/band1Type", 0.5), ("/node/d/pingPong", 0.5), ("/node/n/seed", .double(1e-9)),
    ] as [(String, OSCArgument)] {
      #expect(client.code(address, value) == "wrongType", "\(address)")
    }
    for (address, value) in [
      ("/node/n/seed", 65_536), ("/node/n/seed", .int64(1 << 40)), ("/node/eq/band1Type", -1),
      ("/node/d/pingPong", 2), ("/node/g/gain", .int64(.max)), ("/node/g/gain", .double(-96.1)),
      ("/node/n/seed", .float(.nan)), ("/node/d/pingPong", .double(.infinity)),
    ] as [(String, OSCArgument)] {
      #expect(client.code(address, value) == "outOfRange", "\(address) \(value)")
    }
  }

  @Test("a choice goes by its name and its index; OSC answers the index, /text the name")
  func choices() throws {
    let (bench, client) = try bench()
    defer { bench.end() }
    #expect(client.exchange("/node/eq/band1Type", "highPass") == [])
    #expect(client.ask("/node/eq/band1Type") == .reply("/node/eq/band1Type", 2))
    #expect(client.ask("/node/eq/band1Type/text") == .reply("/node/eq/band1Type/text", "highPass"))
    #expect(client.exchange("/node/eq/band1Type", .symbol("lowPass")) == [])
    #expect(client.ask("/node/eq/band1Type") == .reply("/node/eq/band1Type", 1))
    #expect(client.code("/node/eq/band1Type", "highpass") == "outOfRange")
  }

  @Test("/normalized is the fader's travel: its ends are the range's, steps are whole")
  func normalized() throws {
    let (bench, client) = try bench()
    defer { bench.end() }
    for (address, travel, value) in [
      ("/node/g/gain", 0, -96.0), ("/node/g/gain", 1, 24.0), ("/node/g/gain", 0.5, -36.0),
      ("/node/eq/band1Frequency", 0, 20.0), ("/node/n/seed", 1, 65_535), ("/node/d/pingPong", 0.6, 1),
    ] as [(String, OSCArgument, OSCArgument)] {
      #expect(client.exchange(address + "/normalized", travel) == [])
      #expect(client.ask(address) == OSCMessage("/reply", [.string(address), value]), "\(address) \(travel)")
    }
    #expect(client.ask("/node/g/gain/normalized") == .reply("/node/g/gain/normalized", 0.5))
    #expect(client.code("/node/vu/peakLeft/normalized", 0) == "notAllowed")
  }

  @Test("a ramp takes its time in seconds, and /reset and bypass are commands, not parameters")
  func ramp() throws {
    let bench = try CommandBench(isRunning: true)
    defer { bench.end() }
    let client = bench.udp()
    _ = client.bundle(
      OSCMessage("/graph/add", "gain", "g"), OSCMessage("/graph/connect", "input", "g"),
      OSCMessage("/graph/connect", "g", "output"))
    bench.render(frames: 4_800)
    #expect(client.exchange("/node/g/gain/ramp", -96, .double(0.1)) == [])
    let before = bench.output.count
    bench.render(frames: 4_800 + 64)
    let ramp = bench.output[before...]
    // 0.1 s is 4800 frames: still falling just before, silent just after.
    #expect(ramp.first == 1 && ramp[before + 4_700] > 0 && ramp.last == 0)
    #expect(zip(ramp, ramp.dropFirst()).allSatisfy { $0 >= $1 })
  }

  @Test("U-27: a pattern matches whole parts, never across a slash, and says how many it has matched")
  func patterns() throws {
    let bench = try CommandBench()
    defer { bench.end() }
    let client = bench.udp()
    for name in ["1", "12", "x1"] { _ = client.ask("/graph/add", "gain", .string(name)) }
    _ = client.ask("/graph/add", "noise", "2")
    #expect(
      client.exchange("/node/1*/gain") == [
        .reply("/node/1/gain", 0.0), .reply("/node/12/gain", 0.0), .reply("/node/1*/gain", 2),
      ])
    #expect(
      client.exchange("/node/?/gain") == [
        .reply("/node/1/gain", 0.0), .reply("/node/2/gain", -20.0), .reply("/node/?/gain", 2),
      ])
    #expect(client.ask("/node/{1,x1}/gain", -3) == .reply("/node/{1,x1}/gain", 2))
    #expect(bench.value("1", "gain") == -3 && bench.value("x1", "gain") == -3 && bench.value("12", "gain") == 0)
    #expect(client.ask("/node/[!1-9]*/gai?/normalized", 1) == .reply("/node/[!1-9]*/gai?/normalized", 1))
    #expect(bench.value("x1", "gain") == 24)
    #expect(client.ask("/node/*/gain/ramp", -9, 0) == .reply("/node/*/gain/ramp", 4))
    for none in ["/node/*", "/node/1/gainL*", "/node/*/*/gain", "/n*/1/gain", "/node/*/gain*/gain"] {
      #expect(client.code(none, -3) == "unknownAddress", "\(none)")
    }
  }

  @Test("a pattern set is refused whole where one of its matches does not take the value")
  func patternRefused() throws {
    let (bench, client) = try bench()
    defer { bench.end() }
    // A noise goes up to 0 dB only.
    #expect(client.code("/node/{g,n}/gain", 6) == "outOfRange")
    #expect(bench.value("g", "gain") == 0)
    #expect(client.ask("/node/{g,n}/gain", -6) == .reply("/node/{g,n}/gain", 2))
  }

  @Test("a mixer's inputs have parameters by number, whether connected or not, and patterns count those in use")
  func growing() throws {
    let (bench, client) = try bench()
    defer { bench.end() }
    _ = client.ask("/graph/add", "mixer", "mix", "input2Volume", 0.25)
    #expect(client.ask("/node/mix/input2Volume") == .reply("/node/mix/input2Volume", 0.25))
    #expect(client.ask("/node/mix/input5Pan") == .reply("/node/mix/input5Pan", 0.0))
    #expect(client.ask("/node/mix/input*Volume", 0.5) == .reply("/node/mix/input*Volume", 3))
    #expect(client.exchange("/node/mix/input5Pan", -1) == [])
    #expect(client.ask("/node/mix/input*Volume", 0.5) == .reply("/node/mix/input*Volume", 6))
    #expect(
      client.bundle(
        OSCMessage("/graph/add", "mixer", "m2"), OSCMessage("/graph/connect", "g", "m2"),
        OSCMessage("/graph/connect", "n", "m2"), OSCMessage("/node/m2/input*Volume", 0.5)
      ).last == .reply("/node/m2/input*Volume", 2))
    #expect(bench.value("m2", "input1Volume") == 0.5)
  }
}
