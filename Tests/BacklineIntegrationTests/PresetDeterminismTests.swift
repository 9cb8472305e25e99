import BacklineDSP
import BacklineEngine
import BacklineMedia
import BacklineOffline
import BacklinePresets
import BacklineTestSupport
import Foundation
import Testing

/// R1 for what users have: the presets that come with the program, rendered in every way there is.
@Suite("Presets: every block size, offline and live")
struct PresetDeterminismTests {
  static let folder =
    URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .appendingPathComponent("presets").path

  static let names = PresetLibrary(folders: PresetFolders(search: [folder], user: nil), roots: nil).entries().map(
    \.name)

  /// Frames of the input: bursts of noise and silence, so that units fall asleep and wake.
  private static let frames = 9000

  private func graph(_ name: String) throws -> GraphDescription {
    try PresetFile.load("\(Self.folder)/\(name).json", catalog: .standard).graph(catalog: .standard)
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

  private func offline(_ graph: GraphDescription, _ input: [[Float]], blockFrames: Int) throws -> [[Float]] {
    let folder = RenderFolder()
    let interleaved = (0..<Self.frames).flatMap { frame in input.map { $0[frame] } }
    let source = try FileSource(path: folder.write("in.wav", interleaved, channels: input.count))
    let output = FileDestination(path: folder.file("out.w64"), container: .w64, sampleFormat: .float32)
    var job = OfflineJob(source: source, destination: output, graph: graph)
    job.blockFrames = blockFrames
    // As a live rack does it: the sound comes in over a ramp, and late by what its units need.
    job.fadesIn = true
    job.keepsLatency = true
    guard case .completed(let report) = OfflineRenderer(job).runAndWait() else {
      Issue.record("blocks of \(blockFrames) are not rendered")
      return []
    }
    #expect(report.frames == Int64(Self.frames))
    let samples = try folder.read(folder.file("out.w64"))
    let channels = report.channelCount
    return (0..<channels).map { channel in stride(from: channel, to: samples.count, by: channels).map { samples[$0] } }
  }

  private func live(_ graph: GraphDescription, _ input: [[Float]], outputs: Int) async throws -> [[Float]] {
    let engine = try Engine()
    let host = OfflineHost.manual()
    try await engine.perform([.load(graph)])
    await engine.start(host, name: "live")
    try await waitUntil { host.isStarted }
    var found = [[Float]](repeating: [], count: outputs)
    let periods = [64, 1, 500, 33, 1024, 128]
    var position = 0, turn = 0
    while position < Self.frames {
      let count = min(periods[turn % periods.count], Self.frames - position)
      turn += 1
      let part = host.cycle(
        input.map { Array($0[position..<position + count]) }, outputs: outputs, frames: count)
      for channel in 0..<outputs { found[channel] += part[channel] }
      position += count
    }
    return found
  }

  @Test("every preset gives the same bits in every block size, and live", arguments: names)
  func sameBits(name: String) async throws {
    let graph = try graph(name)
    let input = input(channels: graph.ports.inputs.reduce(0) { $0 + $1.count })
    let reference = try offline(graph, input, blockFrames: 4096)
    #expect(reference.contains { $0.contains { $0.magnitude > 0.001 } })
    for block in [1, 31, 64, 1000, 8192] {
      #expect(try offline(graph, input, blockFrames: block) == reference, "blocks of \(block)")
    }
    #expect(try await live(graph, input, outputs: reference.count) == reference, "live")
  }
}
