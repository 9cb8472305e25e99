import BacklineOSC
import BacklineTestSupport
import Foundation
import Testing

@Suite("Presets over OSC", .serialized)
struct OSCPresetTests {
  private func preset(_ kind: String) -> String {
    """
    { "format": "backline.preset", "version": 1, "name": "x",
      "ports": { "inputs": ["in_1", "in_2"], "outputs": ["out_1", "out_2"] },
      "nodes": [ { "name": "only", "kind": "\(kind)" } ],
      "connections": [ { "from": "input", "to": "only" }, { "from": "only", "to": "output" } ] }
    """
  }

  private func rack() throws -> RunningRack {
    try RunningRack(presets: [
      "1-gain": preset("gain"), "2-delay": preset("delay"), "3-bad": "{", "4-pan": preset("pan"),
    ])
  }

  @Test("presets load by name and path, are listed, and step forth and back past one that is bad")
  func stepping() throws {
    let rack = try rack()
    let all = ["1-gain", "2-delay", "3-bad", "4-pan"].map { OSCArgument.string($0) }
    #expect((rack.values("/preset/list") ?? []).filter { all.contains($0) } == all)
    #expect(rack.values("/preset/load", .string("1-gain")) == [.string("1-gain")])
    #expect(rack.values("/graph/list") == [.string("only"), .string("gain")])
    #expect(rack.status("preset") == .string("1-gain"))
    #expect(rack.values("/preset/load", .string("presets/4-pan.json")) == [.string("presets/4-pan.json")])
    #expect(rack.values("/graph/list") == [.string("only"), .string("pan")])
    _ = rack.values("/preset/load", .string("1-gain"))
    #expect(rack.values("/preset/next") == [.string("2-delay")])
    let refusal = rack.refusal("/preset/next")
    #expect(refusal?.code == "invalidPreset" && refusal?.sentence.contains("3-bad") == true)
    #expect(rack.values("/graph/list") == [.string("only"), .string("delay")])
    #expect(rack.status("preset") == .string("2-delay"))
    #expect(rack.values("/preset/next") == [.string("4-pan")])
    #expect(rack.refusal("/preset/previous")?.code == "invalidPreset")
    #expect(rack.values("/preset/previous") == [.string("2-delay")])
    // Two presses of a foot switch before the first has been answered are two steps.
    rack.send("/preset/previous")
    rack.send("/preset/next")
    let answers = [rack.receive(), rack.receive()].map { $0?.arguments.last }
    #expect(answers == [.string("1-gain"), .string("2-delay")])
  }

  @Test("loads can be undone and made again")
  func undo() throws {
    let rack = try rack()
    for name in ["1-gain", "2-delay"] { _ = rack.values("/preset/load", .string(name)) }
    #expect(rack.values("/graph/undo") == [])
    #expect(rack.values("/graph/list") == [.string("only"), .string("gain")])
    #expect(rack.values("/graph/undo") == [])
    #expect(rack.values("/graph/list") == [])
    for _ in 0..<2 { #expect(rack.values("/graph/redo") == []) }
    #expect(rack.values("/graph/list") == [.string("only"), .string("delay")])
  }

  @Test("a preset outside the root, missing or bad is refused and leaves the running one")
  func refused() throws {
    let rack = try rack()
    _ = rack.values("/preset/load", .string("1-gain"))
    symlink("/etc/hostname", rack.path("link.json"))
    for (place, code) in [
      ("nothing", "notFound"), ("presets/nothing.json", "notFound"), ("/etc/passwd", "notAllowed"),
      ("../../etc/passwd", "notAllowed"), ("link.json", "notAllowed"), ("3-bad", "invalidPreset"),
      ("presets", "notFound"), ("", "notFound"), ("presets/", "ioError"),
    ] {
      let refusal = rack.refusal("/preset/load", .string(place))
      #expect(refusal?.code == code, "\(place): \(String(describing: refusal))")
      #expect(rack.values("/graph/list") == [.string("only"), .string("gain")])
    }
    for arguments in [[], [.int32(1)], [.string("a"), .string("b")]] as [[OSCArgument]] {
      rack.send(try OSCMessage("/preset/load", arguments).encoded())
      #expect(rack.receive()?.arguments[1] == .string("wrongType"))
    }
    #expect(rack.refusal("/preset/lod")?.code == "unknownAddress")
  }

  @Test("what is saved by name is listed, loads again with its values, and is never half there")
  func saving() throws {
    let rack = try rack()
    _ = rack.values("/preset/load", .string("1-gain"))
    rack.send("/node/only/gain", .float(-7.5))
    let name = "Mein Ton é"
    #expect(rack.values("/preset/save", .string(name))?.first == .string(name))
    #expect(rack.status("preset") == .string(name))
    #expect(rack.values("/preset/list")?.contains(.string(name)) == true)
    _ = rack.values("/preset/load", .string("2-delay"))
    #expect(rack.values("/preset/load", .string(name)) == [.string(name)])
    #expect(rack.values("/node/only/gain") == [.float(-7.5)])
    #expect(rack.refusal("/preset/save", .string("1-gain"))?.code == "nameTaken")
    #expect(rack.refusal("/preset/save", .string(""))?.code == "invalidName")
    let saved = try FileManager.default.contentsOfDirectory(atPath: rack.path("config/backline/presets"))
    #expect(saved.count == 1)
    // A name is no path: whatever becomes of its dots and slashes stays in the folder.
    _ = rack.ask("/preset/save", .string("../up"))
    #expect(!FileManager.default.fileExists(atPath: rack.path("config/backline/up.json")))
  }
}
