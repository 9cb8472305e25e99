import BacklineDSP
import BacklineEngine
import BacklineMedia
import BacklineOffline
import BacklinePresets
import BacklineTestSupport
import Foundation
import Testing

@testable import BacklineCommand

/// A graph that has to give the same bits however it is rendered: two of a unit side by side, or a preset.
struct RenderedSubject: Sendable, CustomTestStringConvertible {
  let name: String
  let isPreset: Bool
  /// Which of the block sizes are tried with it.
  let turn: Int

  var testDescription: String { name }

  private static let folder =
    URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .appendingPathComponent("presets").path

  /// Every unit but the player, whose sound is a disk's affair and tried with captures of its own, and every preset.
  static let all: [RenderedSubject] = {
    let units = UnitCatalog.standard.descriptions.map(\.kind).filter { $0 != Player.description.kind }
    let presets = PresetLibrary(folders: PresetFolders(search: [folder], user: nil), roots: nil).entries().map(\.name)
    return (units.map { ($0, false) } + presets.map { ($0, true) }).enumerated().map {
      RenderedSubject(name: $1.0, isPreset: $1.1, turn: $0)
    }
  }()

  func graph() throws -> GraphDescription {
    if isPreset {
      return try PresetFile.load("\(Self.folder)/\(name).json", catalog: .standard).graph(catalog: .standard)
    }
    let unit = try #require(UnitCatalog.standard[name]), mixer = try #require(UnitCatalog.standard["mixer"])
    // The second has its parameters somewhere else.
    let values = unit.parameters.map(\.defaultValue)
    let others = unit.parameters.enumerated().map {
      $1.isReadOnly ? $1.defaultValue : $1.denormalized(Float(($0 * 37 + 11) % 100) / 100)
    }
    var connections: [ConnectionSpecification] = []
    func connect(_ from: String, _ out: Int, _ to: String, _ bus: Int) {
      connections.append(ConnectionSpecification(from: Endpoint(from, bus: out), to: Endpoint(to, bus: bus)))
    }
    for (index, node) in ["a", "b"].enumerated() {
      // Ports of a send's or return's own lead nowhere here.
      for bus in unit.inputs.indices where unit.outsideBus != .input(bus) { connect("input", 0, node, bus) }
      let outputs = unit.outputs.indices.filter { unit.outsideBus != .output($0) }
      if !outputs.isEmpty { connect(node, outputs[index % outputs.count], "sum", index) }
    }
    if unit.outputs.isEmpty { connect("input", 0, "sum", 0) }
    connect("sum", 0, "output", 0)
    return GraphDescription(
      ports: .stereo,
      nodes: [
        NodeSpecification(name: "a", kind: name, values: values),
        NodeSpecification(name: "b", kind: name, values: others),
        NodeSpecification(name: "sum", kind: "mixer", values: mixer.parameters.map(\.defaultValue)),
      ], connections: connections)
  }
}

/// R1 for what users have. A sample of the block sizes and numbers of threads; all of them with BACKLINE_LONG_TESTS=1.
@Suite("Every unit and preset: the same bits in every block size, by any number of threads, offline and live")
struct SameBitsTests {
  private static let isLong = ProcessInfo.processInfo.environment["BACKLINE_LONG_TESTS"] == "1"
  private static let blocks = [
    1, 8192, 2, 3, 7, 31, 32, 33, 64, 65, 100, 127, 128, 255, 256, 257, 480, 512, 999, 1024, 2048, 3001, 4096, 8191,
  ]
  private static let threads = [1, 2, 4]
  /// Frames of the input: bursts of noise and silence, so that units fall asleep and wake.
  private static let frames = 9000

  private static func ways(_ turn: Int) -> [(block: Int, threads: Int)] {
    if isLong { return blocks.flatMap { block in threads.map { (block, $0) } } }
    return [
      (blocks[turn * 2 % blocks.count], threads[turn % 3]),
      (blocks[(turn * 2 + 1) % blocks.count], threads[(turn + 1) % 3]),
    ]
  }

  private func input(channels: Int) -> [[Float]] {
    (0..<channels).map { channel in
      var state = UInt32(77 + channel)
      return (0..<Self.frames).map { frame in
        state = state &* 1_664_525 &+ 1_013_904_223
        return frame / 1500 % 2 == 0 ? (Float(state >> 8) / 8_388_608 - 1) * 0.4 : 0
      }
    }
  }

  /// Renders to a file, which is read back.
  private func rendered(
    _ folder: RenderFolder, _ way: (block: Int, threads: Int),
    _ job: (FileDestination) throws -> OfflineJob
  ) throws -> [Float] {
    let path = folder.file("out.w64")
    var job = try job(FileDestination(path: path, container: .w64, sampleFormat: .float32, replacing: true))
    job.blockFrames = way.block
    job.threads = .always(way.threads)
    guard case .completed = OfflineRenderer(job).runAndWait() else {
      Issue.record("blocks of \(way.block) are not rendered")
      return []
    }
    return try folder.read(path)
  }

  /// Plays the graph live in periods of all sorts, sets parameters in the middle, and takes it down. Returns the capture, what
  /// was heard, and the samples of it before the first set.
  private func live(
    _ graph: GraphDescription, _ input: [[Float]], _ folder: RenderFolder, threads: Int
  ) async throws -> (taken: CaptureFolder, sound: [Float], before: Int) {
    let outputs = graph.ports.outputs.reduce(0) { $0 + $1.count }
    let capture = try CaptureWriter(folder: folder.file("take"), channelCount: input.count) { _ in }
    let engine = try Engine()
    await engine.setThreads(.always(threads))
    let host = ClosableHost()
    try await engine.perform([.load(graph)])
    await engine.record(capture)
    await engine.start(capture.tapped(host), name: "live")
    try await waitUntil { host.host.isStarted }
    var sound: [Float] = []
    func hear(_ out: [[Float]]) {
      for frame in out[0].indices { for channel in out { sound.append(channel[frame]) } }
    }
    let periods = [64, 1, 500, 33, 1024, 128]
    var position = 0, turn = 0, before = 0
    while position < Self.frames {
      if position >= Self.frames / 2 && before == 0 {
        before = sound.count
        for node in graph.nodes {
          let unit = try #require(UnitCatalog.standard[node.kind])
          let sets = unit.parameters.enumerated().filter { !$1.isReadOnly && $0 % 3 == 0 }.map {
            Command.set(node: node.name, parameter: $0, value: $1.denormalized(0.4), ramp: $0 % 2 == 0 ? 0.02 : nil)
          }
          try await engine.perform(sets)
        }
        await engine.flush()
      }
      let count = min(periods[turn % periods.count], Self.frames - position)
      turn += 1
      let part = input.map { Array($0[position..<position + count]) }
      hear(try #require(host.cycle(part, outputs: outputs, frames: count)))
      position += count
    }
    await engine.stop()
    // The host goes on until it is closed, with periods of its own.
    while let out = host.cycle(input.map { _ in [] }, outputs: outputs, frames: 100) {
      hear(out)
      usleep(1000)
    }
    try await waitUntil { await engine.state == .stopped }
    capture.finish()
    return (try CaptureFolder(folder.file("take")), sound, before)
  }

  @Test("block sizes, threads and live change no bit", arguments: RenderedSubject.all)
  func sameBits(subject: RenderedSubject) async throws {
    let graph = try subject.graph()
    let input = input(channels: graph.ports.inputs.reduce(0) { $0 + $1.count })
    let folder = RenderFolder()
    let path = folder.write(
      "in.wav", (0..<Self.frames).flatMap { frame in input.map { $0[frame] } }, channels: input.count)
    func offline(_ way: (block: Int, threads: Int)) throws -> [Float] {
      try rendered(folder, way) { destination in
        var job = OfflineJob(source: try FileSource(path: path), destination: destination, graph: graph)
        // As a live rack does it: the sound comes in over a ramp, and late by what its units need.
        job.fadesIn = true
        job.keepsLatency = true
        return job
      }
    }
    let reference = try offline((4096, 1))
    if subject.isPreset { #expect(reference.contains { $0.magnitude > 0.001 }) }
    let ways = Self.ways(subject.turn)
    for way in ways {
      #expect(try offline(way) == reference, "offline, blocks of \(way.block), \(way.threads) threads")
    }
    let (taken, sound, before) = try await live(graph, input, folder, threads: Self.threads[subject.turn % 3])
    #expect(before > 0 && Array(sound[..<before]) == Array(reference[..<before]), "live")
    #expect(taken.isExact)
    for way in ways {
      let again = try rendered(folder, way) { try CaptureReplay.job(taken, destination: $0) }
      #expect(again == sound, "a capture, blocks of \(way.block), \(way.threads) threads")
    }
  }
}
