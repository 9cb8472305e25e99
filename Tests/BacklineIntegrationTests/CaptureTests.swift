import BacklineDSP
import BacklineEngine
import BacklineMedia
import BacklineOSC
import BacklineOffline
import BacklinePresets
import BacklineTestSupport
import CBackline
import Foundation
import Testing

@testable import BacklineCommand

@Suite("Capture and replay")
struct CaptureTests {
  static let isLong = ProcessInfo.processInfo.environment["BACKLINE_LONG_TESTS"] == "1"

  /// A generator of numbers that a test can repeat (Steele, Lea and Flood 2014).
  private struct Numbers {
    var state: UInt64
    mutating func next(_ range: Range<Int>) -> Int {
      state &+= 0x9E37_79B9_7F4A_7C15
      var z = state
      z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
      z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
      return range.lowerBound + Int((z ^ (z >> 31)) % UInt64(range.count))
    }
  }

  private func edit(_ engine: Engine, _ numbers: inout Numbers, _ made: inout Int) async -> [Command] {
    let graph = await engine.graph
    let nodes = graph.nodes
    let kinds = ["gain", "pan", "equalizer", "mixer", "compressor", "delay", "reverb", "limiter"]
    func any<Element>(_ elements: [Element], _ numbers: inout Numbers) -> Element? {
      elements.isEmpty ? nil : elements[numbers.next(0..<elements.count)]
    }
    switch numbers.next(0..<14) {
    case 0..<5:
      guard let node = any(nodes, &numbers), let unit = UnitCatalog.standard[node.kind] else { return [] }
      let index = numbers.next(0..<unit.parameters.count)
      let parameter = unit.parameters[index]
      if parameter.isReadOnly { return [] }
      let value = parameter.denormalized(Float(numbers.next(0..<1000)) / 1000)
      return [.set(node: node.name, parameter: index, value: value, ramp: numbers.next(0..<3) == 0 ? 0.02 : nil)]
    case 5: return any(nodes, &numbers).map { [.bypass($0.name, numbers.next(0..<2) == 0)] } ?? []
    case 6, 7:
      guard nodes.count < 10, let place = any(graph.connections, &numbers) else { return [] }
      made += 1
      return [
        .insert(kind: kinds[numbers.next(0..<kinds.count)], name: "n\(made)", from: place.from, to: place.to)
      ]
    case 8: return nodes.count > 3 ? any(nodes, &numbers).map { [.remove($0.name)] } ?? [] : []
    case 9:
      guard let node = any(nodes, &numbers), let place = any(graph.connections, &numbers) else { return [] }
      return [.move(node.name, from: place.from, to: place.to)]
    case 10: return any(nodes, &numbers).map { [.replace($0.name, kind: kinds[numbers.next(0..<kinds.count)])] } ?? []
    case 11:
      guard let from = any(nodes, &numbers), let to = any(nodes, &numbers) else { return [] }
      return [.connect(Endpoint(from.name), Endpoint(to.name))]
    case 12:
      made += 1
      return [
        .add(kind: "gain", name: "n\(made)", values: [(0, -6)]), .connect(Endpoint("input"), Endpoint("n\(made)")),
        .connect(Endpoint("n\(made)"), Endpoint("output")),
      ]
    default:
      // Something always sounds.
      return [.disconnect(Endpoint("input"), Endpoint("output")), .connect(Endpoint("input"), Endpoint("output"))]
    }
  }

  @Test(
    "a performance of many edits under changing periods is rendered again to the bit",
    arguments: isLong ? Array(1...60) : [1, 2])
  func liveEqualsOffline(seed: UInt64) async throws {
    let folder = RenderFolder()
    let capture = try CaptureWriter(folder: folder.file("take"), channelCount: 2) { _ in }
    let engine = try Engine()
    let host = ClosableHost()
    try await engine.perform([
      .connect(Endpoint("input"), Endpoint("output")), .add(kind: "delay", name: "d", values: []),
    ])
    await engine.record(capture)
    await engine.start(capture.tapped(host), name: "live")
    try await waitUntil { host.host.isStarted }
    var numbers = Numbers(state: seed)
    var made = 0
    var live: [Float] = []
    let rounds = Self.isLong ? 1500 : 500
    for round in 0..<rounds {
      let count = [64, 1, 256, 37, 128, 1000, 0, 16][numbers.next(0..<8)]
      let frames = live.count / 2
      let inputs = (0..<2).map { channel in
        (0..<count).map { index -> Float in
          let time = Double(frames + index) / 48_000
          return frames / 24_000 % 3 == 2 ? 0 : Float(0.2 * sin(2 * .pi * (220 + 110 * Double(channel)) * time))
        }
      }
      let out = host.cycle(inputs, frames: count) ?? [[], []]
      for index in 0..<count { live += [out[0][index], out[1][index]] }
      for _ in 0..<numbers.next(0..<4) {
        let commands = await edit(engine, &numbers, &made)
        if commands.isEmpty { continue }
        let ahead = numbers.next(0..<6) == 0 ? await engine.currentFrame + Int64(numbers.next(1..<2000)) : nil
        try? await engine.perform(commands, at: ahead)
      }
      switch numbers.next(0..<20) {
      case 0: try? await engine.undo()
      case 1: try? await engine.redo()
      case 2: await engine.flush()
      case 3: try? await engine.perform(.mute(numbers.next(0..<3) == 0))
      // The control queue gets a turn of its own now and then, as it does live.
      case 4 where round % 3 == 0: try await Task.sleep(nanoseconds: 2_000_000)
      default: break
      }
    }
    await engine.stop()
    // The host goes on until it is closed, with periods of its own.
    while let out = host.cycle([[], []], frames: 100) {
      for index in 0..<100 { live += [out[0][index], out[1][index]] }
      usleep(1000)
    }
    try await waitUntil { await engine.state == .stopped }
    capture.finish()
    let taken = try CaptureFolder(folder.file("take"))
    #expect(taken.isExact)
    #expect(taken.frames == Int64(live.count / 2))
    #expect(taken.changes.count > rounds / 2)
    #expect(live.contains { $0 != 0 })
    try expectAgain(taken, live, folder, "seed \(seed)")
  }

  /// Renders a capture in several block sizes, and sees that it gives what was heard.
  private func expectAgain(_ taken: CaptureFolder, _ live: [Float], _ folder: RenderFolder, _ what: String) throws {
    for block in [4096, 61] {
      let output = FileDestination(
        path: folder.file("out.w64"), container: .w64, sampleFormat: .float32, replacing: true)
      var job = try CaptureReplay.job(taken, destination: output)
      job.blockFrames = block
      let result = OfflineRenderer(job).runAndWait()
      guard case .completed = result else {
        Issue.record("\(what): \(result)")
        return
      }
      let again = try folder.read(folder.file("out.w64"))
      #expect(again.count == live.count)
      let first = zip(again, live).enumerated().first { $1.0 != $1.1 }?.offset
      #expect(first == nil, "\(what): differs from frame \((first ?? 0) / 2) of \(live.count / 2) on")
    }
  }

  /// A performance with a player, driven cycle by cycle.
  private final class PlayerTake {
    let folder = RenderFolder()
    let engine: Engine
    let host = ClosableHost()
    let commands: ScriptedCommands
    let control: PlayerControl
    private let capture: CaptureWriter
    private let media: MediaService
    private(set) var live: [Float] = []

    /// `media` is filled by itself or not at all.
    init(_ media: MediaService) async throws {
      self.media = media
      engine = try Engine()
      capture = try CaptureWriter(folder: folder.file("take"), channelCount: 0) { _ in }
      try await engine.perform([
        .add(kind: "player", name: "p", values: []), .connect(Endpoint("p"), Endpoint("output")),
      ])
      commands = try ScriptedCommands(engine, media: media)
      await engine.record(capture)
      await engine.start(capture.tapped(host), name: "live")
      try await waitUntil { [host] in host.host.isStarted }
      control = try #require(
        try engine.wait { engine throws(EngineError) in try engine.node("p").control as? PlayerControl })
    }

    func tell(_ command: String, _ arguments: OSCArgument...) throws {
      try commands.perform([OSCMessage("/player/p/\(command)", arguments)], at: nil)
    }

    /// One cycle, for which the sound has been read. Where nothing more can be read, a lane is still fading out: cycles of a
    /// frame let it.
    func cycle(_ frames: Int) {
      for _ in 0..<200 where control.urgency <= 16_384 {
        for _ in 0..<20 where control.urgency <= 16_384 { usleep(1000) }
        if control.urgency <= 16_384 { cycleAtOnce(1) }
      }
      cycleAtOnce(frames)
    }

    func cycleAtOnce(_ frames: Int) {
      let out = host.cycle([[], []], frames: frames) ?? [[], []]
      for index in 0..<frames { live += [out[0][index], out[1][index]] }
    }

    /// Ends the performance and returns what has been taken down.
    func end() async throws -> CaptureFolder {
      await engine.stop()
      while let out = host.cycle([[], []], frames: 100) {
        for index in 0..<100 { live += [out[0][index], out[1][index]] }
        usleep(1000)
      }
      try await waitUntil { [engine] in await engine.state == .stopped }
      media.shutdown()
      capture.finish()
      return try CaptureFolder(folder.file("take"))
    }
  }

  @Test("what a player plays is rendered again to the bit, with the files and commands that it was given")
  func players() async throws {
    // A busy machine may be late with what is read, and such a capture says that it is not exact.
    for _ in 0..<8 where try await isExactlyAgain() { return }
    Issue.record("no take of eight was exact")
  }

  /// Plays a take; renders it again where it is exact, and says whether it is.
  private func isExactlyAgain() async throws -> Bool {
    let take = try await PlayerTake(try MediaService { _, _ in })
    var numbers = Numbers(state: 7)
    func noise(_ frames: Int, _ amplitude: Float) -> [Float] {
      (0..<2 * frames).map { _ in (Float(numbers.next(0..<65_536)) / 32_768 - 1) * amplitude }
    }
    let first = take.folder.write("first.wav", noise(150_000, 0.5))
    let second = take.folder.write("second.wav", noise(30_000, 0.3), rate: 44_100)
    take.cycle(333)
    try take.tell("load", .string(first))
    take.cycle(64)
    var isStopped = true
    for round in 0..<120 {
      for _ in 0..<numbers.next(1..<5) { take.cycle([64, 1, 777, 128, 2000][numbers.next(0..<5)]) }
      switch numbers.next(0..<9) {
      case 0, 1, 2:
        try take.tell("play")
        isStopped = false
      case 3: try take.tell("pause")
      case 4:
        try take.tell("stop")
        isStopped = true
      case 5: try take.tell("loop", .double(0.1), .double(Double(numbers.next(2..<6)) / 10))
      case 6: try take.tell("loop", .int32(0), .int32(0))
      case 7:
        let frame = await take.engine.currentFrame + Int64(numbers.next(0..<3000))
        try take.tell("play", .int64(frame))
        isStopped = false
      default:
        // A place that has not been read is waited for while it plays: for how long is the disk's affair.
        if isStopped { try take.tell("seek", .double(Double(numbers.next(0..<50)) / 100)) }
      }
      if round == 60 {
        try take.tell("stop")
        take.cycle(3000)
        try take.tell("load", .string(second))
        isStopped = true
      }
    }
    let taken = try await take.end()
    if !taken.isExact { return false }
    #expect(taken.changes.filter(\.isUnits).count > 60)
    #expect(take.live.contains { $0.magnitude > 0.2 })
    try expectAgain(taken, take.live, take.folder, "players")
    return true
  }

  @Test("a performance in which a latency is aligned is rendered again to the bit")
  func latency() async throws {
    let folder = RenderFolder()
    let capture = try CaptureWriter(folder: folder.file("take"), channelCount: 2) { _ in }
    let engine = try Engine()
    let host = ClosableHost()
    try await engine.perform([
      .add(kind: "compressor", name: "c", values: []), .add(kind: "mixer", name: "m", values: []),
      .connect(Endpoint("input"), Endpoint("c")), .connect(Endpoint("c"), Endpoint("m")),
      .connect(Endpoint("input"), Endpoint("m")), .connect(Endpoint("m"), Endpoint("output")),
    ])
    await engine.record(capture)
    await engine.start(capture.tapped(host), name: "live")
    try await waitUntil { host.host.isStarted }
    let lookAhead = try #require(UnitCatalog.standard["compressor"]?.parameterIndex(named: "lookAhead"))
    var live: [Float] = []
    func render(_ input: [Float]) -> Bool {
      guard let out = host.cycle([input, input], frames: input.count) else { return false }
      for index in input.indices { live += [out[0][index], out[1][index]] }
      return true
    }
    for round in 0..<60 {
      if round % 20 == 3 {
        let seconds = [0.004, 0.001, 0][round / 20]
        try await engine.perform(.set(node: "c", parameter: lookAhead, value: Float(seconds), ramp: nil))
        await engine.flush()
      }
      // Alignments settle when the control queue finds them settled.
      if round % 7 == 0 { await engine.tidyNow() }
      #expect(render((0..<64).map { 0.5 * sin(Float(64 * round + $0) / 9) }))
    }
    await engine.stop()
    while render([Float](repeating: 0, count: 100)) { usleep(1000) }
    try await waitUntil { await engine.state == .stopped }
    capture.finish()
    let taken = try CaptureFolder(folder.file("take"))
    #expect(taken.isExact)
    #expect(live.contains { $0 != 0 })
    try expectAgain(taken, live, folder, "latency")
  }

  @Test("a capture in which a player waited for its file says that it is not exact")
  func starvedPlayer() async throws {
    let take = try await PlayerTake(MediaService.synchronous { _, _ in })
    take.cycleAtOnce(64)
    try take.tell("load", .string(take.folder.write("tone.wav", [Float](repeating: 0.5, count: 20_000))))
    take.cycleAtOnce(64)
    try take.tell("play")
    take.cycleAtOnce(1000)
    let taken = try await take.end()
    #expect(!taken.isExact)
    #expect(taken.changes.filter(\.isUnits).count == 2)
  }

  @Test("a rack takes its performance down, and the program renders it again")
  func program() throws {
    let folder = RenderFolder()
    let take = folder.file("take")
    let runner = try ProcessRunner(
      try BuiltProgram.backline(),
      ["run", "clean-channel", "--host", "timer", "--osc-port", "0", "--json", "--capture", take])
    let ready = try RenderAnswer(try #require(try runner.readLine()))
    let port = String(try #require(ready["osc"]?.integer))
    let nodes = try ProcessRunner.run(
      try BuiltProgram.backline(), ["osc", "--port", port, "/graph/add", "oscillator", "o"])
    #expect(nodes.status == 0)
    for _ in 0..<3 {
      _ = try ProcessRunner.run(try BuiltProgram.backline(), ["osc", "--port", port, "/sync", "1"])
    }
    runner.send(SIGINT)
    #expect(try runner.wait(20).status == 0)
    let ending = try folder.render("--replay", take, folder.file("out.wav"), "--json")
    #expect(ending.status == 0, "\(ending.output)")
    #expect(try RenderAnswer(ending.output)["frames"]?.integer == Int(try CaptureFolder(take).frames))
    // A folder that holds a capture already is not written over.
    let again = try ProcessRunner.run(
      try BuiltProgram.backline(), ["run", "--host", "timer", "--osc-port", "0", "--capture", take])
    #expect(again.status == 73)
    #expect(try folder.render("--replay", folder.path, folder.file("x.wav")).status == 66)
    #expect(try folder.render("--replay", take, "--tail", "1", folder.file("x.wav")).status == 64)
  }
}
