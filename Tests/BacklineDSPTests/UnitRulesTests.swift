import BacklineDSP
import BacklineTestSupport
import Testing

@Suite("Delay, reverb, oscillator, noise and meter keep the rules of a unit")
struct UnitRulesTests {
  static let kinds = ["delay", "reverb", "oscillator", "noise", "meter"]

  @Test("the same bits come out however the signal is cut, with sets at odd frames", arguments: kinds)
  func cuts(kind: String) throws {
    let description = try #require(UnitCatalog.standard[kind])
    let frames = 9000
    let input = UnitChecks.noise(for: description, frames: frames)
    let events = UnitChecks.events(for: description, frames: 5000)
    let whole = UnitHarness(description).render(input, frames: frames, cuts: [frames], events: events)
    for cuts in UnitChecks.cuts {
      let cut = UnitHarness(description).render(input, frames: frames, cuts: cuts, events: events)
      #expect(cut == whole, "cuts \(cuts)")
    }
  }

  @Test("after a reset a unit sounds as if it were new", arguments: kinds)
  func reset(kind: String) throws {
    let description = try #require(UnitCatalog.standard[kind])
    let input = UnitChecks.noise(for: description, frames: 5000)
    let harness = UnitHarness(description)
    _ = harness.render(input, frames: 4567, cuts: [100])
    harness.reset()
    let again = harness.render(input, frames: 5000, cuts: [64])
    #expect(again == UnitHarness(description).render(input, frames: 5000, cuts: [64]))
  }

  @Test("a reset ends every ramp at its target", arguments: kinds)
  func resetSettles(kind: String) throws {
    let description = try #require(UnitCatalog.standard[kind])
    let input = UnitChecks.noise(for: description, frames: 3000)
    let events = UnitChecks.events(for: description, frames: 900)
    let harness = UnitHarness(description)
    _ = harness.render(input, frames: 1000, events: events)
    harness.reset()
    let last = Dictionary(
      events.sorted { $0.frame < $1.frame }.map { ($0.parameter, $0.value) }, uniquingKeysWith: { $1 })
    // From the same frame on, since what wavers does so by absolute frames.
    let fresh = UnitHarness(description, parameters: last, startFrame: 1000)
    #expect(harness.render(input, frames: 3000) == fresh.render(input, frames: 3000))
  }

  @Test("silence in a new unit is silence out, to the bit", arguments: ["delay", "reverb", "meter"])
  func silence(kind: String) throws {
    let description = try #require(UnitCatalog.standard[kind])
    let harness = UnitHarness(description)
    let silence = UnitChecks.silence(for: description, frames: 4000)
    #expect(harness.render(silence)[0].allSatisfy { $0.allSatisfy { $0 == 0 } })
    _ = harness.render(UnitChecks.noise(for: description, frames: 4000))
    harness.reset()
    #expect(harness.render(silence)[0].allSatisfy { $0.allSatisfy { $0 == 0 } })
  }

  @Test("all extremes of the parameters stay finite and bounded", arguments: kinds)
  func extremes(kind: String) throws {
    let description = try #require(UnitCatalog.standard[kind])
    let input = UnitChecks.noise(for: description, frames: 2500, amplitude: 1)
    for parameters in UnitChecks.extremes(of: description) {
      let output = UnitHarness(description, parameters: parameters).render(input, frames: 2500)
      for channel in output[0] { #expect(channel.allSatisfy { $0.isFinite && abs($0) < 100 }, "\(parameters)") }
    }
  }

  @Test("a fault of 1e30 stays finite and has gone when the tail is over", arguments: ["delay", "reverb", "meter"])
  func fault(kind: String) throws {
    let description = try #require(UnitCatalog.standard[kind])
    let short: [String: [String: Float]] = [
      "delay": ["delayTime": 0.01, "feedback": 60], "reverb": ["decayTime": 0.2],
    ]
    let harness = UnitHarness(description, sampleRate: 8000, parameters: short[kind] ?? [:])
    let fault = [Float](repeating: 1e30, count: 50) + [Float](repeating: -1e30, count: 50)
    let output = harness.render([[fault, fault]])
    #expect(output[0].allSatisfy { $0.allSatisfy(\.isFinite) })
    let tail = Int(UnitChecks.tail(harness))
    let after = harness.render(UnitChecks.silence(for: description, frames: tail + 500), cuts: [512])
    for channel in after[0] {
      #expect(channel.allSatisfy { $0.isFinite })
      #expect(Signals.peak(channel.suffix(500)) < 1e-7)
    }
  }

  @Test("denormal input does no harm", arguments: ["delay", "reverb", "meter"])
  func denormals(kind: String) throws {
    let description = try #require(UnitCatalog.standard[kind])
    let denormal = Float.leastNonzeroMagnitude * 700
    let tiny = [Float](repeating: denormal, count: 2000)
    let output = UnitHarness(description).render([[tiny, tiny]])
    for channel in output[0] { #expect(channel.allSatisfy { abs($0) <= denormal }) }
  }

  @Test("every usual sample rate works", arguments: kinds, [8000, 44_100, 48_000, 96_000, 192_000, 768_000])
  func rates(kind: String, rate: Int) throws {
    let description = try #require(UnitCatalog.standard[kind])
    let harness = UnitHarness(description, sampleRate: Double(rate))
    let output = harness.render(
      UnitChecks.noise(for: description, frames: 1500), frames: 1500,
      events: UnitChecks.events(for: description, frames: 1000))
    for channel in output[0] { #expect(channel.allSatisfy { $0.isFinite && abs($0) < 100 }) }
  }

  @Test("a sudden set of every parameter is taken at once, out of range or not", arguments: kinds)
  func nonsense(kind: String) throws {
    let description = try #require(UnitCatalog.standard[kind])
    let harness = UnitHarness(description)
    let input = UnitChecks.noise(for: description, frames: 300)
    for (index, _) in description.parameters.enumerated() {
      for value: Float in [-1e9, 1e9, 0] {
        harness.instance.functions.set(harness.instance.state, Int32(index), value, 0)
        _ = harness.render(input, frames: 300)
      }
    }
    harness.instance.functions.set(harness.instance.state, 99, 1, 0)
    #expect(UnitChecks.tail(harness) >= 0)
  }
}
