import BacklineDSP
import BacklineTestSupport
import Testing

@Suite("Units bear whatever comes")
struct UnitRobustnessTests {
  static let kinds = UnitCatalog.standard.descriptions.map(\.kind)
  /// Those whose sound comes from what goes in.
  static let processors = UnitCatalog.standard.descriptions.filter { !$0.inputs.isEmpty }.map(\.kind)

  @Test("every sample rate gives finite sound", arguments: kinds, [8000, 11_025, 768_000])
  func rates(kind: String, rate: Int) throws {
    let description = try #require(UnitCatalog.standard[kind])
    let output = UnitHarness(description, sampleRate: Double(rate)).render(
      description.noise(frames: 4000), frames: 4000,
      events: UnitContract(description, sampleRate: Double(rate)).events(seed: 7))
    #expect(output.allSatisfy { $0.allSatisfy { Signals.isFinite($0) } })
  }

  @Test("values far out of range are held to something that works", arguments: kinds)
  func nonsense(kind: String) throws {
    let description = try #require(UnitCatalog.standard[kind])
    let unit = UnitHarness(description)
    let input = description.noise(frames: 200)
    for index in description.parameters.indices {
      for value: Float in [-1e30, 1e30, -1e9, 1e9, 0] {
        unit.instance.functions.set(unit.instance.state, Int32(index), value, 0)
        unit.instance.functions.set(unit.instance.state, Int32(index), value, 100)
        let output = unit.render(input, frames: 200)
        #expect(
          output.allSatisfy { $0.allSatisfy { Signals.isFinite($0) } }, "\(description.parameters[index].name) \(value)"
        )
        #expect(unit.tail() >= 0)
      }
      let sane = description.parameters[index].defaultValue
      unit.instance.functions.set(unit.instance.state, Int32(index), sane, 0)
      unit.reset()
    }
    unit.instance.functions.set(unit.instance.state, 999, 1, 0)
    unit.instance.functions.set(unit.instance.state, -1, 1, 0)
  }

  @Test(
    "at every parameter's extremes, sound is finite and what was loud is gone after the tail", arguments: processors)
  func extremes(kind: String) throws {
    let description = try #require(UnitCatalog.standard[kind])
    for parameter in description.parameters where !parameter.isReadOnly {
      for value in [parameter.range.lowerBound, parameter.range.upperBound] {
        let unit = UnitHarness(description, sampleRate: 8000, parameters: [parameter.name: value])
        _ = unit.render(description.noise(frames: 500), frames: 500)
        let tail = Int(unit.tail())
        // What goes on for longer than 20 s has been told to.
        if tail > 160_000 { continue }
        let rest = unit.render(description.silence(frames: tail + 64), cuts: [512])
        for channel in rest.flatMap({ $0 }) {
          #expect(Signals.isFinite(channel) && Signals.peak(channel.suffix(64)) < 1e-6, "\(parameter.name) \(value)")
        }
      }
    }
  }

  @Test(
    "at the usual rates, too, a parameter's extremes are finite and over after the tail",
    arguments: [44_100.0, 48_000, 96_000].enumerated().map { ($0, $1) })
  func recovery(turn: Int, rate: Double) throws {
    var worst: Float = 0, count = 0, parameters = 0
    for kind in Self.processors {
      let description = try #require(UnitCatalog.standard[kind])
      for parameter in description.parameters where !parameter.isReadOnly {
        // A third of them at each rate: the test above has them all.
        parameters += 1
        if parameters % 3 != turn { continue }
        for value in [parameter.range.lowerBound, parameter.range.upperBound] {
          let unit = UnitHarness(description, sampleRate: rate, parameters: [parameter.name: value])
          let sound = unit.render(description.noise(frames: 1000), frames: 1000)
          let tail = Int(unit.tail())
          if Double(tail) > 3 * rate { continue }
          let rest = unit.render(description.silence(frames: tail + 64), cuts: [512])
          #expect((sound + rest).allSatisfy { $0.allSatisfy { Signals.isFinite($0) } }, "\(kind) \(parameter.name)")
          worst = max(worst, Signals.peak(rest.flatMap { $0.flatMap { $0.suffix(64) } }))
          count += 1
        }
      }
    }
    let level = worst == 0 ? "nothing" : "\(Measured.text(Measured.decibels(Double(worst)), 1)) dBFS"
    print(
      "measured: after \(count) extremes of parameters, all finite, \(level) is left of the tail at \(Int(rate)) Hz")
    #expect(worst < 1e-6 && count > 100)
  }

  @Test(
    "an idle unit is silent below -140 dBFS, before and after it has sounded", arguments: [44_100.0, 48_000, 96_000])
  func noiseFloor(rate: Double) throws {
    var worst: Float = 0
    for kind in Self.processors {
      let description = try #require(UnitCatalog.standard[kind])
      let unit = UnitHarness(description, sampleRate: rate)
      let silence = description.silence(frames: 2048)
      worst = max(worst, Signals.peak(unit.render(silence, cuts: [512]).flatMap { $0.flatMap { $0 } }))
      _ = unit.render(description.noise(frames: 2000), frames: 2000, cuts: [512])
      let tail = Int(unit.tail())
      if Double(tail) > rate { continue }
      let rest = unit.render(description.silence(frames: tail + 1024), cuts: [512])
      worst = max(worst, Signals.peak(rest.flatMap { $0.flatMap { $0.suffix(1024) } }))
    }
    let level = worst == 0 ? "none at all" : "\(Measured.text(Measured.decibels(Double(worst)), 1)) dBFS"
    print("measured: noise floor of idle units \(level) at \(Int(rate)) Hz")
    #expect(worst < 1e-7)
  }
}
