import BacklineDSP
import BacklineTestSupport
import CBackline
import Testing

@Suite("Compressor")
struct CompressorTests {
  private func amplitude(_ decibels: Double) -> Float { Float(backline_pow(10, decibels / 20)) }
  private func level(_ amplitude: Float) -> Double { 20 * backline_log(Double(abs(amplitude))) / backline_log(10) }
  private func constant(_ decibels: Double, frames: Int) -> [[Float]] {
    [[Float]](repeating: [Float](repeating: amplitude(decibels), count: frames), count: 2)
  }

  /// The soft knee as in the paper: three branches in dB.
  private func curve(_ x: Double, threshold: Double, ratio: Double, knee: Double) -> Double {
    let over = x - threshold
    if 2 * over < -knee { return x }
    if 2 * over > knee || knee == 0 { return threshold + max(over / ratio, min(over, 0)) }
    return x + (1 / ratio - 1) * (over + knee / 2) * (over + knee / 2) / (2 * knee)
  }

  @Test(
    "a constant level ends on the static curve",
    arguments: [-70, -42, -30, -24, -20, -17, -10, 0, 12, 60] as [Double], [(4, 6), (1.5, 0), (100, 20), (1, 6)])
  func staticCurve(input: Double, shape: (ratio: Double, knee: Double)) {
    let unit = UnitHarness(
      Compressor.description,
      parameters: ["ratio": Float(shape.ratio), "kneeWidth": Float(shape.knee), "attackTime": 0.001])
    let output = unit.render([constant(input, frames: 2000), []])[0]
    let expected = curve(input, threshold: -20, ratio: shape.ratio, knee: shape.knee)
    #expect(abs(level(output[0][1999]) - expected) < 0.01)
    #expect(output[0] == output[1])
    #expect(abs(Double(unit.reading("gainReduction")) - (input - expected)) < 0.01)
  }

  @Test(
    "the reduction covers 63 % of the way in the attack and in the release time",
    arguments: [0.000_5, 0.01, 0.1], [44_100.0, 192_000])
  func times(time: Double, sampleRate: Double) {
    let constantFrames = Int(time * sampleRate * 12)
    let low = amplitude(-40), high = amplitude(-8)
    let signal =
      [Float](repeating: high, count: constantFrames)
      + [Float](repeating: low, count: constantFrames)
    let unit = UnitHarness(
      Compressor.description, sampleRate: sampleRate,
      parameters: [
        "ratio": 4, "kneeWidth": 0, "attackTime": Float(time), "releaseTime": Float(max(time, 0.005)),
      ])
    let output = unit.render([[signal, signal], []])[0][0]
    let full = 12.0 * 0.75
    let attack = (0..<constantFrames).first { -level(output[$0] / high) >= full * 0.632_12 } ?? 0
    #expect(abs(Double(attack + 1) - time * sampleRate) <= 0.02 * time * sampleRate + 1)
    let releaseTime = max(time, 0.005)
    let release = (0..<constantFrames).first { -level(output[constantFrames + $0] / low) <= full * 0.367_88 } ?? 0
    if time >= 0.005 { #expect(abs(Double(release + 1) - releaseTime * sampleRate) <= 0.02 * time * sampleRate + 1) }
  }

  @Test("below the knee the signal passes bit by bit")
  func transparent() {
    let signal = Signals.noise(frames: 1000, amplitude: 0.05)
    let unit = UnitHarness(Compressor.description)
    #expect(unit.render([[signal, signal], []]) == [[signal, signal]])
    #expect(unit.reading("gainReduction") == 0)
  }

  @Test("one loud channel turns both down alike")
  func stereoLink() {
    let loud = [Float](repeating: 1, count: 4000), soft = [Float](repeating: 0.001, count: 4000)
    let output = UnitHarness(Compressor.description).render([[soft, loud], []])[0]
    #expect(abs(output[0][3999] * 1000 - output[1][3999]) < 1e-6)
    #expect(output[1][3999] < 0.2)
  }

  @Test("a connected side chain decides, and the input alone is turned down")
  func sidechain() {
    let key = constant(0, frames: 4000), input = constant(-40, frames: 4000)
    let output = UnitHarness(Compressor.description).render([input, key])[0][0]
    #expect(abs(level(output[3999]) - (-40 - 15)) < 0.05)
    let quiet = UnitHarness(Compressor.description).render([key, input])[0][0]
    #expect(quiet[3999] == 1)
  }

  @Test("the make-up gain makes the result louder")
  func makeUp() {
    let unit = UnitHarness(Compressor.description, parameters: ["makeUpGain": 12])
    #expect(abs(level(unit.render([constant(-50, frames: 10), []])[0][0][9]) - -38) < 0.001)
  }

  @Test("after the tail of a loud signal the compressor is exactly as new", arguments: [1, 1e30] as [Float])
  func tail(amplitude: Float) {
    let loud = [Float](repeating: amplitude, count: 1024)
    let unit = UnitHarness(Compressor.description)
    _ = unit.render([[loud, loud], []])
    let tail = Int(unit.tail())
    #expect(tail > 0 && tail < 48_000 * 3)
    let silence = [Float](repeating: 0, count: tail)
    #expect(unit.render([[silence, silence], []])[0][0].allSatisfy { $0 == 0 })
    #expect(unit.reading("gainReduction") == 0)
    let signal = Signals.noise(frames: 1000)
    #expect(
      unit.render([[signal, signal], []]) == UnitHarness(Compressor.description).render([[signal, signal], []]))
  }

  @Test("parameters move without a step")
  func smooth() {
    let ones = [Float](repeating: 1, count: 48_000)
    let output = UnitHarness(Compressor.description, parameters: ["attackTime": 0.000_1, "releaseTime": 0.005]).render(
      [[ones, ones], []],
      events: [
        .init(6001, "threshold", -60), .init(12_001, "ratio", 100), .init(18_001, "kneeWidth", 40),
        .init(24_001, "makeUpGain", 36), .init(30_001, "attackTime", 1), .init(36_001, "ratio", 1),
      ])[0][0]
    #expect(Signals.largestStep(Array(output[6000...])) < 0.02 * Signals.peak(output))
  }

  @Test("the RMS detector goes by power: a sine 3 dB below its peak", arguments: [44_100.0, 48_000, 96_000])
  func rms(sampleRate: Double) {
    let tone = Signals.sine(1000, frames: Int(sampleRate), amplitude: 0.5, sampleRate: sampleRate)
    let output = UnitHarness(
      Compressor.description, sampleRate: sampleRate, parameters: ["detector": 1, "kneeWidth": 0, "ratio": 4]
    ).render([[tone, tone], []])[0][0]
    let found = level(
      Float(Signals.amplitude(of: 1000, in: Array(output[(output.count / 2)...]), sampleRate: sampleRate)))
    let expected = -6.02 - 0.75 * (20 - 9.03)
    print("measured: compressor's RMS curve off by \(Measured.text(abs(found - expected))) dB at \(Int(sampleRate)) Hz")
    #expect(abs(found - expected) < 0.1)
  }

  @Test("look-ahead delays the signal by its latency and turns down before the edge")
  func lookAhead() {
    let edge = [Float](repeating: 0.01, count: 2000) + [Float](repeating: 1, count: 2000)
    let parameters: [String: Float] = ["lookAhead": 0.01, "attackTime": 0.003]
    let values = Compressor.description.parameters.map { parameters[$0.name] ?? $0.defaultValue }
    #expect(Compressor.description.latency(48_000, values) == 480)
    let output = UnitHarness(Compressor.description, parameters: parameters).render([[edge, edge], []])[0][0]
    #expect(output[..<480].allSatisfy { $0 == 0 })
    let late = UnitHarness(Compressor.description, parameters: ["attackTime": 0.003]).render([[edge, edge], []])[0][0]
    #expect(level(output[2480]) < -14 && level(late[2000]) > -1)
  }

  @Test("the automatic make-up gain gives back half of what full scale loses")
  func automaticMakeUp() {
    let unit = UnitHarness(
      Compressor.description, parameters: ["automaticMakeUp": 1, "threshold": -24, "ratio": 3, "kneeWidth": 0])
    #expect(abs(level(unit.render([constant(-50, frames: 10), []])[0][0][9]) - (-50 + 8)) < 0.001)
  }

  @Test("in parallel, the input is mixed to what is compressed")
  func parallel() {
    let unit = UnitHarness(Compressor.description, parameters: ["wetDryMix": 40, "attackTime": 0.001])
    let output = unit.render([constant(0, frames: 4000), []])[0][0]
    #expect(abs(Double(output[3999]) - (0.6 + 0.4 * backline_pow(10, -15.0 / 20))) < 1e-4)
  }

  @Test("static curve and times at the usual rates", arguments: [44_100.0, 48_000, 96_000])
  func figures(sampleRate: Double) {
    var worstCurve = 0.0, worstAttack = 0.0, worstRelease = 0.0
    for (ratio, knee) in [(2.0, 0.0), (4, 12), (20, 6)] {
      for input in [-60.0, -30, -22, -20, -16, -6, 6] {
        let unit = UnitHarness(
          Compressor.description, sampleRate: sampleRate,
          parameters: ["ratio": Float(ratio), "kneeWidth": Float(knee), "attackTime": 0.001])
        let output = unit.render([constant(input, frames: 4000), []])[0][0]
        let expected = curve(input, threshold: -20, ratio: ratio, knee: knee)
        worstCurve = max(worstCurve, abs(level(output[3999]) - expected))
      }
    }
    for time in [0.005, 0.05] {
      let frames = Int(time * sampleRate * 12), full = 12 * 0.75
      let high = amplitude(-8), low = amplitude(-40)
      let signal = [Float](repeating: high, count: frames) + [Float](repeating: low, count: frames)
      let output = UnitHarness(
        Compressor.description, sampleRate: sampleRate,
        parameters: ["ratio": 4, "kneeWidth": 0, "attackTime": Float(time), "releaseTime": Float(time)]
      ).render([[signal, signal], []])[0][0]
      let attack = (0..<frames).first { -level(output[$0] / high) >= full * 0.632_12 } ?? 0
      let release = (0..<frames).first { -level(output[frames + $0] / low) <= full * 0.367_88 } ?? 0
      worstAttack = max(worstAttack, abs(Double(attack + 1) / sampleRate / time - 1))
      worstRelease = max(worstRelease, abs(Double(release + 1) / sampleRate / time - 1))
    }
    print(
      "measured: compressor's static curve off by at most \(Measured.text(worstCurve)) dB, attack by \(Measured.text(100 * worstAttack)) %, release by \(Measured.text(100 * worstRelease)) % at \(Int(sampleRate)) Hz"
    )
    #expect(worstCurve < 0.1 && worstAttack < 0.05 && worstRelease < 0.05)
  }
}
