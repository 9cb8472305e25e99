import BacklineEngine
import BacklineTestSupport
import CBackline
import Testing

extension JACKRackTests {
  /// Decaying bursts of noise and tone with pauses between them.
  private static func material(frames: Int) -> [Float] {
    let noise = Signals.noise(frames: frames, amplitude: 0.6, seed: 7)
    let tone = Signals.sine(441, frames: frames, amplitude: 0.3)
    return (0..<frames).map { frame in
      let into = Float(frame % 19_200)
      return into > 14_400 ? 0 : (noise[frame] + tone[frame]) * max(0, 1 - into / 14_400)
    }
  }

  @Test(
    "a file played into a preset's input through JACK comes out as the same graph renders it in process",
    arguments: ["clean-channel", "podcast-voice", "vocal", "ambient"], [16, 64, 1024])
  func sameAsInProcess(preset: String, period: Int) async throws {
    let files = try JACKRackFiles()
    let input = try JACKRackFiles.samples(
      of: try files.wave("input.wav", Self.material(frames: period < 64 ? 24_000 : 96_000)))
    let graph = try JACKRackFiles.shipped(preset)
    var recorded: [[Float]] = []
    try await JACKServer.with(period: period) { _ in
      // A rack of its own for each attempt, so that nothing rings on from one to the next.
      let start = { try JACKRack([preset, "--connect", "none"]) }
      do {
        recorded = try await undisturbed(start: start, attempts: 2) { _ in
          try await play(input, through: graph, freely: false)
        }
      } catch is Disturbed {
        // This machine cannot keep such a period up for long enough: without the clock, then, every sample is still there,
        // however late cycles were before.
        let rack = try start()
        recorded = try await play(input, through: graph, freely: true)
        #expect(try rack.quit() == 0)
      }
    }
    // The recorder heard the source beside the rack, so it is known when the input began.
    let start = try #require(recorded.last?.firstIndex { $0 != 0 }) - (input.firstIndex { $0 != 0 } ?? 0)
    let length = min(input.count, (recorded.last?.count ?? 0) - start)
    let heard = recorded.dropLast().map { Array($0[start..<start + length]) }
    var differences: [Float] = []
    // The input began at the edge of a period, which is one of a quantum (32 frames) or, at 16 frames, the middle of one.
    for phase in stride(from: 0, to: 32, by: min(32, period)) {
      let expected = try await render(graph, input, silence: 4_800 + phase)
      differences.append(
        zip(heard, expected).map { zip($0, $1).reduce(0) { max($0, abs($1.0 - $1.1)) } }.max() ?? .infinity)
    }
    #expect(Signals.rms(heard[0]) > 0.01)
    #expect(try #require(differences.min()) <= 1e-6, "\(differences)")
  }

  /// What comes out of the rack's ports, and behind that the source beside it. `freely`, the server does not wait for the clock.
  private func play(_ input: [Float], through graph: GraphDescription, freely: Bool) async throws -> [[Float]] {
    let inputPorts = graph.ports.inputs.flatMap { $0 }, outputPorts = graph.ports.outputs.flatMap { $0 }
    let source = try JACKTestClient("source", outputs: inputPorts.count)
    let recorder = try JACKTestClient("recorder", inputs: outputPorts.count + 1)
    defer {
      if freely { recorder.setFreewheel(false) }
      source.close()
      recorder.close()
    }
    for index in inputPorts.indices { try source.connect("source:out_\(index + 1)", "rack:\(inputPorts[index])") }
    for (index, port) in (outputPorts.map { "rack:\($0)" } + ["source:out_1"]).enumerated() {
      try recorder.connect(port, "recorder:in_\(index + 1)")
    }
    if freely { recorder.setFreewheel(true) }
    let lead = 9_600
    let take = try recorder.startRecording(
      from: outputPorts.map { "rack:\($0)" } + ["source:out_1"], frames: lead + input.count + 4_800)
    try source.play(inputPorts.map { _ in input }, into: inputPorts.map { "rack:\($0)" }, after: take, frames: lead)
    return try await take.samples(within: 60)
  }

  /// What the graph makes of `input`, after some silence that is not returned.
  private func render(_ graph: GraphDescription, _ input: [Float], silence: Int) async throws -> [[Float]] {
    let harness = try await EngineHarness(ports: graph.ports)
    try await harness.perform([.load(graph)])
    let inputCount = graph.ports.inputs.flatMap { $0 }.count, outputCount = graph.ports.outputs.flatMap { $0 }.count
    // To the edge of a quantum, and past all fades.
    let lead = silence + (32 - harness.frame % 32) % 32
    _ = harness.render(
      [[Float]](repeating: [Float](repeating: 0, count: lead), count: inputCount), outputs: outputCount)
    await harness.settle()
    return harness.render([[Float]](repeating: input, count: inputCount), outputs: outputCount)
  }
}
