import BacklineDSP
import BacklineTestSupport
import Testing

@Suite("Units bear whatever comes")
struct UnitRobustnessTests {
  static let kinds = UnitCatalog.standard.descriptions.map(\.kind)
  /// Those whose sound comes from what goes in.
  static let processors = UnitCatalog.standard.descriptions.filter { !$0.inputs.isEmpty }.map(\.kind)

  private func noise(_ description: UnitDescription, _ frames: Int) -> [[[Float]]] {
    UnitChecks.noise(for: description, frames: frames)
  }

  @Test("every sample rate gives finite sound", arguments: kinds, [8000, 11_025, 768_000])
  func rates(kind: String, rate: Int) throws {
    let description = try #require(UnitCatalog.standard[kind])
    let output = UnitHarness(description, sampleRate: Double(rate)).render(
      noise(description, 1500), frames: 1500, events: UnitChecks.events(for: description, frames: 1000))
    #expect(output.allSatisfy { $0.allSatisfy { Signals.isFinite($0) } })
  }

  @Test("values far out of range are held to something that works", arguments: kinds)
  func nonsense(kind: String) throws {
    let description = try #require(UnitCatalog.standard[kind])
    let unit = UnitHarness(description)
    let input = noise(description, 200)
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
        _ = unit.render(noise(description, 500), frames: 500)
        let tail = Int(unit.tail())
        // What goes on for longer than 20 s has been told to.
        if tail > 160_000 { continue }
        let rest = unit.render(UnitChecks.silence(for: description, frames: tail + 64), cuts: [512])
        for channel in rest.flatMap({ $0 }) {
          #expect(Signals.isFinite(channel) && Signals.peak(channel.suffix(64)) < 1e-6, "\(parameter.name) \(value)")
        }
      }
    }
  }

  @Test(
    "an idle unit is silent below -140 dBFS, before and after it has sounded", arguments: [44_100.0, 48_000, 96_000])
  func noiseFloor(rate: Double) throws {
    var worst: Float = 0
    for kind in Self.processors {
      let description = try #require(UnitCatalog.standard[kind])
      let unit = UnitHarness(description, sampleRate: rate)
      let silence = UnitChecks.silence(for: description, frames: 2048)
      worst = max(worst, Signals.peak(unit.render(silence, cuts: [512]).flatMap { $0.flatMap { $0 } }))
      _ = unit.render(noise(description, 2000), frames: 2000, cuts: [512])
      let tail = Int(unit.tail())
      if Double(tail) > rate { continue }
      let rest = unit.render(UnitChecks.silence(for: description, frames: tail + 1024), cuts: [512])
      worst = max(worst, Signals.peak(rest.flatMap { $0.flatMap { $0.suffix(1024) } }))
    }
    let level = worst == 0 ? "none at all" : "\(Measured.text(Measured.decibels(Double(worst)), 1)) dBFS"
    print("measured: noise floor of idle units \(level) at \(Int(rate)) Hz")
    #expect(worst < 1e-7)
  }
}
