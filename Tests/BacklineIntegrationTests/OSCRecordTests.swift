import BacklineMedia
import BacklineOSC
import BacklinePresets
import BacklineTestSupport
import Foundation
import Testing

/// `/record/…` of a running rack, and what is left of a recording however the rack ends.
@Suite("OSC recording", .serialized)
struct OSCRecordTests {
  private static let isLong = ProcessInfo.processInfo.environment["BACKLINE_LONG_TESTS"] == "1"

  private func rack(_ words: [String] = []) throws -> RunningRack {
    let rack = try RunningRack(words)
    _ = rack.ask("/graph/add", .string("oscillator"), .string("tone"))
    _ = rack.ask("/graph/connect", .string("tone"), .string("output"))
    return rack
  }

  private func frames(_ rack: RunningRack) -> Int64 {
    guard let values = rack.values("/record/state"), case .int64(let frames) = values[2] else { return -1 }
    return frames
  }

  private func names(_ rack: RunningRack) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: rack.folder).filter { $0.contains("take") }.sorted()
  }

  @Test("a recording starts, tells how it does, and is there under its name once the stop has been answered")
  func startAndStop() throws {
    let rack = try rack()
    #expect(rack.values("/record/state")?.first == .string("idle"))
    #expect(rack.values("/subscribe", .string("/record/event")) != nil)
    let path = rack.path("take.wav")
    #expect(
      rack.values("/record/start", .string("take.wav"), .string("output"), .string("tone")) == [.string(path)])
    #expect(rack.refusal("/record/start", .string("other.wav"))?.code == "busy")
    rack.wait("frames come in") { frames(rack) > 4800 }
    #expect(rack.values("/record/marker", .string("here")) == [])
    let frame = frames(rack)
    rack.wait("it goes on") { frames(rack) > frame + 4800 }
    let state = try #require(rack.values("/record/state"))
    #expect(state[0] == .string("recording") && state[1] == .string(path))
    #expect(state[4] == .int64(0) && state[5] == .int32(0))
    let end = try #require(rack.values("/record/stop"))
    #expect(end[0] == .string("stopped") && end[2] == .int64(0) && end[3] == .string(path))
    #expect(try names(rack) == ["take.wav"])
    let reader = try SoundFileReader(path: path)
    #expect(.int64(reader.format.frameCount) == end[1] && reader.format.channelCount == 4)
    #expect(reader.metadata().markers.map(\.name) == ["here"])
    #expect(rack.integer("recordLostFrames") == 0)
    #expect(rack.refusal("/record/stop")?.code == "unavailable")
    #expect(rack.refusal("/record/marker", .string("late"))?.code == "unavailable")
  }

  @Test("subscribers hear of the beginning, of files and of the end")
  func events() throws {
    let rack = try rack()
    _ = rack.values("/subscribe", .string("/record/event"))
    _ = rack.values("/record/start", .string("take.wav"))
    rack.wait("frames come in") { frames(rack) > 480 }
    rack.send("/record/stop")
    var kinds: [OSCArgument] = []
    while kinds.last != .string("ended"), let message = rack.receive() {
      if message.address == "/record/event" { kinds += message.arguments.prefix(1) }
    }
    #expect(kinds.suffix(2) == [.string("file"), .string("ended")])
  }

  @Test("folders, labels and armed sources: one file each, and what sounded before the start where that was asked for")
  func foldersAndPreRoll() throws {
    let rack = try rack(["--pre-roll", "1"])
    #expect(rack.values("/record/arm", .string("tone"), .int32(1)) == [])
    #expect(rack.values("/record/label", .string("tone"), .string("Lead/1")) == [])
    rack.wait("a second and a half passes") { rack.integer("frame") > 90_000 }
    #expect(rack.values("/record/start", .string("takes/")) == [.string(rack.path("takes/"))])
    let end = try #require(rack.values("/record/stop"))
    #expect(end[3...] == [.string(rack.path("takes/output.wav")), .string(rack.path("takes/Lead-1.wav"))])
    guard case .int64(let frames) = end[1] else { throw CocoaError(.featureUnsupported) }
    #expect(frames >= 48_000, "a second from before the start is in it")
    for name in ["output", "Lead-1"] {
      #expect(try SoundFileReader(path: rack.path("takes/\(name).wav")).format.frameCount == frames)
    }
  }

  @Test("a source that is armed while a folder is recorded begins at its frame, and one file refuses it")
  func arming() throws {
    let rack = try rack()
    _ = rack.values("/subscribe", .string("/record/event"))
    #expect(rack.values("/record/start", .string("takes/"), .string("output")) == [.string(rack.path("takes/"))])
    rack.wait("frames come in") { frames(rack) > 4_800 }
    #expect(rack.values("/record/arm", .string("tone"), .int32(1)) == [])
    var begin: Int64?
    while begin == nil, let message = rack.receive() {
      guard message.address == "/record/event", message.arguments.first == .string("armed") else { continue }
      #expect(message.arguments[1] == .string("tone"))
      if case .int64(let frame) = message.arguments[2] { begin = frame }
    }
    let frame = try #require(begin)
    rack.wait("it goes on") { frames(rack) > frame + 4_800 }
    let end = try #require(rack.values("/record/stop"))
    #expect(end[3...] == [.string(rack.path("takes/output.wav")), .string(rack.path("takes/tone.wav"))])
    let readers = try ["output", "tone"].map { try SoundFileReader(path: rack.path("takes/\($0).wav")) }
    #expect(readers.allSatisfy { .int64($0.format.frameCount) == end[1] })
    // The output plays the tone alone: the same samples from that frame on, silence before.
    let count = Int(frame) + 4_800
    let samples = try readers.map { reader in
      try [Float](unsafeUninitializedCapacity: 2 * count) { buffer, length in
        var done = 0
        while done < count, let base = buffer.baseAddress {
          done += try reader.read(at: Int64(done), into: base + 2 * done, count: count - done)
        }
        length = 2 * done
      }
    }
    #expect(samples[1].prefix(2 * Int(frame)).allSatisfy { $0 == 0 })
    #expect(samples[1].dropFirst(2 * Int(frame)) == samples[0].dropFirst(2 * Int(frame)))
    #expect(rack.values("/record/start", .string("take.wav"), .string("output")) == [.string(rack.path("take.wav"))])
    #expect(rack.refusal("/record/arm", .string("tone"), .int32(1))?.code == "formatMismatch")
    _ = rack.values("/record/stop")
  }

  @Test("commands are kept beside a recording where that was asked for, as a list of events that a rendering reads")
  func controlEvents() throws {
    let rack = try rack(["--record-events"])
    _ = rack.values("/record/start", .string("take.wav"), .string("output"))
    rack.wait("frames come in") { frames(rack) > 4_800 }
    rack.send("/node/tone/frequency", .float(880))
    _ = rack.ask("/graph/add", .string("gain"), .string("boost"))
    _ = rack.ask("/node/boost/gain")
    #expect(rack.refusal("/graph/remove", .string("nobody")) != nil)
    let bundle = [OSCMessage("/node/boost/gain/ramp", .float(-6), .double(0.5)), OSCMessage("/mute", .int32(1))]
    rack.send(try OSCPacket.bundle(timeTag: OSCPacket.immediately, messages: bundle).encoded())
    _ = rack.ask("/graph/undo")
    let end = try #require(rack.values("/record/stop"))
    #expect(end.dropFirst(3) == [.string(rack.path("take.wav")), .string(rack.path("take.events.jsonl"))])
    let lines = try String(contentsOfFile: rack.path("take.events.jsonl"), encoding: .utf8).split(separator: "\n")
    let commands = try lines.map { line -> (frame: Int64, address: String) in
      let value = try JSONReader.read(Array(line.utf8))
      return (Int64(try #require(value["frame"]?.integer)), try #require(value["address"]?.string))
    }
    #expect(
      commands.map(\.address) == [
        "/node/tone/frequency", "/graph/add", "/node/boost/gain/ramp", "/mute", "/graph/undo",
      ])
    #expect(commands.allSatisfy { $0.frame > 4_800 } && commands.map(\.frame) == commands.map(\.frame).sorted())
    let preset = rack.path("tone.json")
    try #"""
    {"format": "backline.preset", "version": 1, "name": "tone", "nodes": [{"name": "tone", "kind": "oscillator"}],
     "connections": [{"from": "tone", "to": "output"}]}
    """#.write(toFile: preset, atomically: false, encoding: .utf8)
    let rendering = try ProcessRunner.run(
      BuiltProgram.backline(),
      [
        "render", rack.path("take.wav"), rack.path("again.wav"), "--preset", preset, "--events",
        rack.path("take.events.jsonl"),
      ])
    #expect(rendering.status == 0, "\(rendering.errors)")
  }

  @Test("what cannot be is refused with a code and a sentence, and leaves nothing")
  func refusals() throws {
    let rack = try rack()
    #expect(rack.refusal("/record/start")?.code == "wrongType")
    #expect(rack.refusal("/record/start", .string("../take.wav"))?.code == "notAllowed")
    #expect(rack.refusal("/record/start", .string("missing/take.wav"))?.code == "notFound")
    #expect(rack.refusal("/record/start", .string("take.mp3"))?.code == "formatMismatch")
    #expect(rack.refusal("/record/start", .string("take.wav"), .string("nobody"))?.code == "unknownNode")
    #expect(rack.refusal("/record/arm", .string("tone"), .int32(2)) != nil)
    #expect(rack.refusal("/record/begin")?.code == "unknownAddress")
    try "x".write(toFile: rack.path("take.wav"), atomically: false, encoding: .utf8)
    #expect(rack.refusal("/record/start", .string("take.wav"))?.code == "notAllowed")
    #expect(try names(rack) == ["take.wav"])
  }

  @Test("a signal ends the rack with the recording under its name", arguments: [SIGINT, SIGTERM])
  func signals(number: Int32) throws {
    let rack = try rack()
    _ = rack.values("/record/start", .string("take.wav"))
    rack.wait("frames come in") { frames(rack) > 4800 }
    rack.process.send(number)
    #expect(try rack.process.wait(10).status == 0)
    #expect(try names(rack) == ["take.wav"])
    #expect(try SoundFileReader(path: rack.path("take.wav")).format.frameCount > 4800)
  }

  @Test("a kill leaves nothing under the final names, and all but the last second comes back (U-71)")
  func kills() throws {
    var generator = SystemRandomNumberGenerator()
    for round in 0..<(Self.isLong ? 100 : 3) {
      let rack = try rack()
      let healthy = rack.path("healthy.wav")
      try "untouched".write(toFile: healthy, atomically: false, encoding: .utf8)
      for index in 1...6 {
        _ = rack.ask("/graph/add", .string("oscillator"), .string("tone\(index)"))
      }
      let tracks = ["output", "tone"] + (1...6).map { "tone\($0)" }
      let request = [OSCArgument.string("takes/")] + tracks.map { .string($0) }
      rack.send(try OSCMessage("/record/start", request).encoded())
      rack.wait("it records") { frames(rack) > 480 }
      usleep(UInt32.random(in: 0...(Self.isLong ? 2_500_000 : 1_200_000), using: &generator))
      let recorded = frames(rack)
      rack.process.send(SIGKILL)
      _ = try rack.process.wait(5)
      let left = try FileManager.default.contentsOfDirectory(atPath: rack.path("takes"))
      #expect(left.count == 8 && left.allSatisfy { $0.hasSuffix(".recording") }, "round \(round)")
      let program = try ProcessRunner(BuiltProgram.backline(), ["recover", rack.path("takes")])
      #expect(try program.wait(20).status == 0)
      let recovered = try FileManager.default.contentsOfDirectory(atPath: rack.path("takes")).sorted()
      #expect(recovered == tracks.map { $0 + ".wav" }.sorted())
      for name in recovered {
        let frames = try SoundFileReader(path: rack.path("takes/\(name)")).format.frameCount
        #expect(frames >= recorded - 48_000 && frames > 0, "round \(round): \(frames) of \(recorded)")
      }
      #expect(try String(contentsOfFile: healthy, encoding: .utf8) == "untouched")
    }
  }

  @Test("a rack says at its start which recordings were not finished")
  func listsUnfinished() throws {
    let first = try rack()
    _ = first.values("/record/start", .string("take.wav"))
    first.wait("it records") { frames(first) > 4800 }
    first.process.send(SIGKILL)
    _ = try first.process.wait(5)
    let second = try ProcessRunner(
      BuiltProgram.backline(), ["run", "--host", "timer", "--osc-port", "0", "--root", first.folder])
    _ = try second.readLine()
    second.send(SIGTERM)
    let ending = try second.wait(10)
    #expect(ending.errors.contains("take.wav.recording was not finished: 'backline recover' brings it back"))
  }
}
