import BacklineDSP
import BacklineEngine
import BacklinePresets
import BacklineRealtime
import BacklineTestSupport
import Foundation
import Testing

@Suite("What the shipped presets sound like")
struct PresetSoundTests {
  private let rate = 48_000
  /// What every preset makes of the reference programme, in LUFS.
  private let target = -17.0

  private func graph(_ name: String) throws -> GraphDescription {
    try PresetFile.load("\(ShippedPresetsTests.folder)/\(name).json", catalog: .standard).graph(catalog: .standard)
  }

  private func playing(_ graph: GraphDescription) async throws -> EngineHarness {
    let harness = try await EngineHarness(ports: graph.ports, sampleRate: rate)
    try await harness.perform([.load(graph)])
    _ = harness.render(frames: 1024)
    await harness.settle()
    return harness
  }

  private func reading(_ parameter: String, _ harness: EngineHarness) async throws -> Double {
    let index = try #require(UnitCatalog.standard["meter"]?.parameterIndex(named: parameter))
    return Double(try await harness.engine.value("meter", index))
  }

  /// A part for each input, the same on both sides of a stereo input.
  private func programme(_ graph: GraphDescription, seconds: Double = 4) -> [[Float]] {
    graph.ports.inputs.enumerated().flatMap { bus, channels in
      [[Float]](
        repeating: ReferenceProgramme.part(bus, seconds: seconds, sampleRate: Double(rate)), count: channels.count)
    }
  }

  @Test(
    "each plays the reference programme at -17 LUFS, within half a unit, neither clips nor breaks, and falls silent",
    arguments: ShippedPresetsTests.names)
  func levels(name: String) async throws {
    let graph = try graph(name)
    let harness = try await playing(graph)
    let output = harness.render(programme(graph), cuts: [256])
    for channel in output {
      #expect(Signals.isFinite(channel))
      #expect(Signals.peak(channel) < 1)
      #expect(Decibels.level(Signals.rms(channel[rate...])) > -26)
    }
    let loudness = try await reading("loudnessIntegrated", harness)
    let peak = max(try await reading("truePeakLeft", harness), try await reading("truePeakRight", harness))
    print("measured: preset \(name) \(Measured.text(loudness, 2)) LUFS, true peak \(Measured.text(peak, 1)) dBTP")
    #expect(abs(loudness - target) < 0.5, "\(loudness) LUFS")
    #expect(await harness.engine.counts.nonFinite == 0)
    var silent = false
    for _ in 0..<60 where !silent {
      silent = harness.render(frames: rate, cuts: [1024]).allSatisfy { Signals.peak($0) == 0 }
    }
    #expect(silent)
  }

  /// The largest steps of consecutive windows of 10 ms.
  private func steps(_ samples: [Float]) -> [Float] {
    let length = rate / 100
    return stride(from: 0, to: samples.count - length, by: length).map {
      Signals.largestStep(Array(samples[$0...$0 + length]))
    }
  }

  /// A low tone, which begins and ends softly.
  private func tone(_ frames: Int, fading: Bool = true) -> [Float] {
    let fade = Float(rate) / 10
    return Signals.sine(110, frames: frames, amplitude: 0.2, sampleRate: Double(rate)).enumerated().map {
      frame, sample in
      fading ? sample * min(1, Float(frame) / fade, Float(frames - frame) / fade) : sample
    }
  }

  @Test("a soft tone comes through each without a click or an offset", arguments: ShippedPresetsTests.names)
  func noClick(name: String) async throws {
    let graph = try graph(name)
    let harness = try await playing(graph)
    let signal = tone(2 * rate)
    let inputs = [[Float]](repeating: signal, count: graph.ports.inputs.reduce(0) { $0 + $1.count })
    var offset = 0.0
    for channel in harness.render(inputs, cuts: [256]) {
      let steps = steps(channel), usual = steps.sorted()[steps.count * 9 / 10]
      let worst = steps.max() ?? 0
      #expect(worst < 2 * usual + 1e-4, "\(worst) beside \(usual)")
      // A second in the middle: 110 periods.
      let mean = channel[rate / 2..<rate * 3 / 2].reduce(0.0) { $0 + Double($1) } / Double(rate)
      offset = max(offset, abs(mean))
    }
    print("measured: preset \(name)'s offset under a tone \(Measured.text(Measured.decibels(offset), 0)) dBFS")
    #expect(offset < 0.001)
  }

  /// The largest step that a preset makes of the tone by itself.
  private func ownStep(_ graph: GraphDescription, _ signal: [Float]) async throws -> Float {
    let harness = try await playing(graph)
    let inputs = [[Float]](repeating: signal, count: 5)
    return harness.render(inputs, cuts: [256]).map { Signals.largestStep($0) }.max() ?? 0
  }

  @Test("going on from any of them to another while a tone plays makes no step that neither makes by itself (R4)")
  func switching() async throws {
    let names = ShippedPresetsTests.names
    // Far apart in the list, so that neighbours by name are not always neighbours here; all pairs where there is time.
    let isLong = ProcessInfo.processInfo.environment["BACKLINE_LONG_TESTS"] != nil
    let strides = isLong ? Array(1..<names.count) : [7]
    let graphs = try names.map { try graph($0) }
    let second = tone(rate, fading: false)
    var own: [Float] = []
    for graph in graphs { own.append(try await ownStep(graph, second)) }
    let harness = try await EngineHarness(sampleRate: rate)
    let part = rate / 5, inputs = [[Float]](repeating: Array(second[..<part]), count: 5)
    var before = 0, worst = 0.0
    for stride in strides {
      for round in 0..<names.count {
        let index = (before + (round == 0 ? 0 : stride)) % names.count
        try await harness.perform([.load(graphs[index])])
        let output = harness.render(inputs, cuts: [64])
        for channel in output {
          #expect(Signals.isFinite(channel))
          #expect(Signals.peak(channel) < 1)
          // Both are heard at once for 10 ms, what rings out of those before them a little longer.
          let allowed = 1.5 * (own[before] + own[index]) + 1 / (0.01 * Float(rate))
          let step = Signals.largestStep(channel)
          worst = max(worst, Double(step / allowed))
          #expect(
            step < allowed, "\(names[before]) to \(names[index]): \(step) beside \(own[before]) and \(own[index])")
        }
        if round % 3 == 0 { await harness.settle() }
        before = index
      }
    }
    print("measured: presets in turn make at most \(Measured.text(worst, 2)) of the step that is allowed")
  }

  @Test(
    "what echoes and rooms of one hold goes on when another takes its place (R5)",
    arguments: ["ambient", "dub-delay", "shimmer", "tape-echo", "vocal"])
  func spillOver(name: String) async throws {
    let graph = try graph(name)
    let harness = try await playing(graph)
    let programme = programme(graph, seconds: 2)
    _ = harness.render(programme, cuts: [256])
    try await harness.perform([.load(try self.graph("clean-channel"))])
    let after = harness.render(frames: rate, cuts: [256])[0]
    #expect(Signals.peak(after[(rate / 10)...]) > 0.003)
    var dryAfter: [Float] = []
    let dry = try await playing(try self.graph("clean-channel"))
    _ = dry.render(programme, cuts: [256])
    dryAfter = dry.render(frames: rate, cuts: [256])[0]
    #expect(Signals.peak(dryAfter[(rate / 10)...]) < 0.001)
  }

  @Test("each says first what to turn, and what it names is there", arguments: ShippedPresetsTests.names)
  func controls(name: String) throws {
    let preset = try PresetFile.load("\(ShippedPresetsTests.folder)/\(name).json", catalog: .standard)
    let named = preset.description.split(separator: "`", omittingEmptySubsequences: false).enumerated()
      .filter { $0.offset % 2 == 1 }.map { String($0.element) }.filter { $0.contains(".") }
    #expect(named.count >= 2)
    #expect(preset.description.hasPrefix("Turn `") || preset.description.hasPrefix("Switch `"))
    for control in named {
      let parts = control.split(separator: ".").map(String.init)
      let node = try #require(preset.nodes.first { $0.name == parts[0] }, "\(control)")
      #expect(UnitCatalog.standard[node.kind]?.parameter(named: parts[1]) != nil, "\(control)")
    }
  }
}
