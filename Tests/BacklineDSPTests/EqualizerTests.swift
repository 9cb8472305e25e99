import BacklineDSP
import BacklineTestSupport
import CBackline
import Testing

@Suite("Equalizer")
struct EqualizerTests {
  private func render(
    _ signal: [Float], _ parameters: [String: Float] = [:], events: [UnitHarness.Event] = []
  ) -> [Float] {
    UnitHarness(Equalizer.description, parameters: parameters).render([[signal, signal]], events: events)[0][0]
  }

  @Test("without a band the signal passes bit by bit")
  func transparent() {
    let signal = Signals.noise(frames: 1000)
    #expect(render(signal) == signal)
  }

  @Test("bands side by side give the bits of bands one after the other", arguments: 1...16)
  func lanes(count: Int) {
    var parameters: [String: Float] = [:]
    for band in 1...count {
      parameters["band\(band)Enabled"] = 1
      parameters["band\(band)Gain"] = Float(band % 5) * 3 - 6
    }
    let left = Signals.noise(frames: 700, seed: 3), right = Signals.noise(frames: 700, seed: 4)
    // Pieces this short are too short for lanes.
    let expected = UnitHarness(Equalizer.description, parameters: parameters).render([[left, right]], cuts: [7])
    for cuts in [[9], [10], [11], [64], [700], [13, 257]] {
      #expect(
        UnitHarness(Equalizer.description, parameters: parameters).render([[left, right]], cuts: cuts) == expected)
    }
  }

  @Test("one band alone gives the same bits however it is cut, and the sound of two of which one does nothing")
  func alone() {
    let left = Signals.noise(frames: 900, seed: 5), right = Signals.noise(frames: 900, seed: 6)
    for type in stride(from: Float(0), through: 10, by: 1) {
      let parameters: [String: Float] = [
        "band1Enabled": 1, "band1Type": type, "band1Gain": 9, "band1Frequency": 90, "band1Q": 4,
      ]
      // A change in the middle of a pair of frames, after which a pair begins anew.
      let events = [UnitHarness.Event(301, "band1Gain", -9, ramp: 0), .init(555, "band1Frequency", 4_000, ramp: 37)]
      func render(_ parameters: [String: Float], cuts: [Int]) -> [[Float]] {
        UnitHarness(Equalizer.description, parameters: parameters).render([[left, right]], cuts: cuts, events: events)[
          0]
      }
      let whole = render(parameters, cuts: [900])
      for cuts in [[1], [2], [3], [7], [64], [5, 1, 8, 33]] { #expect(render(parameters, cuts: cuts) == whole) }
      let two = render(parameters.merging(["band2Enabled": 1, "band2Gain": 0]) { $1 }, cuts: [900])
      #expect(zip(whole.joined(), two.joined()).allSatisfy { abs($0 - $1) <= 1e-6 * max(1, abs($1)) })
    }
  }

  @Test("a band that was switched off passes the signal bit by bit once its fade is over")
  func switchedOff() {
    let signal = Signals.noise(frames: 2000)
    let output = render(
      signal, ["band5Enabled": 1, "band5Gain": 12], events: [.init(1003, "band5Enabled", 0, ramp: 100)])
    #expect(Array(output[1103...]) == Array(signal[1103...]))
    #expect(output[1050] != signal[1050])
  }

  @Test("after a ramp in silence the filter is exactly that of a unit made so")
  func settledAfterRamp() {
    let settings: [String: Float] = ["band2Type": 3, "band2Frequency": 700, "band2Q": 3, "band2Gain": 5]
    let silence = [Float](repeating: 0, count: 3000)
    let impulse = Signals.impulse(frames: 2000)
    let expected = render(impulse, settings.merging(["band2Enabled": 1]) { $1 })
    for ramp in [0, 1, 50, 480] as [Int32] {
      var events = settings.keys.sorted().map { UnitHarness.Event(77, $0, settings[$0] ?? 0, ramp: ramp) }
      events.append(.init(33, "band2Enabled", 1, ramp: ramp))
      let output = render(silence + impulse, events: events)
      #expect(Array(output[3000...]) == expected, "ramp of \(ramp)")
    }
  }

  @Test("a set without a ramp acts at its frame")
  func immediate() {
    let silence = [Float](repeating: 0, count: 45)
    let impulse = Signals.impulse(frames: 500)
    let output = render(
      silence + impulse, ["band1Enabled": 1],
      events: [.init(45, "band1Gain", 20, ramp: 0), .init(45, "band1Frequency", 3000, ramp: 0)])
    #expect(
      Array(output[45...]) == render(impulse, ["band1Enabled": 1, "band1Gain": 20, "band1Frequency": 3000]))
  }

  @Test("the last of many switches wins, also in the middle of fades")
  func manySwitches() {
    let signal = Signals.noise(frames: 4000)
    var events = (0..<9).map { UnitHarness.Event(100 + $0 * 50, "band1Enabled", Float($0 % 2), ramp: 480) }
    events.append(.init(541, "band1Gain", 20))
    let output = render(signal, ["band1Enabled": 1, "band1Gain": 12], events: events)
    #expect(Array(output[2500...]) == Array(signal[2500...]))
    events.append(.init(2600, "band1Enabled", 1))
    events.append(.init(2601, "band1Type", 2))
    let impulse = Signals.impulse(frames: 500)
    let again = render(signal.prefix(3000) + [Float](repeating: 0, count: 30_000) + impulse, events: events)
    let fresh = render(impulse, ["band1Enabled": 1, "band1Gain": 20, "band1Type": 2])
    for (x, y) in zip(again[33_000...], fresh) { #expect(abs(x - y) < 1e-6) }
  }

  @Test("no change clicks", arguments: 0..<11)
  func smooth(type: Int) {
    // A sine of 200 Hz moves by at most 0.0131 a frame; what a change adds must stay of that order.
    let signal = Signals.sine(200, frames: 24_000, amplitude: 0.5)
    let output = render(
      signal, ["band1Type": Float(type), "band1Frequency": 200, "band1Q": 1, "band1Gain": -12],
      events: [
        .init(2001, "band1Enabled", 1), .init(4001, "band1Type", 1), .init(6001, "band1Type", Float(type)),
        .init(8001, "band1Frequency", 5000), .init(12_001, "band1Frequency", 30), .init(16_001, "band1Gain", 6),
        .init(18_001, "band1Q", 0.3), .init(20_001, "band1Enabled", 0),
      ])
    #expect(Signals.largestStep(output) < 0.04)
  }

  @Test("after the tail nothing above -140 dB is left", arguments: 0..<11)
  func tail(type: Int) {
    for (frequency, q) in [(60, 8), (1000, 0.5), (15_000, 30)] as [(Float, Float)] {
      let unit = UnitHarness(
        Equalizer.description,
        parameters: [
          "band4Type": Float(type), "band4Frequency": frequency, "band4Q": q, "band4Gain": 20, "band4Enabled": 1,
        ])
      let noise = Signals.noise(frames: 4096)
      _ = unit.render([[noise, noise]])
      let tail = Int(unit.tail())
      #expect(tail < 192_000)
      let rest = unit.render([[[], []]], frames: tail + 256)[0][0]
      #expect(Signals.peak(rest[tail...]) < 1e-7)
    }
  }

  @Test("all bands find back from 1e30 within the tail")
  func recovery() {
    var enabled: [String: Float] = [:]
    for band in 1...16 {
      enabled["band\(band)Enabled"] = 1
      enabled["band\(band)Gain"] = 6
    }
    let unit = UnitHarness(Equalizer.description, parameters: enabled)
    let burst = [Float](repeating: 1e30, count: 64)
    _ = unit.render([[burst, burst]])
    let tail = (Int(unit.tail()) + 31) / 32 * 32
    let rest = unit.render([[[], []]], frames: tail)[0][0]
    #expect(rest.allSatisfy { $0.isFinite })
    #expect(abs(rest[tail - 1]) < 1e-6)
  }
}
