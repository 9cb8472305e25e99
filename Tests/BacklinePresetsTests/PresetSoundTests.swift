import BacklineDSP
import BacklineEngine
import BacklinePresets
import BacklineRealtime
import BacklineTestSupport
import Testing

@Suite("What the shipped presets sound like")
struct PresetSoundTests {
  #if DEBUG
    private let rate = 16_000
  #else
    private let rate = 48_000
  #endif

  private func graph(_ name: String) throws -> GraphDescription {
    try PresetFile.load("\(ShippedPresetsTests.folder)/\(name).json", catalog: .standard).graph(catalog: .standard)
  }

  /// Noise that swells and fades four times a second as speech does, with more below 1 kHz than above; -20 dBFS RMS.
  private func speech(seconds: Double) -> [Float] {
    var low: Float = 0
    let noise = Signals.noise(frames: Int(seconds * Double(rate)), seed: 12)
    let pole = Float(4000) / Float(rate)
    let shaped = noise.enumerated().map { frame, sample in
      low += pole * (sample - low)
      let phase = Float(frame % (rate / 4)) / Float(rate / 4)
      return (low + 0.2 * sample) * (phase < 0.5 ? phase : 1 - phase)
    }
    let scale = 0.1 / Signals.rms(shaped)
    return shaped.map { $0 * scale }
  }

  @Test("each is clean, neither clips nor gets too soft, and falls silent", arguments: ShippedPresetsTests.names)
  func levels(name: String) async throws {
    let harness = try await EngineHarness(sampleRate: rate)
    try await harness.perform([.load(try graph(name))])
    _ = harness.render(frames: 1024)
    await harness.settle()
    let output = harness.render(both: speech(seconds: 3), cuts: [256])
    for channel in output {
      #expect(Signals.isFinite(channel))
      #expect(Signals.peak(channel) < 1)
      let level = Decibels.level(Signals.rms(channel[rate...]))
      #expect((-22 ... -15).contains(level), "\(level) dBFS RMS")
    }
    #expect(await harness.engine.counts.nonFinite == 0)
    var silent = false
    for _ in 0..<60 where !silent { silent = Signals.peak(harness.render(frames: rate, cuts: [256])[0]) == 0 }
    #expect(silent)
  }

  @Test("they are about equally loud: within 2 LU")
  func loudness() async throws {
    var levels: [String: Float] = [:]
    for name in ShippedPresetsTests.names {
      let harness = try await EngineHarness(sampleRate: rate)
      try await harness.perform([.load(try graph(name))])
      _ = harness.render(both: speech(seconds: 4), cuts: [256])
      levels[name] = try await harness.engine.value("meter", try meterIndex("loudnessIntegrated"))
    }
    let loudest = levels.values.max() ?? 0, softest = levels.values.min() ?? 0
    #expect(loudest - softest < 2, "\(levels)")
    #expect((-20 ... -14).contains(loudest), "\(levels)")
  }

  private func meterIndex(_ parameter: String) throws -> Int {
    try #require(UnitCatalog.standard["meter"]?.parameterIndex(named: parameter))
  }

  @Test("going from any of them to any other while a sine plays makes no step (R4)")
  func switching() async throws {
    let harness = try await EngineHarness(sampleRate: rate)
    let names = ShippedPresetsTests.names
    let order = names.flatMap { from in names.flatMap { [from, $0] } }
    let length = rate / 5
    let signal = Signals.sine(100, frames: length, amplitude: 0.25, sampleRate: Double(rate))
    var output: [[Float]] = [[], []]
    for (round, name) in order.enumerated() {
      try await harness.perform([.load(try graph(name))])
      let part = harness.render(both: signal, cuts: [64])
      for channel in 0..<2 { output[channel] += part[channel] }
      if round % 3 == 0 { await harness.settle() }
    }
    // The loudest sine's own step, of what is heard at once, and the slopes of ramps over 10 ms.
    let slope = Float(2 * 3.1416 * 100) / Float(rate) + 2 / (0.01 * Float(rate))
    for channel in output {
      #expect(Signals.isFinite(channel))
      #expect(Signals.largestStep(channel) < Signals.peak(channel) * slope)
      #expect(Signals.peak(channel) < 1)
    }
  }
}
